"""Verdicts on predictions: seeds that derive from what was frozen, and evidence that stays valid as runs are added."""
