"""Verdicts on predictions: seeds that derive from frozen predictions, and evidence that may grow with each run."""
