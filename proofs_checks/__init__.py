"""Claims of the papers, each with a check that can refute it and falsifiers that the check must reject."""
