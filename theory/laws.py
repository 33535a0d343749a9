"""Which laws an encoding keeps, decided from its formulas.

A law that holds is decided exactly: the difference that it forbids is zero identically.  A law that fails comes with a
counterexample: positions and values of parameters at which the difference is visibly not zero.

A shift of positions takes the tokens along.  What an encoding makes of tokens, such as the gate of each, so moves with
them: the member at l + s of the shifted sequence is the member at l of the sequence before.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy as sp
from sympy.core.function import AppliedUndef

from theory import exact, points, second_engine, twice
from theory.encodings.encoding import KEY, LENGTH, QUERY, Encoding, Family, Law, Recovery

KEY_POSITION, DISTANCE, OTHER_DISTANCE, SHIFT = sp.symbols("i D D_ s", integer=True, nonnegative=True)
MORE_LENGTH = sp.Symbol("n_", integer=True, positive=True)
OTHER_KEY = sp.ImmutableMatrix(sp.symbols("k1_ k2_", real=True))

_DIGITS = 30
_VISIBLE = sp.Rational(1, 10**9)
_FIRST_TRIALS, _TRIALS = 2, 60


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """Whether a law holds; None where neither a proof nor a counterexample was found.  `reason` says why."""

    holds: bool | None
    reason: str


def rule(encoding: Encoding, law: Law) -> Ruling:
    """Whether the encoding keeps the law.  The law of translation follows from the relative one."""
    if law is Law.TRANSLATION and rule(encoding, Law.RELATIVE).holds:
        return Ruling(holds=True, reason="the relative law holds, so all keys of a query move alike")
    forbidden, change = _FORBIDDEN[law]
    return vanishes(*forbidden(encoding), change=change)


def vanishes(*differences: sp.Expr, change: str) -> Ruling:
    """Whether all expressions in positions, content and parameters are identically zero; `change` names what is not."""
    for difference in differences:
        # Most differences that are not zero show it at once, and long before a proof that they are has failed.
        found = _counterexample(difference, change, _FIRST_TRIALS)
        if not found and not _is_zero(difference):
            found = _counterexample(difference, change, _TRIALS) or Ruling(holds=None, reason="not decided")
        if found:
            return found
    return Ruling(holds=True, reason="the difference is identically zero")


def relative_within(encoding: Encoding) -> bool:
    """Whether the relative law holds as long as no position passes what it is compared with: max(j, L) = L."""
    (difference,) = _relative(encoding)
    within = _compared(difference, {DISTANCE, SHIFT})
    return bool(within) and _is_zero(difference.xreplace(within))


def _compared(expression: sp.Expr, positions: set[sp.Symbol]) -> dict[sp.Max, sp.Expr]:
    """Every maximum of something with a position or the length, as the something."""
    return {
        one: sp.Max(*(part for part in one.args if not part.free_symbols & positions))
        for one in expression.atoms(sp.Max)
        if one.free_symbols & positions
    }


def recovered(encoding: Encoding, other: Encoding, recovery: Recovery) -> Ruling:
    """Whether the encoding, with its parameters so assigned, scores as the other does."""
    query = KEY_POSITION + DISTANCE
    score = assigned(_score(encoding, KEY_POSITION, DISTANCE), recovery)
    special = other.score(query_position=query, key_position=KEY_POSITION).subs(dict(recovery.at))
    difference = score - special
    if recovery.within:
        difference = difference.xreplace(_compared(difference, {KEY_POSITION, DISTANCE, LENGTH}))
    return vanishes(difference, change="the scores differ")


def assigned(expression: sp.Expr, recovery: Recovery) -> sp.Expr:
    """The expression with a recovery's values for its parameters."""
    for parameter, value in recovery.assignment.items():
        if isinstance(parameter, sp.IndexedBase):
            members = [one for one in expression.atoms(sp.Indexed) if one.base == parameter]
            expression = expression.xreplace(dict.fromkeys(members, value)).doit()
        elif isinstance(parameter, sp.Symbol):
            expression = expression.subs(parameter, value)
        else:
            expression = expression.replace(parameter, value)
    return expression


def _relative(encoding: Encoding) -> tuple[sp.Expr, ...]:
    """The change of a score by a shift: its query and key stay what they are, other tokens are others."""
    shifted = _carried(_score(encoding, SHIFT, DISTANCE), encoding, {Family.CONTENT})
    return (shifted - _score(encoding, sp.Integer(0), DISTANCE),)


def _translation(encoding: Encoding) -> tuple[sp.Expr, ...]:
    """The change of one key's score by a shift of all tokens, less that of another key of the same query."""
    query = KEY_POSITION + DISTANCE + OTHER_DISTANCE
    changes = []
    for distance, key in ((DISTANCE, KEY), (OTHER_DISTANCE, OTHER_KEY)):
        shifted = _score(encoding, query - distance + SHIFT, distance, key)
        shifted = _carried(shifted, encoding, {Family.CONTENT, Family.TOKENS})
        changes.append(shifted - _score(encoding, query - distance, distance, key))
    return (changes[0] - changes[1],)


def _carried(expression: sp.Expr, encoding: Encoding, families: set[Family]) -> sp.Expr:
    """The expression with the members of these families named by where they were before a shift by `SHIFT`."""
    moving = {one.symbol for one in encoding.parameters if one.family in families}
    members = [member for member in expression.atoms(sp.Indexed) if member.base in moving]
    return expression.xreplace({one: one.base[tuple(index - SHIFT for index in one.indices)] for one in members})


def _norm(encoding: Encoding) -> tuple[sp.Expr, ...]:
    position = KEY_POSITION
    added = encoding.embed(position) if encoding.embed else sp.zeros(2, 1)
    actions = encoding.rotate(position, LENGTH) if encoding.rotate else (sp.eye(2), sp.eye(2))
    return tuple(
        (action * (content + added)).dot(action * (content + added)) - content.dot(content)
        for action, content in zip(actions, (QUERY, KEY), strict=True)
    )


def _streaming(encoding: Encoding) -> tuple[sp.Expr, ...]:
    """Scores at two lengths, both beyond the query."""
    scores = [
        encoding.score(
            query_position=KEY_POSITION + DISTANCE,
            key_position=KEY_POSITION,
            length=KEY_POSITION + DISTANCE + 1 + more,
        )
        for more in (SHIFT, SHIFT + MORE_LENGTH)
    ]
    return (scores[1] - scores[0],)


_FORBIDDEN: Mapping[Law, tuple[Callable[[Encoding], tuple[sp.Expr, ...]], str]] = {
    Law.RELATIVE: (_relative, "a shift of key 0 and query D by s changes the score"),
    Law.TRANSLATION: (_translation, "a shift by s parts the scores of keys at distances D and D_"),
    Law.NORM: (_norm, "the squared norm changes"),
    Law.STREAMING: (_streaming, "a longer sequence changes the score"),
}


def _score(encoding: Encoding, key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix = KEY) -> sp.Expr:
    return encoding.score(QUERY, key, query_position=key_position + distance, key_position=key_position)


def _is_zero(difference: sp.Expr) -> bool:
    """Whether it is proved zero; functions, members of families and at last reciprocals stand as unrelated symbols."""
    opaque = (sp.Indexed, sp.Sum, sp.Product, AppliedUndef, sp.Max, sp.Min, sp.Abs, sp.floor, sp.log, sp.Piecewise)
    plain = difference.xreplace({one: _telescoped(one) for one in difference.atoms(sp.Sum)})
    for kind in opaque:
        plain = plain.xreplace({part: sp.Dummy() for part in plain.atoms(kind)})
    powers = {part: sp.Dummy() for part in plain.atoms(sp.Pow) if not (part.exp.is_Integer and part.exp > 0)}
    for named in (plain, plain.xreplace(powers)):
        try:
            return twice.decide(named)[0].zero
        except (exact.Undecided, second_engine.Undecided, ZeroDivisionError):
            continue
    return False


def _telescoped(path: sp.Sum) -> sp.Expr:
    """A sum over the members of a family as the difference of two values of one function, that of running sums."""
    (step, first, last), *others = path.limits
    members = [one for one in path.function.atoms(sp.Indexed) if step in one.free_symbols]
    if others or not members:
        return path
    # Where members are named by their places before a shift, the sum is one over these places.
    (moved, *_) = (index - step for index in members[0].indices if step in index.free_symbols)
    if step in moved.free_symbols:
        return path
    running = sp.Function("running")
    summand = path.function.xreplace({step: step - moved})
    return running(summand, last + moved + 1) - running(summand, first + moved)


def _counterexample(difference: sp.Expr, change: str, trials: int) -> Ruling | None:
    if difference == 0:
        return None
    for point in points.spread(difference, count=trials):
        value = sp.N(points.at(difference, point), _DIGITS)
        if value.is_Number and value.is_finite and abs(value) > _VISIBLE:
            place = ", ".join(f"{symbol} = {point[symbol]}" for symbol in sorted(point, key=str))
            return Ruling(holds=False, reason=f"{change} by {sp.N(value, 6)} at {place}")
    return None
