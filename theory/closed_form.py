"""LRC of a formula at all scales at once: from some scale on it grows by the same number every so many scales.

If a formula is one of Presburger arithmetic (`lengthgen.theory.formula.presburger`), the first scale that shows a value
is a quasi-affine function of the value.  Far out its differences repeat: the value v + m comes some number q of scales
after v, where q depends on v modulo m.  isl proves this for all values; so in the least common multiple of all q scales
there are always equally many new values.  The scales before are counted.  All of it is [F].
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import islpy as isl

from lengthgen.theory.formula import presburger
from lengthgen.theory.pattern import Pattern, PatternError

MOST_PERIOD = 20_000
"""Largest period of values, and of scales, of a closed form."""
MOST_COUNTED = 100_000
"""Largest number of values that are counted one by one."""
_MOST_SHOWN = 8
"""Latest start before which each LRC is written."""


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """LRC at every scale.

    Attributes:
        counted: LRC at the scales 1, 2, ..., start + period - 1.
        start: the first scale n from which on LRC(n + period) = LRC(n) + new.
        period: number of scales.
        new: number of values that are new in each period; 0 if LRC is constant from the start on.
    """

    counted: tuple[int, ...]
    start: int
    period: int
    new: int

    def at(self, scale: int) -> int:
        """LRC at a scale, which may be as large as you like. Raises `PatternError` if it is below 1."""
        if scale < 1:
            raise PatternError(f"scale {scale} is too small: scales begin at 1")
        periods = max(0, (scale - self.start) // self.period)
        return self.counted[scale - periods * self.period - 1] + periods * self.new

    def __str__(self) -> str:
        since = "at every scale n" if self.start == 1 else f"from scale {self.start} on"
        if 1 < self.start <= _MOST_SHOWN:
            since += f"; before {', '.join(map(str, self.counted[: self.start - 1]))}"
        if not self.new:
            return f"LRC(n) = {self.counted[self.start - 1]} {since}"
        slope = Fraction(self.new, self.period)
        late = range(self.start, self.start + self.period)
        offset = max(self.at(scale) * slope.denominator - slope.numerator * scale for scale in late)
        if any(self.at(n) != (slope.numerator * n + offset) // slope.denominator for n in late):
            return f"LRC(n + {self.period}) = LRC(n) + {self.new} {since}"
        multiple = "n" if slope.numerator == 1 else f"{slope.numerator}n"
        above = multiple if not offset else f"{multiple} {'-' if offset < 0 else '+'} {abs(offset)}"
        if slope.denominator == 1:
            return f"LRC(n) = {above} {since}"
        return f"LRC(n) = floor({f'({above})' if offset else above} / {slope.denominator}) {since}"


def closed_form(pattern: Pattern) -> ClosedForm | None:
    """LRC of a pattern at every scale; None if its formula is not recognised as Presburger, or takes too long.

    >>> from lengthgen import pattern_from_formula
    >>> str(closed_form(pattern_from_formula("(j - i) // 3")))
    'LRC(n) = floor((n - 1) / 3) at every scale n'
    """
    if pattern.formula is None or pattern.shape:
        return None
    scale_of = presburger.first_scales(pattern.formula)
    try:
        return None if scale_of is None else _closed_form(scale_of)
    except (presburger.NotPresburger, isl.Error):
        return None


@dataclass(frozen=True)
class _Side:
    """First scales of the values above some value, or below its negative.

    Attributes:
        beyond: the values beyond this one repeat: v + period first occurs a number of scales after v.
        period: period of the values.
        delays: this number for each value of one period.
    """

    beyond: int
    period: int
    delays: tuple[int, ...]


def _closed_form(scale_of: isl.PwAff) -> ClosedForm:
    """Closed form from the first scale of each value other than 0."""
    sides = _side(scale_of), _side(scale_of.pullback_multi_aff(_shift(scale_of, "-v")))
    near = max(side.beyond + side.period for side in sides)
    box = isl.Set(f"{{[v]: -{near} <= v <= {near}}}", context=scale_of.get_ctx())
    period = lcm(*(delay for side in sides for delay in side.delays))
    new = sum(period // delay for side in sides for delay in side.delays)
    around = isl.Map.from_pw_aff(scale_of.intersect_domain(box)).range()
    late = 1 if around.is_empty() else presburger.from_isl(around.dim_max_val(0))
    if max(period, late) > MOST_COUNTED:
        raise presburger.NotPresburger
    firsts = _first_scales(scale_of, late + period)
    counted = [bisect_right(firsts, scale) for scale in range(1, late + period + 1)]
    return _shortest(counted, late, period, new)


def _shortest(counted: Sequence[int], late: int, period: int, new: int) -> ClosedForm:
    """Closed form with the least period and start, where LRC(n + period) = LRC(n) + new from the scale `late` on."""
    rises = [after - before for before, after in pairwise(counted[late - 1 :])]
    shortest = next(
        length
        for length in range(1, period + 1)
        if not period % length and not new * length % period and _repeats(rises, length, new * length // period)
    )
    new = new * shortest // period
    start = late
    while start > 1 and counted[start - 2 + shortest] == counted[start - 2] + new:
        start -= 1
    return ClosedForm(counted=tuple(counted[: start + shortest - 1]), start=start, period=shortest, new=new)


def _repeats(rises: Sequence[int], length: int, total: int) -> bool:
    """True if the rises of one period repeat after a shorter one, with so many in all."""
    cyclic = [*rises, *rises]
    return sum(rises[:length]) == total and all(cyclic[at] == cyclic[at + length] for at in range(len(rises)))


def _first_scales(scale_of: isl.PwAff, last: int) -> list[int]:
    """First scales up to a last one of all values, in order."""
    bound = isl.PwAff.val_on_domain(scale_of.domain(), presburger.to_isl(scale_of, last))
    values = scale_of.le_set(bound)
    if presburger.from_isl(values.count_val()) > MOST_COUNTED:
        raise presburger.NotPresburger
    points: list[isl.Point] = []
    values.foreach_point(points.append)
    return sorted(presburger.from_isl(scale_of.eval(point)) for point in points)


def _side(scale_of: isl.PwAff) -> _Side:
    """Side of the large values. Raises `NotPresburger` if no period is found."""
    if presburger.is_finite_above(scale_of.domain()):
        largest = 0 if scale_of.domain().is_empty() else presburger.from_isl(scale_of.domain().dim_max_val(0))
        return _Side(max(0, largest), 0, ())
    period = _modulus(scale_of)
    if period > MOST_PERIOD:
        raise presburger.NotPresburger
    later = scale_of.pullback_multi_aff(_shift(scale_of, f"v + {period}"))
    delay = later.sub(scale_of)
    again = delay.pullback_multi_aff(_shift(scale_of, f"v + {period}"))
    for beyond in (0, *(10**power for power in range(1, 8))):
        tail = isl.Set(f"{{[v]: v > {beyond}}}", context=scale_of.get_ctx())
        values = scale_of.domain().intersect(tail)
        repeating = delay.domain().intersect(tail).intersect(again.domain())
        if not (values.is_equal(repeating) and later.domain().intersect(tail).is_equal(values)):
            continue
        if not values.is_subset(delay.eq_set(again)):
            continue
        block = isl.Set(f"{{[v]: {beyond} < v <= {beyond + period}}}", context=scale_of.get_ctx())
        classes = presburger.values_taken(delay.intersect_domain(block)) or []
        delays = [each for each, where in classes for _ in range(presburger.from_isl(where.count_val()))]
        if delays and min(delays) > 0:
            return _Side(beyond, period, tuple(delays))
    raise presburger.NotPresburger


def _shift(scale_of: isl.PwAff, text: str) -> isl.MultiAff:
    return isl.MultiAff(f"{{[v] -> [{text}]}}", context=scale_of.get_ctx())


def _modulus(scale_of: isl.PwAff) -> int:
    """Common multiple of all numbers by which a function of one integer divides."""
    numbers = []
    for where, form in scale_of.get_pieces():
        numbers.append(form.get_denominator_val())
        parts: list[isl.Aff | isl.BasicSet] = [form, *where.compute_divs().get_basic_sets()]
        for part in parts:
            numbers += [part.get_div(place).get_denominator_val() for place in range(part.dim(isl.dim_type.div))]
    return lcm(*map(presburger.from_isl, numbers))
