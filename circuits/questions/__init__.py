"""Questions beside SRC: minimum circuits, scratchpads, errors, compositions, right outputs, two scales, all scales."""
