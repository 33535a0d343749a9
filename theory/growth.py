"""How LRC of a formula grows with the scale, over all scales, with the reason.

A formula is followed along paths of pairs until no choice is left (theory.formula.progressions).  If on one of them an
expression takes infinitely many values, LRC is unbounded.  If every part that depends on i alone, on j alone or on
j - i alone is eventually periodic, past T with period P, then so is the pattern: a pair (i, j) can be moved, both
positions back by P while i > T + P, the query alone while j - i > T + P, without a change of value, so everything that
occurs does so by scale 2 (T + P), and looking there is a proof.  Else a finite set that holds all values bounds LRC.
All of it is [F].
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import lcm, prod
from typing import Any

import sympy as sp

from theory.formula import Formula, FormulaError
from theory.formula.linear import linear
from theory.formula.progressions import PATHS, Course, Path, Piece, along, takes_infinitely_many_values
from theory.formula.ranges import MOST, finite_range
from theory.formula.structure import Structure, dependence, settled, structure
from theory.formula.syntax import Node, Operation, children, names
from theory.lrc import Profile, profile
from theory.pattern import Pattern

LOOKED_AT = 40
"""Scale up to which a pattern is looked at where nothing else is known; of a family, half of it."""
LARGEST = 1_000
"""Scale up to which looking is worth a proof."""


class Kind(StrEnum):
    """How LRC behaves as the scale grows."""

    CONSTANT = "constant"
    EVENTUALLY_CONSTANT = "eventually constant"
    UNBOUNDED = "unbounded"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The answer over all scales.

    Attributes:
        kind: constant from scale 1 on, from some later scale on, unbounded, or undecided.
        low: at least this is reached at some scale.
        high: at most this is reached at any scale; None where no bound is known, or there is none.
        from_scale: the first scale from which LRC no longer grows; None where unknown, or there is none.
        reason: why, in words.
        strength: "general" where it is proved for all scales; None where undecided.
    """

    kind: Kind
    low: int
    high: int | None
    from_scale: int | None
    reason: str
    strength: str | None


_PATHS = {"d": PATHS[Structure.TOEPLITZ], "i": PATHS[Structure.KEY], "j": PATHS[Structure.QUERY]}

_RAYS: tuple[Path, ...] = (
    {"i": (1, 0), "j": (1, 1), "n": (1, 1)},
    {"i": (1, 1), "j": (1, 1), "n": (1, 1)},
    {"i": (1, 1), "j": (2, 1), "n": (2, 1)},
    {"i": (2, 0), "j": (2, 1), "n": (2, 1)},
    {"i": (3, 0), "j": (3, 1), "n": (3, 1)},
    {"i": (1, 1), "j": (1, 2), "n": (1, 2)},
    {"i": (1, 1), "j": (2, 3), "n": (2, 3)},
    {"i": (1, 0), "j": (1, 0), "n": (1, 1)},
    {"i": (1, 0), "j": (1, 1), "n": (1, 2)},
    {"i": (1, 1), "j": (1, 1), "n": (1, 2)},
)
"""Paths on which a general formula is tried."""


def growth(pattern: Pattern) -> Growth | None:
    """How LRC grows; None for a pattern that is not a formula, of which only single scales can be looked at."""
    formula = pattern.formula
    if formula is None:
        return None
    try:
        return _growth(pattern, formula)
    except FormulaError as error:
        reason = f"the formula does not have a value everywhere: {error}"
        return Growth(kind=Kind.UNDECIDED, low=0, high=None, from_scale=None, reason=reason, strength=None)


def _growth(pattern: Pattern, formula: Formula) -> Growth:
    seen = profile(pattern, LOOKED_AT // 2 if pattern.scale_hint else LOOKED_AT)
    settled = _by_periodicity(pattern, formula)
    if settled:
        return settled
    unbounded = next(_infinite(formula), None)
    if unbounded:
        return Growth(
            kind=Kind.UNBOUNDED,
            low=seen.bounds(seen.scale)[0],
            high=None,
            from_scale=None,
            reason=unbounded,
            strength="general",
        )
    return _by_range(formula, seen)


def _by_periodicity(pattern: Pattern, formula: Formula) -> Growth | None:
    if "n" in formula.variables:
        return None
    parts = {part for node in formula.nodes for part in _parts(settled(node))}
    fixed = _parameters(formula)
    courses = []
    for node, looked_at in parts:
        if looked_at == "mod":
            course: Course | None = Course(pieces=(Piece(start=0, step=_modulus(node), components=()),), singles=())
        else:
            course = along((node,), _PATHS[looked_at], fixed)
        if course is None or not course.constant:
            return None
        courses.append(course)
    threshold = max((course.threshold for course in courses), default=0)
    period = lcm(*(course.period for course in courses))
    single = structure(formula) in _AS_A_FUNCTION
    enough = threshold + period + 1 if single else 2 * (threshold + period + 1)
    if not single and enough > LARGEST:
        return None
    if not parts:
        return _looked_through(profile(pattern, 1), "finite range: one value everywhere")
    repeats = "is constant" if period == 1 else f"repeats with period {period}"
    past = f"{repeats} from some point on" if threshold else repeats
    reason = f"finite range: {_AS_A_FUNCTION.get(structure(formula), 'every part of the entry')} {past}"
    return _looked_through(profile(pattern, enough), f"{reason}, and scale {enough} shows every value")


_AS_A_FUNCTION = {
    Structure.TOEPLITZ: "the entry as a function of j - i",
    Structure.KEY: "the entry as a function of i",
    Structure.QUERY: "the entry as a function of j",
}


def _looked_through(known: Profile, reason: str) -> Growth:
    """All values have been seen by the profile's last scale."""
    low, high = known.bounds(known.scale)
    since = known.constant_from
    constant = known.bounds(1) == (high, high)
    if low != high:
        kind, reason = Kind.EVENTUALLY_CONSTANT, f"{reason}; whether some of them are equal is undecided"
    else:
        kind = Kind.CONSTANT if constant else Kind.EVENTUALLY_CONSTANT
    return Growth(
        kind=kind, low=low, high=high, from_scale=since if low == high else None, reason=reason, strength="general"
    )


def _parts(node: Node) -> Iterator[tuple[Node, str]]:
    """Maximal parts that depend on one of i, j, j - i, or on i and j only through their residues ("mod")."""
    looked_at = dependence(node)
    if not looked_at:
        return
    if len(looked_at) == 1:
        yield node, next(iter(looked_at))
    elif _modulus(node):
        yield node, "mod"
    else:
        for child in _children(node):
            yield from _parts(child)


def _children(node: Node) -> tuple[Node, ...]:
    """The node's parts; of a comparison, the differences of its sides where these depend on less."""
    sides = children(node)
    if isinstance(node, Operation):
        return sides
    pairs = list(pairwise(sides))
    differences = [Operation("-", pair) for pair in pairs]
    return tuple(
        part
        for pair, difference in zip(pairs, differences, strict=True)
        for part in ((difference,) if len(dependence(difference)) == 1 and linear(difference) else pair)
    )


def _modulus(node: Node) -> int:
    """m for (a i + b j + c) % m with whole a, b, c and m > 0; else 0."""
    match node:
        case Operation(name="%", operands=(left, right)):
            form, divisor = linear(left), linear(right)
            constant = divisor is not None and not any(divisor[:3]) and divisor[3] > 0
            if form and divisor and constant and all(number.denominator == 1 for number in (*form, divisor[3])):
                return int(divisor[3])
    return 0


def _parameters(formula: Formula) -> dict[str, Any]:
    return {name: sp.Symbol(name, real=True) for name in formula.parameters}


def _infinite(formula: Formula) -> Iterator[str]:
    """Reasons for infinitely many values.  Free parameters are given values: what differs at these differs."""
    used = frozenset().union(*map(names, formula.nodes))
    free = [name for name in formula.parameters if name in used]
    fixed: Mapping[str, Any] = {name: sp.Rational(sp.prime(place + 1)) for place, name in enumerate(free)}
    where = f" with {', '.join(f'{name} = {value}' for name, value in fixed.items())}" if fixed else ""
    for path in _RAYS:
        for node in formula.nodes:
            course = along((node,), {name: path[name] for name in path if name in names(node)}, fixed)
            for piece in course.pieces if course else ():
                why = takes_infinitely_many_values(piece.components[0])
                if why:
                    yield f"infinitely many values: {_place(path, piece, formula)}{where} the entry is " + (
                        f"{piece.components[0]}, which {why}"
                    )


def _place(path: Path, piece: Piece, formula: Formula) -> str:
    """Where a piece lies, in words."""

    def position(name: str) -> str:
        start, step = path[name]
        first, by = start + step * piece.start, step * piece.step
        return (
            f"{name} = {first}" if not by else f"{name} = {'' if by == 1 else by}s" + (f" + {first}" if first else "")
        )

    shown = [name for name in ("i", "j", "n") if name != "n" or "n" in formula.variables]
    return "at " + ", ".join(map(position, shown)) + " (s = 0, 1, ...)"


def _by_range(formula: Formula, seen: Profile) -> Growth:
    """Bounds from a finite set that holds every value, settled where all of that set has been seen."""
    low, high = seen.bounds(seen.scale)
    ranges = [finite_range(node, formula.parameters) for node in formula.nodes]
    if None in ranges or prod(len(one) for one in ranges if one is not None) > MOST:
        reason = f"no proof either way; looked at up to scale {seen.scale}"
        return Growth(kind=Kind.UNDECIDED, low=low, high=None, from_scale=None, reason=reason, strength=None)
    sets = [one for one in ranges if one is not None]
    most = prod(map(len, sets)) - all(0 in one for one in sets)
    if low == high == most:
        return _looked_through(
            seen, f"finite range: at most {most} non-zero values are possible, and all of them occur"
        )
    return Growth(
        kind=Kind.EVENTUALLY_CONSTANT,
        low=low,
        high=most,
        from_scale=None,
        reason=f"finite range: at most {most} non-zero values are possible; {high} occur up to scale {seen.scale}",
        strength="general",
    )
