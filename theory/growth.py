"""How LRC of a formula grows with the scale, over all scales, with the reason.

A formula all of whose parts repeat (theory.formula.periods) is looked through, which is a proof.  Else it has to have a
value at every pair (theory.definedness); then it is followed along paths of pairs until no choice is left
(theory.formula.progressions), and if on one of them an expression takes infinitely many values, LRC is unbounded.  Else
a finite set that holds all values bounds LRC.  All of it is [F].
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import comb, inf, prod
from typing import Any

import sympy as sp

from theory.definedness import Definedness, definedness
from theory.formula import Formula, FormulaError, NoValue
from theory.formula.periods import Repeats, repeats
from theory.formula.progressions import Path, Piece, follow_path, takes_infinitely_many_values
from theory.formula.ranges import MOST, finite_range
from theory.formula.structure import Structure, structure
from theory.formula.syntax import names
from theory.lrc import Profile, profile
from theory.pattern import Pattern

LOOKED_AT = 40
"""Scale up to which a pattern is looked at where nothing else is known; of a family, half of it."""
LARGEST, LARGEST_FAMILY = 1_000, 100
"""Scale up to which looking is worth a proof; of one position or the distance, any."""


class Kind(StrEnum):
    """How LRC behaves as the scale grows."""

    CONSTANT = "constant"
    EVENTUALLY_CONSTANT = "eventually constant"
    UNBOUNDED = "unbounded"
    UNDEFINED = "undefined"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The answer over all scales.

    Attributes:
        kind: constant from scale 1 on, from some later scale on, unbounded, undefined from some scale on, or undecided.
        low: at least this is reached at some scale.
        high: at most this is reached at any scale that has a value; None where no bound is known, or there is none.
        from_scale: the first scale from which LRC no longer grows; None where unknown, or there is none.
        reason: why, in words.
        strength: "general" where it is proved for all scales; None where undecided.
        undefined_at: a pair (i, j), or (i, j, n), at which the formula has no value; None where none is known.
        undefined_from: the first scale with such a pair; None where there is none, or a smaller one is not ruled out.
    """

    kind: Kind
    low: int
    high: int | None
    from_scale: int | None
    reason: str
    strength: str | None
    undefined_at: tuple[int, ...] | None = None
    undefined_from: int | None = None


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
        return _undecided(0, f"not every entry can be computed: {error}")


def _undecided(low: int, reason: str, high: int | None = None) -> Growth:
    return Growth(kind=Kind.UNDECIDED, low=low, high=high, from_scale=None, reason=reason, strength=None)


def _growth(pattern: Pattern, formula: Formula) -> Growth:
    repeating = repeats(formula.nodes, _parameters(formula))
    try:
        known = _by_periodicity(pattern, formula, repeating) if repeating else None
    except NoValue:
        known = None
    if known:
        return known
    defined = definedness(formula)
    if defined.everywhere is False:
        return _undefined(pattern, defined)
    seen = profile(pattern, LOOKED_AT // 2 if pattern.scale_hint else LOOKED_AT)
    unbounded = None if repeating else next(_infinite(formula), None)
    if unbounded:
        found = Growth(
            kind=Kind.UNBOUNDED,
            low=seen.bounds(seen.scale)[0],
            high=None,
            from_scale=None,
            reason=unbounded,
            strength="general",
        )
    else:
        found = _by_range(formula, seen, repeating)
    if defined.everywhere or found.kind is Kind.UNDECIDED:
        return found
    looked_at = max(defined.looked_at, seen.scale)
    reason = f"it is not proved that every pair has a value (all up to scale {looked_at} do); if so, {found.kind}"
    return _undecided(found.low, f"{reason}: {found.reason}", found.high)


def _undefined(pattern: Pattern, defined: Definedness) -> Growth:
    """The answer where some pair has no value: what is known of the scales before."""
    assert defined.cell is not None
    scale = defined.cell[-1]
    before = min(scale - 1, LOOKED_AT // 2 if pattern.scale_hint else LOOKED_AT)
    try:
        low, high = profile(pattern, before).bounds(before) if before else (0, 0)
    except FormulaError:  # some entry before is too large, or undecided
        low, high = 0, -1
    since = f"from scale {scale} on" if defined.first else f"from scale {scale} on, or before,"
    known = f"; LRC is {low} at scale {before}" if before and low == high else ""
    return Growth(
        kind=Kind.UNDEFINED,
        low=low,
        high=None,
        from_scale=None,
        reason=f"{since} there is a pair without a value: {defined.why}{known}",
        strength="general",
        undefined_at=defined.cell,
        undefined_from=scale if defined.first else None,
    )


def _by_periodicity(pattern: Pattern, formula: Formula, found: Repeats) -> Growth | None:
    most = LARGEST_FAMILY if pattern.scale_hint else inf if found.by_position else LARGEST
    if found.enough > most:
        return None
    if found.enough == 1:
        return _looked_through(profile(pattern, 1), "finite range: one value everywhere")
    reason = f"{_repeating(formula, found)}, and scale {found.enough} shows every value"
    return _looked_through(profile(pattern, found.enough), reason)


def _repeating(formula: Formula, found: Repeats) -> str:
    repeat = "is constant" if found.period == 1 else f"repeats with period {found.period}"
    past = repeat if found.from_start else f"{repeat} from some point on"
    return f"finite range: {_AS_A_FUNCTION.get(structure(formula), 'every part of the entry')} {past}"


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
            course = follow_path((node,), {name: path[name] for name in path if name in names(node)}, fixed)
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


def _by_range(formula: Formula, seen: Profile, repeating: Repeats | None) -> Growth:
    """Bounds from a finite set that holds every value, settled where all of that set has been seen."""
    low, high = seen.bounds(seen.scale)
    ranges = [finite_range(node, formula.parameters) for node in formula.nodes]
    sets = [one for one in ranges if one is not None]
    if len(sets) == len(ranges) and prod(map(len, sets)) <= MOST:
        most = prod(map(len, sets)) - all(0 in one for one in sets)
        reason = f"finite range: at most {most} non-zero values are possible"
    elif repeating:
        most = comb(repeating.enough + 2, 3) if "n" in formula.variables else comb(repeating.enough + 1, 2)
        reason = (
            f"{_repeating(formula, repeating)}, so scale {repeating.enough}, too large to look at, shows every value"
        )
    else:
        return _undecided(low, f"no proof either way; looked at up to scale {seen.scale}")
    if low == high == most:
        return _looked_through(seen, f"{reason}, and all of them occur")
    return Growth(
        kind=Kind.EVENTUALLY_CONSTANT,
        low=low,
        high=most,
        from_scale=None,
        reason=f"{reason}; {high} occur up to scale {seen.scale}",
        strength="general",
    )
