"""Growth of LRC within eps over all scales: how many parameters does a formula need if each entry may be wrong by eps?

LRC within eps never falls as the scale grows, as entries only join. It stays bounded where LRC does, and where LRC is
unbounded only because entries approach a limit. A formula of one position, or of the distance, is followed until its
values are monotone. From some step on they all lie between a value and the limit; with eps above 0 this tail shares
few parameters. The tail and all entries before it give an upper bound, the entries alone a lower bound, and where both
meet, the number is exact at every later scale. A formula of both positions is bounded where a range holds its values.
All of it is [F].
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, isinf

from lengthgen.theory.formula import Formula, FormulaError
from lengthgen.theory.formula.asymptotics import Expression, S, direction, limit
from lengthgen.theory.formula.exact import plain
from lengthgen.theory.formula.progressions import PATHS, Course, Piece, follow_path
from lengthgen.theory.formula.ranges import bounds
from lengthgen.theory.formula.structure import structure
from lengthgen.theory.formula.tails import grows_without_end
from lengthgen.theory.growth import LOOKED_AT, RAYS, Growth, GrowthKind, definedness, growth, listed_scale, undecided
from lengthgen.theory.lrc import entries_by_first_scale
from lengthgen.theory.lrc_within import Enclosure, bounds_within, enclosed, fewest_intervals, require_numbers
from lengthgen.theory.pattern import Pattern, PatternError

LAST_STEP = 8_192
"""Largest scale whose entries are listed, to reach tails that are short."""
FEW_STEPS = 256
"""Scale whose entries are listed where no tail becomes short in reach."""
_SHIFTS = (0, 1, 2, 4, 8, 16, 32, 64)
_BITS = 192


def growth_within(pattern: Pattern, epsilon: Fraction) -> Growth | None:
    """Growth of LRC within epsilon; None for a pattern without a formula, which is known at single scales only.

    Args:
        pattern: a pattern of numbers.
        epsilon: largest error of an entry, at least 0; at 0 the growth of LRC itself.

    Raises:
        PatternError: entries are matrices or have free parameters.
        ValueError: epsilon is negative.
    """
    require_numbers(pattern, epsilon)
    formula = pattern.formula
    if formula and formula.names & {*formula.parameters}:
        raise PatternError(f"pattern '{pattern.name:.60}' has free parameters: LRC within eps needs numbers")
    exact = growth(pattern)
    if exact is None or formula is None or not epsilon or exact.kind is GrowthKind.UNDEFINED:
        return exact
    try:
        return _growth_within(pattern, formula, epsilon, exact)
    except FormulaError as error:
        return undecided(0, f"not every entry can be computed: {error}")


def _growth_within(pattern: Pattern, formula: Formula, epsilon: Fraction, exact: Growth) -> Growth:
    if exact.from_scale is not None:
        low, high = bounds_within(pattern, epsilon, [exact.from_scale])[exact.from_scale]
        return _bounded(pattern, epsilon, low, high, exact.from_scale, f"scale {exact.from_scale} shows every value")
    unbounded = next(_infinite_limits(formula), None)
    if unbounded:
        low, _ = bounds_within(pattern, epsilon, [LOOKED_AT // 2])[LOOKED_AT // 2]
        return Growth(
            kind=GrowthKind.UNBOUNDED, low=low, high=None, from_scale=None, reason=unbounded, strength="general"
        )
    path = PATHS.get(structure(formula))
    course = follow_path(formula.nodes, path, {}) if path else None
    tails = _tails(course) if course else None
    if tails and definedness(formula).everywhere:
        return _by_tails(pattern, epsilon, tails)
    return _by_range(pattern, formula, epsilon, exact)


def _bounded(pattern: Pattern, epsilon: Fraction, low: int, high: int, scale: int, reason: str) -> Growth:
    """Growth that ends; where the bounds meet they are attained at the scale, and the first such scale is searched."""
    first = None
    if low == high:
        least, first = 0, scale
        while least + 1 < first:
            middle = (least + first) // 2
            if bounds_within(pattern, epsilon, [middle])[middle][0] == low:
                first = middle
            else:
                least = middle
    return Growth(
        kind=GrowthKind.CONSTANT if first == 1 else GrowthKind.EVENTUALLY_CONSTANT,
        low=low,
        high=high,
        from_scale=first,
        reason=reason,
        strength="general",
    )


def _infinite_limits(formula: Formula) -> Iterator[str]:
    """Yield reasons why the entries are unbounded: a path on which they grow without end."""
    for path in (*PATHS.values(), *RAYS):
        if not formula.variables <= path.keys():
            continue
        [node] = formula.nodes
        for why in grows_without_end(node, {name: path[name] for name in formula.variables}):
            yield f"unbounded entries: along a path of pairs {why}"


def _tails(course: Course) -> list[tuple[Piece, int, Expression]] | None:
    """Return each piece that is not constant, a step from which it is monotone, and its limit.

    None if some piece is not proved to become monotone and to have a finite limit.
    """
    tails = []
    for piece in course.pieces:
        [entry] = piece.components
        if S not in entry.free_symbols:
            continue
        end = limit(entry, S)
        shift = next((each for each in _SHIFTS if direction(entry.subs(S, S + each))), None)
        if end is None or shift is None or not end.is_finite:
            return None
        tails.append((piece, shift, end))
    return tails


def _by_tails(pattern: Pattern, epsilon: Fraction, tails: Sequence[tuple[Piece, int, Expression]]) -> Growth:
    """Growth of a formula of one position or of the distance, whose values end in monotone tails with limits."""
    ends = ", ".join(dict.fromkeys(str(end) for *_, end in tails))
    first = max([8, *(piece.start + piece.step * (shift + 1) + 1 for piece, shift, _ in tails)])
    scale = first
    while _longest(_hulls(tails, scale)) > 2 * epsilon and scale < LAST_STEP:
        scale *= 2
    if _longest(_hulls(tails, scale)) > 2 * epsilon:
        scale = max(first, FEW_STEPS)  # no scale in reach decides; a few entries give some lower bound
    while True:
        entries = [enclosed(value, _BITS) for value in entries_by_first_scale(pattern, scale)]
        hulls = _hulls(tails, scale)
        low, _ = fewest_intervals(entries, epsilon)
        _, high = fewest_intervals([*entries, *_cut(hulls, 2 * epsilon)], epsilon)
        if low == high:
            reason = (
                f"from scale {scale} on every further entry lies between an entry and the limit {ends}, which it "
                "approaches monotonically, and needs no parameter of its own"
            )
            return _bounded(pattern, epsilon, low, high, scale, reason)
        if _longest(hulls) > 2 * epsilon or 2 * scale > LAST_STEP:
            reason = f"the entries approach {ends} monotonically; {low} parameters are needed up to scale {scale}"
            return _bounded(pattern, epsilon, low, high, scale, reason)
        scale *= 2


def _hulls(tails: Sequence[tuple[Piece, int, Expression]], scale: int) -> list[Enclosure]:
    """Return for each tail an interval that holds all its entries that no pair of a smaller or equal scale has.

    Step t of a path shows the entries of scale t + 1.
    """
    hulls = []
    for piece, _, end in tails:
        step = -(-(scale - piece.start) // piece.step)
        numbers = [enclosed(plain(number), _BITS) for number in (piece.components[0].subs(S, step), end)]
        ends = [number for number in numbers if isinstance(number, Enclosure)]
        hulls.append(Enclosure(min(number.low for number in ends), max(number.high for number in ends)))
    return hulls


def _longest(intervals: Sequence[Enclosure]) -> Fraction:
    """Return the greatest length of the intervals."""
    return max(interval.high - interval.low for interval in intervals)


def _cut(intervals: Sequence[Enclosure], length: Fraction) -> Iterator[Enclosure]:
    """Yield the intervals in pieces of at most a length."""
    for low, high in intervals:
        count = max(1, ceil((high - low) / length))
        cuts = [low + (high - low) * number / count for number in range(count + 1)]
        yield from map(Enclosure, cuts, cuts[1:])


def _by_range(pattern: Pattern, formula: Formula, epsilon: Fraction, exact: Growth) -> Growth:
    """Growth from a range that holds every value; exact if the values up to LOOKED_AT need as many parameters."""
    scale = listed_scale(pattern)
    low, high = bounds_within(pattern, epsilon, [scale])[scale]
    [node] = formula.nodes
    least, most = bounds(node)
    if isinf(least) or isinf(most) or not definedness(formula).everywhere:
        return undecided(low, f"no proof either way; counted up to scale {scale}. LRC: {exact.reason}")
    most_needed = sum(max(0, ceil((end - epsilon) / (2 * epsilon))) for end in (Fraction(most), -Fraction(least)))
    reason = f"every entry lies in {least} .. {most}; {low} are needed up to scale {scale}"
    high = most_needed if exact.high is None else min(most_needed, exact.high)
    return _bounded(pattern, epsilon, low, high, scale, reason)
