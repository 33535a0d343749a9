"""Linear forms a i + b j + c n + e in a formula: their extremes, and the pairs at which conditions on them hold.

The minimum and the maximum of a form over the pairs i <= j <= n follow from its slopes. A condition is a set of
inequalities f >= 0, f a form with integer coefficients. Fourier-Motzkin elimination removes one position after the
other; constants are rounded down, because positions are integers. It shows that no pair satisfies the condition, or
leaves bounds of the last position.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import gcd, inf, lcm, prod

from lengthgen.theory.formula.syntax import ComparisonChain, Name, Node, Number, Operation

Form = tuple[Fraction, Fraction, Fraction, Fraction]
"""Coefficients of i, j, n and 1."""
NOTHING = (Fraction(0), Fraction(0), Fraction(0), Fraction(0))

Inequality = tuple[int, int, int, int]
"""Coefficients (a, b, c, e) of a i + b j + c n + e >= 0."""
Case = tuple[Inequality, ...]
"""Inequalities that hold together."""

MOST_CASES = 32
"""Largest number of cases of one condition."""
MOST_INEQUALITIES = 200
"""Largest number of inequalities that an elimination may produce."""
MOST_TRIED = 20_000
"""Largest number of positions at which a solution is searched for."""
_PAIR: Case = ((1, 0, 0, -1), (-1, 1, 0, 0), (0, -1, 1, 0))
"""Inequalities 1 <= i <= j <= n."""


@lru_cache(maxsize=4096)
def linear(node: Node) -> Form | None:
    """Coefficients of i, j, n and 1 if the tree is a rational linear form; None if it is not recognised as one."""
    match node:
        case Number(value=value):
            return Fraction(0), Fraction(0), Fraction(0), Fraction(value)
        case Name(name="i" | "j" | "n" as name):
            return Fraction(name == "i"), Fraction(name == "j"), Fraction(name == "n"), Fraction(0)
        case Operation(name="+" | "-" | "*" | "/" | "neg" | "pos" as name, operands=parts):
            forms = [linear(part) for part in parts]
            if None not in forms:
                return _combine(name, [form for form in forms if form is not None])
    return None


def _combine(name: str, forms: list[Form]) -> Form | None:
    """Form of an operation on forms; None if the result is not linear."""
    first, last = forms[0], forms[-1]
    match name:
        case "+" | "-":
            sign = 1 if name == "+" else -1
            return _weighted_sum(first, 1, last, sign)
        case "neg" | "pos":
            return _weighted_sum(first, 1 if name == "pos" else -1)
        case "*" if not any(first[:3]):
            return _weighted_sum(last, first[3])
        case "*" if not any(last[:3]):
            return _weighted_sum(first, last[3])
        case "/" if not any(last[:3]) and last[3]:
            return _weighted_sum(first, 1 / last[3])
    return None


def _weighted_sum(first: Form, factor: Fraction | int, last: Form = NOTHING, weight: int = 0) -> Form:
    """Form `factor * first + weight * last`."""
    a, b, c, d = (factor * first_part + weight * last_part for first_part, last_part in zip(first, last, strict=True))
    return a, b, c, d


def slopes(form: Form) -> Form:
    """Coefficients x, y, z, w of a i + b j + c n + e = x + y u + z v + w t, for i = 1 + u, j = i + v, n = j + t.

    The new variables u, v and t are >= 0.
    """
    a, b, c, constant = form
    return a + b + c + constant, a + b + c, b + c, c


def linear_bounds(node: Node) -> tuple[Fraction | float, Fraction | float]:
    """Minimum and maximum of a linear form over pairs i <= j <= n; infinite if the tree is not linear."""
    form = linear(node)
    if form is None:
        return -inf, inf
    start, *rates = slopes(form)
    return (
        start if all(slope >= 0 for slope in rates) else -inf,
        start if all(slope <= 0 for slope in rates) else inf,
    )


def decided(test: str, low: Fraction | float, high: Fraction | float) -> bool | None:
    """Truth value of `x test 0` if it is the same for all low <= x <= high; else None."""
    match test:
        case "<" | ">=" if high < 0 or low >= 0:
            return (high < 0) == (test == "<")
        case ">" | "<=" if low > 0 or high <= 0:
            return (low > 0) == (test == ">")
        case "==" | "!=" if high < 0 or low > 0:
            return test == "!="
        case "==" | "!=" if low == high == 0:
            return test == "=="
    return None


@lru_cache(maxsize=4096)
def simplify_choices(node: Node) -> Node:
    """Tree without choices between linear forms whose outcome is the same at every pair: max(i, j) = j."""
    match node:
        case ComparisonChain(tests=(test,), sides=sides):
            left, right = map(simplify_choices, sides)
            low, high = linear_bounds(Operation("-", (left, right)))
            outcome = decided(test, low, high)
            return ComparisonChain((test,), (left, right)) if outcome is None else Number(int(outcome))
        case ComparisonChain(tests=tests, sides=sides):
            return ComparisonChain(tests, tuple(map(simplify_choices, sides)))
        case Operation(name="if", operands=(condition, then, otherwise)):
            simple_condition = simplify_choices(condition)
            if isinstance(simple_condition, Number):
                return simplify_choices(then if simple_condition.value else otherwise)
            return Operation("if", (simple_condition, simplify_choices(then), simplify_choices(otherwise)))
        case Operation(name="abs", operands=(operand,)):
            inner = simplify_choices(operand)
            low, high = linear_bounds(inner)
            return inner if low >= 0 else Operation("neg", (inner,)) if high <= 0 else Operation("abs", (inner,))
        case Operation(name="min" | "max" as name, operands=parts):
            candidates: list[Node] = []
            for part in map(simplify_choices, parts):
                candidates = _add_candidate(name, candidates, part)
            return candidates[0] if len(candidates) == 1 else Operation(name, tuple(candidates))
        case Operation(name=name, operands=parts):
            return Operation(name, tuple(map(simplify_choices, parts)))
    return node


def _add_candidate(name: str, candidates: list[Node], part: Node) -> list[Node]:
    """Candidates for min or max with one more added, without those that another candidate always beats."""
    for candidate in candidates:
        low, high = linear_bounds(Operation("-", (part, candidate)))
        if (low >= 0 and name == "min") or (high <= 0 and name == "max"):
            return candidates
    beaten = []
    for candidate in candidates:
        low, high = linear_bounds(Operation("-", (part, candidate)))
        if (high <= 0 and name == "min") or (low >= 0 and name == "max"):
            beaten.append(candidate)
    return [candidate for candidate in candidates if candidate not in beaten] + [part]


@dataclass(frozen=True, kw_only=True)
class Cases:
    """A condition as a union of cases.

    Attributes:
        cases: the condition holds only where at least one case holds.
        exact: True if the condition holds wherever a case holds.
    """

    cases: tuple[Case, ...]
    exact: bool


def cases_of(condition: Node, *, holds: bool = True) -> Cases:
    """Linear inequalities for a condition or, if not `holds`, for its negation; non-linear parts are left out."""
    match condition:
        case Number(value=value):
            return Cases(cases=((),) if bool(value) == holds else (), exact=True)
        case Operation(name="not", operands=(operand,)):
            return cases_of(operand, holds=not holds)
        case Operation(name="and" | "or" as name, operands=parts):
            parts_cases = [cases_of(part, holds=holds) for part in parts]
            return _conjunction(parts_cases) if (name == "and") == holds else _disjunction(parts_cases)
        case ComparisonChain(tests=tests, sides=sides):
            parts_cases = [
                _cases_of_comparison(test, *pair, holds=holds)
                for test, pair in zip(tests, pairwise(sides), strict=True)
            ]
            return _conjunction(parts_cases) if holds else _disjunction(parts_cases)
    return _cases_of_comparison("!=", condition, Number(0), holds=holds)


def _cases_of_comparison(test: str, left: Node, right: Node, *, holds: bool) -> Cases:
    """Linear inequalities for `left test right` or its negation."""
    form = linear(Operation("-", (left, right)))
    if form is None:
        return Cases(cases=((),), exact=False)
    if not holds:
        test = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}[test]
    at_least_zero, at_most_zero = _inequality(form, 1), _inequality(form, -1)
    positive, negative = (
        _tighten((a, b, c, e - 1)) for a, b, c, e in (_integer_form(form, 1), _integer_form(form, -1))
    )
    cases: dict[str, tuple[Case, ...]] = {
        ">": ((positive,),),
        "<": ((negative,),),
        ">=": ((at_least_zero,),),
        "<=": ((at_most_zero,),),
        "==": ((at_least_zero, at_most_zero),),
        "!=": ((positive,), (negative,)),
    }
    return Cases(cases=cases[test], exact=True)


def _conjunction(conditions: list[Cases]) -> Cases:
    """Cases in which all the given conditions hold; inexact ones are dropped if there are too many."""
    usable = (
        [condition for condition in conditions if condition.exact]
        if _number_of_choices(conditions) > MOST_CASES
        else conditions
    )
    if _number_of_choices(usable) > MOST_CASES:
        return Cases(cases=((),), exact=False)
    joined = (sum(chosen, ()) for chosen in product(*(condition.cases for condition in usable)))
    return Cases(
        cases=tuple(joined), exact=len(usable) == len(conditions) and all(condition.exact for condition in conditions)
    )


def _disjunction(conditions: list[Cases]) -> Cases:
    """Cases in which at least one of the given conditions holds."""
    cases = tuple(case for condition in conditions for case in condition.cases)
    if len(cases) > MOST_CASES:
        return Cases(cases=((),), exact=False)
    return Cases(cases=cases, exact=all(condition.exact for condition in conditions))


def _number_of_choices(conditions: list[Cases]) -> int:
    """Number of ways to choose one case of each condition."""
    return prod(len(condition.cases) for condition in conditions)


def _integer_form(form: Form, sign: int) -> Inequality:
    """Integer coefficients of the form times the sign, scaled by the common denominator."""
    factor = sign * lcm(*(part.denominator for part in form))
    a, b, c, e = (int(part * factor) for part in form)
    return a, b, c, e


def _inequality(form: Form, sign: int) -> Inequality:
    """Inequality `form * sign >= 0`."""
    return _tighten(_integer_form(form, sign))


def _tighten(inequality: Inequality) -> Inequality:
    """Inequality divided by the gcd of its coefficients, the constant rounded down."""
    a, b, c, e = inequality
    common = gcd(a, b, c)
    return (a // common, b // common, c // common, e // common) if common else inequality


def bounds_of_last_position(case: Case, *, family: bool) -> tuple[int, int | None] | None:
    """Bounds of n (for a family) or of j at pairs that satisfy the case; the upper bound is None if there is none.

    None if no pair satisfies the case, which is proved.  Some integers between the bounds may belong to no such pair.
    """
    pair = _PAIR if family else _PAIR[:2]
    inequalities = {_tighten(inequality) for inequality in (*case, *pair)}
    for place in (0, 1) if family else (0,):
        eliminated = _eliminate(inequalities, place)
        if eliminated is None:
            return 1, None
        inequalities = eliminated
    last = 2 if family else 1
    low, high = 1, None
    for inequality in inequalities:
        weight, constant = inequality[last], inequality[3]
        if not weight and constant < 0:
            return None
        if weight > 0:
            low = max(low, -(constant // weight))
        elif weight < 0:
            high = constant // -weight if high is None else min(high, constant // -weight)
    return None if high is not None and high < low else (low, high)


def _eliminate(inequalities: set[Inequality], place: int) -> set[Inequality] | None:
    """Inequalities that follow for the other positions; None if there would be too many."""
    lower_bounds = [inequality for inequality in inequalities if inequality[place] > 0]
    upper_bounds = [inequality for inequality in inequalities if inequality[place] < 0]
    remaining = {inequality for inequality in inequalities if not inequality[place]}
    if len(lower_bounds) * len(upper_bounds) + len(remaining) > MOST_INEQUALITIES:
        return None
    for lower, upper in product(lower_bounds, upper_bounds):
        a, b, c, e = (x * -upper[place] + y * lower[place] for x, y in zip(lower, upper, strict=True))
        remaining.add(_tighten((a, b, c, e)))
    return remaining


def points(case: Case, *, family: bool) -> Iterator[tuple[int, ...] | None]:
    """Pairs (i, j) or (i, j, n) that satisfy the case, by ascending scale: one for each j, or for each (j, n).

    The iteration ends if there are no more pairs.  It gives None if more than MOST_TRIED positions would be tried.
    """
    bounds = bounds_of_last_position(case, family=family)
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
                constant = b * query + c * scale + e
                if a > 0:
                    low = max(low, -(constant // a))
                elif a < 0:
                    high = min(high, constant // -a)
                elif constant < 0:
                    high = 0
            if low <= high:
                yield (low, query, scale) if family else (low, query)
        scale += 1
