"""Numbers with logarithms, compared by enclosures; expressions with logarithms, compared as they are written."""

import sympy as sp

from proofs_checks.claim import Refuted
from theory.enclosure import enclose
from theory.exact import Undecided

_BITS = 128


def sign(number: sp.Expr) -> int:
    """-1, 0 or 1.  Raises `Undecided` for what is not written as 0, but not told from it either."""
    if number.is_Rational:
        return int(sp.sign(number))
    ball = enclose(number, bits=_BITS)
    if ball is None or ball.contains(0):
        raise Undecided(f"the sign of {number}")
    return 1 if ball > 0 else -1


def refute_if_apart(what: str, found: sp.Expr, stated: sp.Expr) -> None:
    """Raises `Refuted` for two numbers with disjoint enclosures."""
    ball = enclose(found - stated, bits=_BITS)
    if ball is not None and not ball.contains(0):
        raise Refuted(f"{what}: {found.n(4)} is not {stated.n(4)}")


def require_same(what: str, left: sp.Expr, right: sp.Expr) -> str:
    """The fact that two expressions are written alike, once sympy has cancelled what it can."""
    if left != right:
        raise Undecided(f"{what}: {left} and {right} are not written alike")
    return f"{what}: {left}"


def require_positive(what: str, amount: sp.Expr) -> str:
    """The fact that a polynomial in positive symbols has positive coefficients only."""
    polynomial = sp.Poly(sp.expand(amount))
    if not all(coefficient > 0 for coefficient in polynomial.coeffs()):
        raise Undecided(f"{what} {amount}, the sign of which is not seen")
    return f"{what} {polynomial.as_expr()}, positive"
