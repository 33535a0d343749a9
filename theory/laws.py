"""Laws of encodings (relative, translation, norm, streaming, relabelling), decided from the encoding's formulas.

A law that holds is proved in one of two ways. Either the form of the formulas implies it, because they lack the
quantity in question. Or both engines prove that the scores that the law compares are identical; each engine evaluates
the unevaluated scores itself. A law that fails comes with a counterexample: positions and parameter values at which the
scores clearly differ. The sides that each law compares are in theory/law_sides.py.
"""

from dataclasses import dataclass
from functools import cache

import sympy as sp

from lengthgen.theory import exact, points, second_engine, twice
from lengthgen.theory.encodings.encoding import KEY, LENGTH, Encoding, Law, Normaliser, Recovery
from lengthgen.theory.law_sides import (
    DISTANCE,
    KEY_POSITION,
    OTHER_DISTANCE,
    OTHER_KEY,
    SHIFT,
    Pair,
    Side,
    compared,
    kept_by_form,
    relative_sides,
    score_at,
)
from lengthgen.theory.written import written

_DIGITS = 30
_VISIBLE = sp.Rational(1, 10**9)
_FIRST_TRIALS, _TRIALS = 2, 60


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """Decision on a law.

    Attributes:
        holds: True if proved, False if refuted, None if neither a proof nor a counterexample was found.
        reason: why, in words.
    """

    holds: bool | None
    reason: str


@twice.remembered
def decide_law(encoding: Encoding, law: Law) -> Ruling:
    """Decide once a process whether the encoding keeps the law. The translation law follows from the relative law."""
    if law is Law.TRANSLATION and decide_law(encoding, Law.RELATIVE).holds:
        return Ruling(holds=True, reason="the relative law holds, and it implies the translation law")
    by_form = kept_by_form(encoding, law)
    if by_form:
        return Ruling(holds=True, reason=by_form)
    pairs, change = compared(encoding, law)
    return _identical(*pairs, change=change)


def _identical(*pairs: Pair, change: str) -> Ruling:
    """Decide whether the sides of all pairs are identical in positions, content and parameters.

    `change` says, for the reason of a refutation, what differs.
    """
    reasons = []
    for left, right in pairs:
        difference = (left() - right()).doit()
        # Most non-zero differences show it at the first points, long before a proof of zero would fail.
        counterexample = _counterexample(difference, change, _FIRST_TRIALS)
        if not counterexample:
            reason = _proved(left, right)
            if reason:
                reasons.append(reason)
                continue
            counterexample = _counterexample(difference, change, _TRIALS)
        return counterexample or Ruling(holds=None, reason="not decided")
    return Ruling(holds=True, reason="; ".join(dict.fromkeys(reasons)))


def relative_within(encoding: Encoding) -> bool:
    """True if the relative law holds while no position exceeds the trained length L: max(j, L) = L."""
    ((left, right),) = relative_sides(encoding)
    positions = {DISTANCE, SHIFT}
    if not _reduced_maxima(left() - right(), positions):
        return False
    return bool(_proved(*(_without_maxima(side, positions) for side in (left, right))))


def _without_maxima(side: Side, positions: set[sp.Symbol]) -> Side:
    """Side of an identity for positions that never exceed the other arguments of a maximum."""

    def build() -> sp.Expr:
        expression = side()
        return expression.xreplace(_reduced_maxima(expression, positions))

    return build


def _reduced_maxima(expression: sp.Expr, positions: set[sp.Symbol]) -> dict[sp.Max, sp.Expr]:
    """Maxima that contain a position or the length, each with its value without these arguments."""
    with sp.evaluate(True):
        values = {maximum: maximum.doit() for maximum in expression.atoms(sp.Max)}
        return {
            maximum: sp.Max(*(part for part in value.args if not part.free_symbols & positions))
            for maximum, value in values.items()
            if isinstance(value, sp.Max) and value.free_symbols & positions
        }


def decide_recovery(encoding: Encoding, other: Encoding, recovery: Recovery) -> Ruling:
    """Decide whether the encoding, with its parameters assigned by `recovery`, has the scores of the other encoding.

    Equal scores give equal weights only under one normaliser and one window, so these must be equal too. If only the
    weights are to be equal, the scores of two keys of one query are compared crosswise: a difference of the two
    encodings that all keys of the query share then cancels, under softmax.
    """
    if encoding.normaliser != other.normaliser:
        return Ruling(holds=False, reason=f"{encoding.normaliser} of the scores is not their {other.normaliser}")
    window = assigned(encoding.window, recovery)
    if window != other.window:
        return Ruling(holds=False, reason=f"a query sees {window} keys, not {other.window}")

    def score(key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        return assigned(score_at(encoding, key_position, distance, key), recovery)

    def special(key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        return score_at(other, key_position, distance, key).xreplace(dict(recovery.at))

    near = KEY_POSITION, DISTANCE, KEY
    sides: Pair = (lambda: score(*near), lambda: special(*near))
    change, positions = "the scores differ", {KEY_POSITION, DISTANCE, LENGTH}
    if recovery.weights_only and encoding.normaliser == Normaliser.SOFTMAX:
        near = KEY_POSITION + OTHER_DISTANCE, DISTANCE, KEY
        far = KEY_POSITION + DISTANCE, OTHER_DISTANCE, OTHER_KEY
        sides = (lambda: score(*near) + special(*far), lambda: score(*far) + special(*near))
        change, positions = (
            "the score differences of the keys at distances D and D_ differ",
            positions | {OTHER_DISTANCE},
        )
    if recovery.within:
        sides = (_without_maxima(sides[0], positions), _without_maxima(sides[1], positions))
    return _identical(sides, change=change)


def assigned(expression: sp.Expr, recovery: Recovery) -> sp.Expr:
    """Expression with a recovery's values for its parameters."""
    for parameter, value in recovery.assignment.items():
        if isinstance(parameter, sp.IndexedBase):
            members = [entry for entry in expression.atoms(sp.Indexed) if entry.base == parameter]
            expression = expression.xreplace({entry: _member(entry, value) for entry in members})
        elif isinstance(parameter, sp.Symbol) and value.is_infinite:
            with sp.evaluate(True):  # logarithms of the parameter must cancel before the infinite value is inserted
                expression = expression.doit().subs(parameter, value)
        elif isinstance(parameter, sp.Symbol):
            expression = expression.xreplace({parameter: value})
        else:
            expression = expression.replace(parameter, value)
    return expression


def _member(entry: sp.Indexed, value: sp.Expr) -> sp.Expr:
    """Value of one entry of a family: that of all entries, or a function of its indices."""
    return value(*entry.indices) if isinstance(value, sp.Lambda) else value


def _proved(left: Side, right: Side) -> str | None:
    """Reason why both sides are identical; None if that is not proved."""
    with sp.evaluate(False):
        sides = tuple(_with_running_sums(side()) for side in (left, right))
    # Second attempt: reciprocals become unrelated symbols, so that they may occur in angles and exponents.
    for trees in (sides, _with_named_reciprocals(sides)):
        try:
            if twice.decide(*written(trees).trees)[0].zero:
                return "both engines find the two sides identical"
        except twice.OneExpression:
            return "both sides are one expression after sympy evaluated the parts that the engines do not know"
        except (exact.Undecided, second_engine.SecondEngineUndecided, ZeroDivisionError):
            continue
    return None


def _with_named_reciprocals(sides: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    """Sides with a symbol for each reciprocal."""
    reciprocals = {part for side in sides for part in side.atoms(sp.Pow) if part.exp.doit().is_negative}
    values = {part: part.doit() for part in reciprocals}
    names = {value: sp.Dummy(str(value)) for value in values.values()}
    with sp.evaluate(False):
        return tuple(side.xreplace({part: names[value] for part, value in values.items()}) for side in sides)


def _with_running_sums(side: sp.Expr) -> sp.Expr:
    """Side with each sum replaced by a difference of running sums."""
    return side.xreplace({total: _telescoped(total) for total in side.atoms(sp.Sum)})


def _evaluated(total: sp.Sum) -> sp.Sum:
    """Sum with its limits and its summand evaluated, but not summed."""
    return sp.Sum(total.function.doit(), *(tuple(part.doit() for part in limit) for limit in total.limits))


def _telescoped(total: sp.Sum) -> sp.Expr:
    """Sum over entries of a family, as the difference of two values of one running-sum function."""
    with sp.evaluate(True):
        return _difference_of_running_sums(_evaluated(total))


def _difference_of_running_sums(total: sp.Sum) -> sp.Expr:
    """Difference of running sums that equals the sum; the sum itself if it has not the form for that."""
    (step, first, last), *others = total.limits
    members = [entry for entry in total.function.atoms(sp.Indexed) if step in entry.free_symbols]
    if others or not members:
        return total
    # If entries are indexed by their places before a shift, sum over these places.
    (offset, *_) = (index - step for index in members[0].indices if step in index.free_symbols)
    if step in offset.free_symbols:
        return total
    running = sp.Function("running")
    factor, summand = total.function.xreplace({step: step - offset}).as_independent(step)
    return factor * (running(summand, last + offset + 1) - running(summand, first + offset))


@cache
def _counterexample(difference: sp.Expr, change: str, trials: int) -> Ruling | None:
    """Refutation by a point at which the difference is clearly not zero; None if no tried point shows that."""
    if difference == 0:
        return None
    for point in points.sample_points(difference, count=trials):
        value = sp.N(points.value_at(difference, point), _DIGITS)
        if value.is_Number and value.is_finite and abs(value) > _VISIBLE:
            place = ", ".join(f"{symbol} = {point[symbol]}" for symbol in sorted(point, key=str))
            return Ruling(holds=False, reason=f"{change} by {sp.N(value, 6)} at {place}")
    return None
