"""Statistics of runs that generalize or do not: exact shares, and evidence that may grow with each run."""
