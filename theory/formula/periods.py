"""Formulas whose values repeat: with the residues of i, j and n, or with one position or a difference, from some on.

If every part of a formula either depends on the residues of the positions modulo P alone, or on one position or
difference alone and has period P past T, then a pair keeps its value when i, j and n move back by P while i > T + P, j
and n while j - i > T + P, n while n - j > T + P.  So all that occurs does so by scale 2 (T + P), 3 (T + P) with n.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import lcm
from typing import Any

from theory.formula.canonical import element_of
from theory.formula.linear import linear
from theory.formula.progressions import PATHS, along
from theory.formula.structure import Structure, dependence, settled
from theory.formula.syntax import Comparison, Name, Node, Number, Operation, children, names
from theory.ring import POSITIONS, is_monomial
from theory.ring import names as names_in

_TURN = Operation("*", (Number(2), Name("pi")))


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """What is known of a formula all of whose parts repeat.

    Attributes:
        enough: a scale by which all that occurs has occurred.
        period: of all parts.
        from_start: whether they repeat from the first position on.
        by_position: whether the formula depends on one position or the distance alone.
    """

    enough: int
    period: int
    from_start: bool
    by_position: bool


PATH_OF = {
    "d": PATHS[Structure.TOEPLITZ],
    "i": PATHS[Structure.KEY],
    "j": PATHS[Structure.QUERY],
    "n": {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
    "n - i": {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
    "n - j": {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
}
"""By what a part depends on: a path that shows all of it."""


def repeats(nodes: Iterable[Node], fixed: Mapping[str, Any]) -> Repeats | None:
    """How far one has to look to see all that the trees do; None where some part is not seen to repeat.

    Args:
        nodes: the trees.
        fixed: what the parameters stand for.
    """
    listed = [settled(node) for node in nodes]
    threshold, period = 0, 1
    for node in {part for whole in listed for part in _parts(whole)}:
        joint = joint_period(node)
        if joint is not None:
            period = lcm(period, joint)
        else:
            where = dependence(node)
            course = along((node,), PATH_OF[next(iter(where))], fixed) if len(where) == 1 else None
            if course is None or not course.constant:
                return None
            threshold, period = max(threshold, course.threshold), lcm(period, course.period)
    everywhere: frozenset[str] = frozenset().union(*map(dependence, listed))
    single = everywhere in ({"d"}, {"i"}, {"j"})
    family = any("n" in names(node) for node in listed)
    times = 1 if single or not everywhere else 3 if family else 2
    return Repeats(
        enough=times * (threshold + period + 1) if everywhere else 1,
        period=period,
        from_start=not threshold,
        by_position=single,
    )


def _parts(node: Node) -> Iterator[Node]:
    """Maximal parts that depend on one position or difference alone, or on residues alone."""
    where = dependence(node)
    if not where:
        return
    if len(where) == 1 or joint_period(node) is not None or not children(node):
        yield node
    else:
        for child in _children(node):
            yield from _parts(child)


def _children(node: Node) -> tuple[Node, ...]:
    """The node's parts; of a comparison, the differences of its sides where these depend on less."""
    sides = children(node)
    if not isinstance(node, Comparison):
        return sides
    found: list[Node] = []
    for pair in pairwise(sides):
        difference = Operation("-", pair)
        found += [difference] if len(dependence(difference)) == 1 and linear(difference) else pair
    return tuple(found)


@lru_cache(maxsize=4096)
def joint_period(node: Node) -> int | None:
    """P > 0 such that the value is the same wherever i, j and n have the same residues modulo P; None if not seen."""
    if not names(node) & set(POSITIONS):
        return 1
    match node:
        case Name():
            return None
        case Operation(name="%", operands=(left, modulus)) if _is_constant(modulus):
            return _shift_period(left, modulus)
        case Operation(name="sin" | "cos", operands=(angle,)):
            return _shift_period(angle, _TURN)
        case Operation(name="gcd", operands=operands) if any(map(_is_constant, operands)):
            left, modulus = sorted(operands, key=_is_constant)
            return _shift_period(left, modulus)
        case Operation(name="**", operands=(Operation(name="neg", operands=(Number(value=1),)), exponent)):
            return _shift_period(exponent, Number(2))
    parts = [joint_period(part) for part in children(node)]
    return None if None in parts else lcm(*(part for part in parts if part is not None))


def _is_constant(node: Node) -> bool:
    return not names(node) & set(POSITIONS)


def _shift_period(node: Node, modulus: Node) -> int | None:
    """P > 0 such that moving positions by P changes the value by whole multiples of a modulus that is not zero."""
    denominator = _denominator(Operation("/", (node, modulus)))
    if denominator is not None:
        return denominator
    match node:
        case Operation(name="+" | "-" | "neg" | "pos", operands=parts):
            periods = [_shift_period(part, modulus) for part in parts]
            return None if None in periods else lcm(*(period for period in periods if period is not None))
        case Operation(name="*", operands=(Number(value=int()), inside) | (inside, Number(value=int()))):
            return _shift_period(inside, modulus)
        case Operation(name="//", operands=parts) if isinstance(modulus, Number):
            return _shift_period(Operation("/", parts), Number(modulus.value.numerator))
        case Operation(name="floor" | "ceil", operands=(inside,)) if isinstance(modulus, Number):
            return _shift_period(inside, Number(modulus.value.numerator))
    return joint_period(node)


def _denominator(node: Node) -> int | None:
    """The common denominator of what is, but for a constant, a polynomial in positions with rational coefficients."""
    element = element_of(node)
    if element is None:
        return None
    moving = {key: weight for key, weight in element.items() if names_in(key) & set(POSITIONS)}
    if not all(is_monomial(key) for key in moving):
        return None
    return lcm(*(weight.denominator for weight in moving.values()))
