"""Test of the conjecture: outcomes of runs compared with predictions, and the statistics for a verdict."""
