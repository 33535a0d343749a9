"""Test of predictions: outcomes of runs compared with predictions, and the statistics for a verdict."""
