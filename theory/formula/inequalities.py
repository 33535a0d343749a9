"""Conditions between linear forms of i, j and n: is there a pair that meets them, and at which scale first?

Conditions are inequalities f >= 0 of forms with whole coefficients.  Eliminating one position after the other (Fourier
and Motzkin), with constants rounded down as positions are whole, shows that nothing meets them, or leaves bounds of the
last one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from math import gcd, lcm

from theory.formula.linear import Form, linear
from theory.formula.syntax import Comparison, Node, Number, Operation

Inequality = tuple[int, int, int, int]
"""a i + b j + c n + e >= 0."""
Case = tuple[Inequality, ...]
"""All of which hold."""

MOST_CASES = 32
MOST_INEQUALITIES = 200
MOST_TRIED = 20_000
"""Positions at which a point is looked for."""
_PAIR: Case = ((1, 0, 0, -1), (-1, 1, 0, 0), (0, -1, 1, 0))
"""1 <= i <= j <= n."""


@dataclass(frozen=True, kw_only=True)
class Cases:
    """A condition as cases.

    Attributes:
        cases: the condition holds only where one of these does.
        exact: whether it holds in all of these.
    """

    cases: tuple[Case, ...]
    exact: bool


def cases_of(condition: Node, *, holds: bool = True) -> Cases:
    """A condition, or its contrary, in linear inequalities; what is not linear is left out."""
    match condition:
        case Number(value=value):
            return Cases(cases=((),) if bool(value) == holds else (), exact=True)
        case Operation(name="not", operands=(inside,)):
            return cases_of(inside, holds=not holds)
        case Operation(name="and" | "or" as name, operands=parts):
            found = [cases_of(part, holds=holds) for part in parts]
            return _all(found) if (name == "and") == holds else _any(found)
        case Comparison(tests=tests, sides=sides):
            found = [_compared(test, *pair, holds=holds) for test, pair in zip(tests, pairwise(sides), strict=True)]
            return _all(found) if holds else _any(found)
    return _compared("!=", condition, Number(0), holds=holds)


def _compared(test: str, left: Node, right: Node, *, holds: bool) -> Cases:
    form = linear(Operation("-", (left, right)))
    if form is None:
        return Cases(cases=((),), exact=False)
    if not holds:
        test = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}[test]
    above, below = _at_least(form, 1), _at_least(form, -1)
    strictly_above, strictly_below = (
        _tightened((a, b, c, e - 1)) for a, b, c, e in (_whole(form, 1), _whole(form, -1))
    )
    cases: dict[str, tuple[Case, ...]] = {
        ">": ((strictly_above,),),
        "<": ((strictly_below,),),
        ">=": ((above,),),
        "<=": ((below,),),
        "==": ((above, below),),
        "!=": ((strictly_above,), (strictly_below,)),
    }
    return Cases(cases=cases[test], exact=True)


def _all(found: list[Cases]) -> Cases:
    known = [one for one in found if one.exact] if _count(found) > MOST_CASES else found
    if _count(known) > MOST_CASES:
        return Cases(cases=((),), exact=False)
    joined = (sum(chosen, ()) for chosen in product(*(one.cases for one in known)))
    return Cases(cases=tuple(joined), exact=len(known) == len(found) and all(one.exact for one in found))


def _count(found: list[Cases]) -> int:
    count = 1
    for one in found:
        count *= len(one.cases)
    return count


def _any(found: list[Cases]) -> Cases:
    cases = tuple(case for one in found for case in one.cases)
    if len(cases) > MOST_CASES:
        return Cases(cases=((),), exact=False)
    return Cases(cases=cases, exact=all(one.exact for one in found))


def _whole(form: Form, sign: int) -> Inequality:
    factor = sign * lcm(*(part.denominator for part in form))
    a, b, c, e = (int(part * factor) for part in form)
    return a, b, c, e


def _at_least(form: Form, sign: int) -> Inequality:
    return _tightened(_whole(form, sign))


def _tightened(one: Inequality) -> Inequality:
    a, b, c, e = one
    common = gcd(a, b, c)
    return (a // common, b // common, c // common, e // common) if common else one


def last_position(case: Case, *, family: bool) -> tuple[int, int | None] | None:
    """Bounds of n for a family, else of j, at pairs that meet the case, from above None where there is none.

    None where it is proved that no pair does; of whole positions between the bounds some may have no such pair.
    """
    pair = _PAIR if family else _PAIR[:2]
    known = {_tightened(one) for one in (*case, *pair)}
    for place in (0, 1) if family else (0,):
        eliminated = _without(known, place)
        if eliminated is None:
            return 1, None
        known = eliminated
    last = 2 if family else 1
    low, high = 1, None
    for one in known:
        weight, least = one[last], one[3]
        if not weight and least < 0:
            return None
        if weight > 0:
            low = max(low, -(least // weight))
        elif weight < 0:
            high = least // -weight if high is None else min(high, least // -weight)
    return None if high is not None and high < low else (low, high)


def _without(known: set[Inequality], place: int) -> set[Inequality] | None:
    """What follows for the other positions; None where that is too much."""
    above = [one for one in known if one[place] > 0]
    below = [one for one in known if one[place] < 0]
    found = {one for one in known if not one[place]}
    if len(above) * len(below) + len(found) > MOST_INEQUALITIES:
        return None
    for one, other in product(above, below):
        a, b, c, e = (x * -other[place] + y * one[place] for x, y in zip(one, other, strict=True))
        found.add(_tightened((a, b, c, e)))
    return found


def points(case: Case, *, family: bool) -> Iterator[tuple[int, ...] | None]:
    """Pairs that meet the case, (i, j) or (i, j, n), by ascending scale, one for each last pair of positions.

    Ends where there are no more; gives None where more than MOST_TRIED positions would have to be looked at.
    """
    bounds = last_position(case, family=family)
    if bounds is None:
        return
    scale, last = bounds
    tried = 0
    while last is None or scale <= last:
        for query in range(1, scale + 1) if family else (scale,):
            tried += 1
            if tried > MOST_TRIED:
                yield None
                return
            low, high = 1, query
            for a, b, c, e in case:
                rest = b * query + c * scale + e
                if a > 0:
                    low = max(low, -(rest // a))
                elif a < 0:
                    high = min(high, rest // -a)
                elif rest < 0:
                    high = 0
            if low <= high:
                yield (low, query, scale) if family else (low, query)
        scale += 1
