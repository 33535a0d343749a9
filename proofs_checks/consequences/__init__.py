"""Claims that we add: our own consequences, bounds, worked cases and comparisons; modules are named as in `papers`."""
