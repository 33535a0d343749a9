"""FoX: the bias of a key is the sum of the log forget gates on the path from the key to the query.

Source: Lin et al., Forgetting Transformer, arXiv 2503.02130; as a group action: GRAPE, arXiv 2512.07805.  Both papers
write the query at i and the key at j; here j is the query and i the key.
"""

import sympy as sp

from theory.encodings import lift

LOG_GATES = sp.IndexedBase("log_f")
_STEP = sp.Symbol("l", integer=True)


def path_bias(*, key: sp.Expr, query: sp.Expr) -> sp.Sum:
    """D_ij = sum of log f_l over i < l <= j, as an unevaluated sum in `LOG_GATES`.  [P]"""
    return sp.Sum(LOG_GATES[_STEP], (_STEP, key + 1, query))


def path_gate(*, key: sp.Expr, query: sp.Expr) -> sp.Product:
    """F_ij = product of f_l = exp(log f_l) over i < l <= j, as an unevaluated product.  [P]"""
    return sp.Product(sp.exp(LOG_GATES[_STEP]), (_STEP, key + 1, query))


def link(*, log_gate: sp.Expr) -> sp.Matrix:
    """I - psi E, the unipotent factor of one step of the path, psi = log f.  [P, GRAPE; its Appendix C prints +]"""
    return lift.unipotent(lift.nilpotent(), -log_gate)
