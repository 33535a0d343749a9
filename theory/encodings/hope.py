"""HoPE: every plane of the head is boosted by a rapidity proportional to the position, and damped.

Source: HoPE (hyperbolic rotary encoding), arXiv 2509.05218.  The paper writes the query at m and the key at n; here the
query is at j and the key at i, i <= j.  `rate` is the plane's theta, `damping` the shared theta'; the paper asks for
damping > rate.
"""

from collections.abc import Sequence

import sympy as sp


def boost(rapidity: sp.Expr) -> sp.Matrix:
    """B(t) = [[cosh t, sinh t], [sinh t, cosh t]] = exp(t X), X = [[0, 1], [1, 0]].  2 x 2, symmetric.  [P]"""
    return sp.Matrix([[sp.cosh(rapidity), sp.sinh(rapidity)], [sp.sinh(rapidity), sp.cosh(rapidity)]])


def query_action(position: sp.Expr, *, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    """e^(-j theta') B(j theta).  [P]"""
    return sp.exp(-position * damping) * boost(position * rate)


def key_action(position: sp.Expr, *, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    """e^(+i theta') B(-i theta).  [P]"""
    return sp.exp(position * damping) * boost(-position * rate)


def kernel(offset: sp.Expr, *, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    """H(D) = e^(-D theta') B(D theta), so that the score is q^T H(j - i) k.  [F]"""
    return sp.exp(-offset * damping) * boost(offset * rate)


def score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, offset: sp.Expr, rate: sp.Expr, damping: sp.Expr
) -> sp.Expr:
    """e^(-D theta') (S cosh D theta + A sinh D theta), S = q1 k1 + q2 k2, A = q1 k2 + q2 k1.  [P]"""
    (q1, q2), (k1, k2) = query, key
    straight, crossed = q1 * k1 + q2 * k2, q1 * k2 + q2 * k1
    return sp.exp(-offset * damping) * (straight * sp.cosh(offset * rate) + crossed * sp.sinh(offset * rate))


def light_cone_score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, offset: sp.Expr, rate: sp.Expr, damping: sp.Expr
) -> sp.Expr:
    """1/2 (P e^(-D (theta' - theta)) + N e^(-D (theta' + theta))): two damped channels.  [F]

    P = (q1 + q2)(k1 + k2) and N = (q1 - q2)(k1 - k2).
    """
    (q1, q2), (k1, k2) = query, key
    slow = (q1 + q2) * (k1 + k2) * sp.exp(-offset * (damping - rate))
    fast = (q1 - q2) * (k1 - k2) * sp.exp(-offset * (damping + rate))
    return (slow + fast) / 2


def decay_factors(*, rate: sp.Expr, damping: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The eigenvalues of the step H(1): e^(-theta' + theta) and e^(-theta' - theta).  [F]"""
    return sp.exp(rate - damping), sp.exp(-rate - damping)
