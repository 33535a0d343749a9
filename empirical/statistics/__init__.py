"""Statistics of runs that generalize or do not: shares, evidence that may grow with each run, breaking scales."""
