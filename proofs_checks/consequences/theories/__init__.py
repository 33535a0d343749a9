"""Consequences for theories of length generalization: C-RASP with positions, rivals that disagree, counts."""
