"""Questions beside SRC: minimum circuits, scratchpads, errors, compositions, right outputs, and all scales at once."""
