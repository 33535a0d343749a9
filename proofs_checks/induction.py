"""Induction over the length of a path: sums and products with symbolic ends over an indexed family of scalars."""

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted


def empty_value(what: str, path: sp.Expr) -> sp.Expr:
    """Return the value of a path whose two ends meet: its few terms written out; 0 or 1 if it has none.

    Raises `Refuted` if the number of terms is not a number from 0 on.
    """
    with sp.evaluate(True):
        path = _evaluated(path)
        _, lower, upper = path.limits[0]
        length = sp.expand(upper - lower + 1)
        if not (length.is_Integer and length >= 0):
            raise Refuted(f"{what}: the path from a position to itself has {length} terms")
        terms = [_term(path, lower + offset) for offset in range(int(length))]
        return sp.Add(*terms) if isinstance(path, sp.Sum) else sp.Mul(*terms)


def last_term(what: str, path: sp.Expr, extended: sp.Expr) -> sp.Expr:
    """Return the single term that the extended path has and the path has not.

    Raises `Refuted` if `extended` is not the path with one more term.
    """
    with sp.evaluate(True):
        path, extended = _evaluated(path), _evaluated(extended)
        *start, upper = path.limits[0]
        *extended_start, extended_upper = extended.limits[0]
        same_family = (extended.func, extended.function) == (path.func, path.function)
        if not (same_family and extended_start == start and sp.expand(extended_upper - upper) == 1):
            raise Refuted(f"{what}: {extended} is not {path} with one more term")
        return _term(path, extended_upper)


def combine(path: sp.Expr, value: sp.Expr, term: sp.Expr) -> sp.Expr:
    """Return the value of the extended path from the value of the path and the last term."""
    return value + term if isinstance(path, sp.Sum) else value * term


def _evaluated(path: sp.Expr) -> sp.Expr:
    """Return the path with its summand and ends evaluated, in case it was built with evaluation off."""
    return path.func(path.function.doit(), *(tuple(part.doit() for part in limit) for limit in path.limits))


def _term(path: sp.Expr, index: sp.Expr) -> sp.Expr:
    """Return the path's term at an index, with each member of the family replaced by a plain symbol."""
    term = path.function.subs(path.limits[0][0], index)
    return term.xreplace({member: sp.Symbol(str(member), real=True) for member in term.atoms(sp.Indexed)})
