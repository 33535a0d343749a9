"""Modular addition from text (arXiv 2601.04283): a classifier of expressions at other positions than in training."""
