"""Consequences for chain of thought: SRC as a function of scale and arity, its selection, coverage, machines."""
