"""Verdicts on predictions: answers that are frozen first, seeds that derive from them, and judgement of the runs."""
