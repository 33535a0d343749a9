"""Growth of LRC of a formula with the scale, over all scales, with the reason.

If all parts of a formula are periodic (lengthgen.theory.formula.periods), finitely many scales show every value, which
is a proof. Else the formula must have a value at every pair. If it is one of Presburger arithmetic
(lengthgen.theory.formula.presburger), its values are the integer points of a set, which is bounded or has a line of
pairs with ever new values. Else it is followed along paths of pairs, until no case distinction is left
(lengthgen.theory.formula.progressions) or far out, where bounds may decide (lengthgen.theory.formula.tails). If on one
of these paths it takes infinitely many values, LRC is unbounded; if a finite set holds all values, that bounds LRC.

Whether a formula has a value at every pair of every scale is a proof, a refutation with the first pair without a value,
or open. The conditions under which an operation has no value (lengthgen.theory.formula.definedness) are formulas
themselves, so they are decided by the same means: signs, linear inequalities, periodic parts. Conditions that stay open
are tested at finitely many cells. All of it is [F].
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, islice
from math import comb, prod

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from lengthgen.infrastructure.brief import Brief
from lengthgen.theory.formula import Formula, FormulaError, NoValue, exact, numbering, presburger
from lengthgen.theory.formula.definedness import never_holds, violations
from lengthgen.theory.formula.linear import cases_of, points
from lengthgen.theory.formula.periods import PATH_OF, Repeats, repeats
from lengthgen.theory.formula.progressions import Path, follow_path
from lengthgen.theory.formula.ranges import MOST, finite_range
from lengthgen.theory.formula.structure import Structure, dependence, structure
from lengthgen.theory.formula.syntax import Node, may_be_irrational, names, with_numbers
from lengthgen.theory.formula.tails import infinitely_many_values
from lengthgen.theory.lrc import LrcProfile, profile
from lengthgen.theory.pattern import Pattern

Cell = tuple[int, ...]

LOOKED_AT = 40
"""Scale up to which values are counted if no proof tells a better one; half of it for a family."""
LARGEST, LARGEST_FAMILY = 1_000, 100
"""Largest scales at which counting is used as a proof."""
LARGEST_BY_POSITION, LARGEST_IRRATIONAL = 1_000_000, 1_000
"""The same if the formula depends on one position or on j - i, for rational values and for irrational ones."""

MOST_CONDITIONS = 200
"""Largest number of conditions of one formula that are examined."""
FARTHEST, FARTHEST_EXACT = 200, 40
"""Scales up to which every pair is tested: for rational formulas, and for formulas with exact (irrational) values."""
FARTHEST_FAMILY, FARTHEST_EXACT_FAMILY = 40, 20
"""The same scales for families A(i, j, n)."""
MOST_SINGLE, MOST_SINGLE_EXACT = 20_000, 500
"""Largest number of single positions that are tested: for rational conditions, and for irrational ones."""

_MOST_NUMBERS = 3
"""Largest number of choices of numbers for free parameters; the first is taken at which all pairs have a value."""

RAYS: tuple[Path, ...] = (
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
    {"i": (1, 1), "j": (2, 2), "n": (3, 3)},
    {"i": (2, 2), "j": (2, 3), "n": (2, 3)},
    {"i": (1, 1), "j": (16, 16), "n": (256, 256)},
)
"""Paths (start, step) of each position, on which a general formula is tested."""


class GrowthKind(StrEnum):
    """Behaviour of LRC as the scale grows."""

    CONSTANT = "constant"
    EVENTUALLY_CONSTANT = "eventually constant"
    UNBOUNDED = "unbounded"
    UNDEFINED = "undefined"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True, repr=False)
class Growth(Brief):
    """Growth of LRC over all scales.

    Attributes:
        kind: constant from scale 1 on, from some later scale on, unbounded, undefined from some scale on, or undecided.
        low: a lower bound that LRC reaches at some scale.
        high: an upper bound for every scale that has a value; None if no bound is known, or there is none.
        from_scale: the first scale from which LRC no longer grows; None if unknown, or if there is none.
        reason: why, in words.
        strength: "general" if it is proved for all scales; None if undecided.
        undefined_at: a pair (i, j), or (i, j, n), at which the formula has no value; None if none is known.
        undefined_from: the first scale with such a pair; None if there is none, or a smaller one is not ruled out.
    """

    kind: GrowthKind
    low: int
    high: int | None
    from_scale: int | None
    reason: str
    strength: str | None
    undefined_at: tuple[int, ...] | None = None
    undefined_from: int | None = None

    def _brief(self) -> str:
        high = "" if self.high is None else f", at most {self.high}"
        return f"{self.kind}, at least {self.low}{high}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Definedness:
    """Result of the question whether a formula has a value at every pair of every scale.

    Attributes:
        everywhere: True or False where that is proved; else None.
        cell: a pair without a value, (i, j), or (i, j, n) for a family; None where none is known.
        first: True if no smaller scale than the cell's has such a pair.
        looked_at: the scale up to which every pair was tested, where nothing is proved.
        why: the error at the cell.
    """

    everywhere: bool | None
    cell: Cell | None = None
    first: bool = True
    looked_at: int = 0
    why: str = ""


def growth(pattern: Pattern) -> Growth | None:
    """Growth of LRC of a pattern; None for a pattern without a formula, which is known at single scales only.

    >>> from lengthgen import pattern_from_formula
    >>> growth(pattern_from_formula("1 if j - i < 3 else 0")).kind.value
    'constant'
    """
    formula = pattern.formula
    if formula is None:
        return None
    try:
        result = _growth_by_parts(pattern, formula)
    except FormulaError as error:
        result = undecided(0, f"not every entry can be computed: {error}")
    since = result.undefined_from if result.kind is GrowthKind.UNDEFINED else result.from_scale
    if since is not None or result.kind is GrowthKind.UNBOUNDED:
        return result
    points = presburger.image(formula)
    return result if points is None else _growth_of_points(pattern, formula, points, result.low)


def listed_scale(pattern: Pattern) -> int:
    """Scale up to which the values of a pattern are counted if no proof tells a better one."""
    return LOOKED_AT // 2 if pattern.scale_hint else LOOKED_AT


def undecided(low: int, reason: str, high: int | None = None) -> Growth:
    """Growth without an answer."""
    return Growth(kind=GrowthKind.UNDECIDED, low=low, high=high, from_scale=None, reason=reason, strength=None)


def _growth_of_points(pattern: Pattern, formula: Formula, points: presburger.Image, low: int) -> Growth:
    """Growth from all values of a formula; `low` is an LRC that it reaches."""
    if points.undefined:
        try:
            formula.value(*points.undefined)
        except FormulaError as error:
            return _undefined(pattern, Definedness(everywhere=False, cell=points.undefined, why=str(error)))
        raise AssertionError(f"{formula.text} has a value at {points.undefined}")
    if points.line:
        kind, high, since = GrowthKind.UNBOUNDED, None, None
        line, step = points.line, sp.Symbol("s")
        entry = [
            sp.Rational(base) + sp.Rational(slope) * step for base, slope in zip(line.base, line.slope, strict=True)
        ]
        place = _place_text(dict(zip("ijn", zip(line.start, line.step, strict=True), strict=True)), formula)
        growing = next(part for part, slope in zip(entry, line.slope, strict=True) if slope)
        reason = f"infinitely many values: {place} the entry is {growing}, which is strictly monotone"
    else:
        assert points.nonzero is not None
        assert low <= points.nonzero, f"{formula.text} has more values than it can have"
        low = high = points.nonzero
        since = points.from_scale
        kind = GrowthKind.CONSTANT if since == 1 else GrowthKind.EVENTUALLY_CONSTANT
        reason = f"finite range: {high} non-zero values are possible, and scale {since} shows every value"
    return Growth(kind=kind, low=low, high=high, from_scale=since, reason=reason, strength="general")


def _growth_by_parts(pattern: Pattern, formula: Formula) -> Growth:
    """Growth of a formula by its periods, paths and ranges; raises `FormulaError` if an entry cannot be computed."""
    repeating = repeats(formula.nodes, {name: sp.Symbol(name, real=True) for name in formula.parameters})
    try:
        by_period = _growth_by_period(pattern, formula, repeating) if repeating else None
    except NoValue:
        by_period = None
    if by_period:
        return by_period
    defined = definedness(formula)
    if defined.everywhere is False:
        return _undefined(pattern, defined)
    finite = repeating or _has_finitely_many_points(formula)
    infinite_reason = None if finite else next(_infinite_value_reasons(formula), None)
    if infinite_reason:
        result = Growth(
            kind=GrowthKind.UNBOUNDED,
            low=_lrc_seen(pattern),
            high=None,
            from_scale=None,
            reason=infinite_reason,
            strength="general",
        )
    else:
        result = _growth_by_range(formula, profile(pattern, listed_scale(pattern)), repeating)
    if defined.everywhere or result.kind is GrowthKind.UNDECIDED:
        return result
    looked_at = max(defined.looked_at, listed_scale(pattern))
    reason = f"it is not proved that every pair has a value (all up to scale {looked_at} do); if so, {result.kind}"
    return undecided(result.low, f"{reason}: {result.reason}", result.high)


def _has_finitely_many_points(formula: Formula) -> bool:
    """True for a Presburger formula of finitely many values, along whose paths nothing has to be searched."""
    points = presburger.image(formula)
    return points is not None and points.nonzero is not None


def _lrc_seen(pattern: Pattern) -> int:
    """LRC at the scale up to which values are counted, or at a smaller one if its entries are too large to compute.

    Raises `FormulaError` if those of scale 1 are.
    """
    scale = listed_scale(pattern)
    while scale > 1:
        try:
            return profile(pattern, scale).bounds(scale)[0]
        except FormulaError:
            scale //= 2
    return profile(pattern, 1).bounds(1)[0]


def _undefined(pattern: Pattern, defined: Definedness) -> Growth:
    """Growth if some pair has no value, with the LRC at the scales before that pair."""
    assert defined.cell is not None
    scale = defined.cell[-1]
    last_scale = min(scale - 1, listed_scale(pattern))
    try:
        low, high = profile(pattern, last_scale).bounds(last_scale) if last_scale else (0, 0)
    except FormulaError:  # some entry before is too large, or undecided
        low, high = 0, -1
    from_where = f"from scale {scale} on" if defined.first else f"from scale {scale} on, or before,"
    last_lrc = f"; LRC is {low} at scale {last_scale}" if last_scale and low == high else ""
    return Growth(
        kind=GrowthKind.UNDEFINED,
        low=low,
        high=None,
        from_scale=None,
        reason=f"{from_where} there is a pair without a value: {defined.why}{last_lrc}",
        strength="general",
        undefined_at=defined.cell,
        undefined_from=scale if defined.first else None,
    )


def _growth_by_period(pattern: Pattern, formula: Formula, periods: Repeats) -> Growth | None:
    """Growth of a formula with periodic parts; None if the scale that shows every value is too large."""
    by_position = LARGEST_IRRATIONAL if formula.exact_only else LARGEST_BY_POSITION
    largest = LARGEST_FAMILY if pattern.scale_hint else by_position if periods.by_position else LARGEST
    if periods.enough > largest:
        return None
    if periods.enough == 1:
        return _growth_of_profile(profile(pattern, 1), "finite range: one value everywhere")
    reason = f"{_period_reason(formula, periods)}, and scale {periods.enough} shows every value"
    return _growth_of_profile(profile(pattern, periods.enough), reason)


def _period_reason(formula: Formula, periods: Repeats) -> str:
    """Reason for finitely many values, in words."""
    repeat = "is constant" if periods.period == 1 else f"repeats with period {periods.period}"
    repetition = repeat if periods.from_start else f"{repeat} from some point on"
    return f"finite range: {_AS_A_FUNCTION.get(structure(formula), 'every part of the entry')} {repetition}"


_AS_A_FUNCTION = {
    Structure.TOEPLITZ: "the entry as a function of j - i",
    Structure.KEY: "the entry as a function of i",
    Structure.QUERY: "the entry as a function of j",
}


def _growth_of_profile(lrc_profile: LrcProfile, reason: str) -> Growth:
    """Growth of a formula all of whose values occur up to the last scale of the profile."""
    low, high = lrc_profile.bounds(lrc_profile.scale)
    constant_from = lrc_profile.constant_from
    constant = lrc_profile.bounds(1) == (high, high)
    if low != high:
        kind, reason = GrowthKind.EVENTUALLY_CONSTANT, f"{reason}; it is undecided whether some of them are equal"
    else:
        kind = GrowthKind.CONSTANT if constant else GrowthKind.EVENTUALLY_CONSTANT
    return Growth(
        kind=kind,
        low=low,
        high=high,
        from_scale=constant_from if low == high else None,
        reason=reason,
        strength="general",
    )


def _infinite_value_reasons(formula: Formula) -> Iterator[str]:
    """Yield reasons for infinitely many values. Free parameters are set to numbers: values that differ there differ."""
    free = [name for name in formula.parameters if name in formula.names]
    special, where = formula, ""
    if free:
        for first in range(1, _MOST_NUMBERS + 1):
            values = {name: int(sp.prime(first + place)) for place, name in enumerate(free)}
            rows = tuple(tuple(with_numbers(node, values) for node in row) for row in formula.rows)
            special = replace(formula, parameters=(), rows=rows)
            if definedness(special).everywhere:
                break
        else:
            return
        where = f" with {', '.join(f'{name} = {value}' for name, value in values.items())}"
    for path in RAYS:
        for node in special.nodes:
            own_path = {name: path[name] for name in path if name in names(node)}
            for start, step, why in infinitely_many_values(node, own_path):
                places = {name: (first + by * start, by * step) for name, (first, by) in path.items()}
                what = why.replace("the entry", "a component of the entry", 1) if formula.shape else why
                yield f"infinitely many values: {_place_text(places, formula)}{where} {what}"


def _place_text(places: Mapping[str, tuple[int, int]], formula: Formula) -> str:
    """Pairs of a line, each position with its start and step, in words."""

    def position(name: str) -> str:
        first, by = places[name]
        return (
            f"{name} = {first}" if not by else f"{name} = {'' if by == 1 else by}s" + (f" + {first}" if first else "")
        )

    names = [name for name in ("i", "j", "n") if name != "n" or "n" in formula.variables]
    return "at " + ", ".join(map(position, names)) + " (s = 0, 1, ...)"


def _growth_by_range(formula: Formula, lrc_profile: LrcProfile, repeating: Repeats | None) -> Growth:
    """Growth from a finite set that holds every value; exact if every value in the set occurs."""
    low, high = lrc_profile.bounds(lrc_profile.scale)
    ranges = [finite_range(node, formula.parameters) for node in formula.nodes]
    sets = [values for values in ranges if values is not None]
    if len(sets) == len(ranges) and prod(map(len, sets)) <= MOST:
        upper_bound = prod(map(len, sets)) - all(0 in values for values in sets)
        reason = f"finite range: at most {upper_bound} non-zero values are possible"
    elif repeating:
        positions = 1 if repeating.by_position else 3 if "n" in formula.variables else 2
        upper_bound = comb(repeating.enough + positions - 1, positions)
        reason = (
            f"{_period_reason(formula, repeating)}, so scale {repeating.enough}, too large to count, shows every value"
        )
    else:
        return undecided(low, f"no proof either way; counted up to scale {lrc_profile.scale}")
    if low == high == upper_bound:
        return _growth_of_profile(lrc_profile, f"{reason}, and all of them occur")
    return Growth(
        kind=GrowthKind.EVENTUALLY_CONSTANT,
        low=low,
        high=upper_bound,
        from_scale=None,
        reason=f"{reason}; {high} occur up to scale {lrc_profile.scale}",
        strength="general",
    )


def definedness(formula: Formula) -> Definedness:
    """Decide whether the formula has a value at every pair of every scale."""
    family = "n" in formula.variables
    listed = list(dict.fromkeys(islice(chain.from_iterable(map(violations, formula.nodes)), MOST_CONDITIONS + 1)))
    conditions = [condition for condition in listed if not never_holds(condition, family=family)]
    undecided = len(listed) > MOST_CONDITIONS
    cells: list[Cell] = []
    for condition in conditions:
        first_cells = _first_cell(condition, family)
        if first_cells is None:
            undecided = True
        else:
            cells += first_cells
    cell = min(cells, key=lambda candidate: candidate[-1], default=None)
    if not undecided and cell is None:
        return Definedness(everywhere=True)
    if undecided:
        farthest = _largest_scale(formula) if cell is None else min(_largest_scale(formula), cell[-1] - 1)
        looked_at, error_found = _test_all_pairs(formula, farthest)
        if error_found is not None:
            return Definedness(everywhere=False, cell=error_found.cell, looked_at=looked_at, why=str(error_found))
        if cell is None:
            return Definedness(everywhere=None, looked_at=looked_at)
        undecided = looked_at < cell[-1] - 1
    assert cell is not None
    try:
        formula.value(*cell)
    except FormulaError as error:
        return Definedness(everywhere=False, cell=cell, first=not undecided, why=str(error))
    raise AssertionError(f"{formula.text} has a value at {cell}")


def _first_cell(condition: Node, family: bool) -> list[Cell] | None:
    """First cell at which a condition holds, as a list; empty if it never holds, None if undecided."""
    if names(condition) - {"i", "j", "n"}:
        return None  # a condition on parameters is not decided here
    variables = dependence(condition)
    if not variables:
        return _first_that_holds([(1, 1, 1)[: 3 if family else 2]], condition)
    if len(variables) == 1:
        cells = _first_cell_on_path(condition, PATH_OF[next(iter(variables))], family)
        if cells is not None:
            return cells
    linear = _linear_witness(condition, family)
    if linear is not None:
        return linear
    first = presburger.first_pair(condition, family=family)
    if first is not None:
        return first
    period = repeats((condition,), {})
    largest = FARTHEST_FAMILY if family else FARTHEST
    return _first_cell_by_search(condition, period.enough, family) if period and period.enough <= largest else None


def _first_cell_on_path(condition: Node, path: Mapping[str, tuple[int, int]], family: bool) -> list[Cell] | None:
    """First cell at which a condition on one position or one difference holds; same result type as `_first_cell`."""
    positions = {name: path[name] for name in path if family or name != "n"}
    course = follow_path((condition,), positions, {})
    limit = MOST_SINGLE_EXACT if may_be_irrational(condition) else MOST_SINGLE
    if course is None or not course.constant or len(course.singles) > limit:
        return None
    starts = [piece.start for piece in course.pieces if piece.components[0] != 0]
    earlier = [step for step in course.singles if step < min(starts, default=step + 1)]
    steps = [*earlier, *([min(starts)] if starts else [])]
    return _first_that_holds(
        (tuple(first + by * step for first, by in positions.values()) for step in steps), condition
    )


def _linear_witness(condition: Node, family: bool) -> list[Cell] | None:
    """Cells that include the first at which linear inequalities hold; empty if none, None if undecided."""
    inequalities = cases_of(condition)
    if not inequalities.exact:
        return None
    witnesses = []
    for case in inequalities.cases:
        point = next(points(case, family=family), ())
        if point is None:
            return None
        if point:
            witnesses.append(point)
    return witnesses


def _first_that_holds(cells: Iterable[Cell], condition: Node) -> list[Cell] | None:
    """First of the given cells at which the condition holds; same result type as `_first_cell`."""
    try:
        return list(islice((cell for cell in cells if _holds(condition, cell)), 1))
    except FormulaError:
        return None


def _holds(condition: Node, cell: Cell) -> bool:
    """True if the condition holds at the cell, or has no value there."""
    try:
        return exact.holds(exact.evaluate(condition, dict(zip("ijn", cell, strict=False))))
    except NoValue:
        return True  # a part of the condition has no value itself


def _first_cell_by_search(condition: Node, scale: int, family: bool) -> list[Cell] | None:
    """First cell up to a scale at which the condition holds; same result type as `_first_cell`."""
    for size in range(1, scale + 1):
        cells = _new_cells(size, family)
        try:
            truth = numbering.evaluate(condition, cells, {})
        except FormulaError:
            return None
        holds = np.flatnonzero(np.array([value != 0 for value in truth.values])[truth.codes])
        if holds.size:
            return [tuple(int(positions[holds[0]]) for positions in cells.values())]
    return []


def _new_cells(scale: int, family: bool) -> dict[str, NDArray[np.int64]]:
    """Cells of a scale that smaller scales do not have: those of its last query, or for a family all its pairs."""
    if not family:
        return {"i": np.arange(1, scale + 1), "j": np.full(scale, scale)}
    queries, keys = np.tril_indices(scale)
    return {"i": keys + 1, "j": queries + 1, "n": np.full(len(keys), scale)}


def _largest_scale(formula: Formula) -> int:
    """Scale up to which every pair of the formula is tested."""
    if "n" in formula.variables:
        return FARTHEST_EXACT_FAMILY if formula.exact_only else FARTHEST_FAMILY
    return FARTHEST_EXACT if formula.exact_only else FARTHEST


def _test_all_pairs(formula: Formula, farthest: int) -> tuple[int, NoValue | None]:
    """Test every pair, scale by scale: the largest scale that could be tested, and the first error."""
    for scale in range(1, farthest + 1):
        try:
            formula.entries(*_new_cells(scale, "n" in formula.variables).values())
        except NoValue as error:
            return scale, error
        except FormulaError:  # a value too large, or one that is not decided
            return scale - 1, None
    return farthest, None
