"""Functions that turn real numbers into gates and edge potentials."""

import sympy as sp


def log_sigmoid(logit: sp.Expr) -> sp.Expr:
    """Log sigmoid log sigma(z) = -log(1 + e^-z)."""
    return -sp.log(1 + sp.exp(-logit))


def softplus(logit: sp.Expr) -> sp.Expr:
    """Softplus log(1 + e^z) = -log sigma(-z)."""
    return -log_sigmoid(-logit)
