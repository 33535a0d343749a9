"""One module a figure, drawn from stored runs and from the other packages; one style for all of them."""
