"""Functions that make gates and edge potentials of real numbers."""

import sympy as sp


def log_sigmoid(logit: sp.Expr) -> sp.Expr:
    """log sigma(z) = -log(1 + e^-z)."""
    return -sp.log(1 + sp.exp(-logit))


def softplus(logit: sp.Expr) -> sp.Expr:
    """log(1 + e^z) = -log sigma(-z)."""
    return -log_sigmoid(-logit)
