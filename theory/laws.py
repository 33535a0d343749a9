"""Which laws an encoding keeps, decided from its formulas.

A law that holds follows from the form of the formulas, where they lack what it speaks of, or is decided exactly: the
scores that it compares are identical.  They are built as written, and each engine evaluates each of them for itself.  A
law that fails comes with a counterexample: positions and values of parameters at which they visibly differ.

A shift of positions takes the tokens along.  What an encoding makes of tokens, such as the gate of each, so moves with
them: the member at l + s of the shifted sequence is the member at l of the sequence before.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy as sp

from theory import exact, points, second_engine, twice
from theory.encodings.encoding import KEY, LENGTH, QUERY, Encoding, Family, Law, Recovery
from theory.written import written

Side = Callable[[], sp.Expr]
"""What builds a side: with sympy's evaluation on or off."""
Pair = tuple[Side, Side]
"""Two sides that are to be identical."""

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
    by_form = _BY_FORM[law](encoding) if law in _BY_FORM else None
    if by_form:
        return Ruling(holds=True, reason=by_form)
    compared, change = _COMPARED[law]
    return _identical(*compared(encoding), change=change)


def _identical(*pairs: Pair, change: str) -> Ruling:
    """Whether the sides of all pairs are identical in positions, content and parameters; `change` names what is not."""
    reasons = []
    for left, right in pairs:
        difference = (left() - right()).doit()
        # Most differences that are not zero show it at once, and long before a proof that they are has failed.
        found = _counterexample(difference, change, _FIRST_TRIALS)
        if not found:
            reason = _proved(left, right)
            if reason:
                reasons.append(reason)
                continue
            found = _counterexample(difference, change, _TRIALS)
        return found or Ruling(holds=None, reason="not decided")
    return Ruling(holds=True, reason="; ".join(dict.fromkeys(reasons)))


def relative_within(encoding: Encoding) -> bool:
    """Whether the relative law holds as long as no position passes what it is compared with: max(j, L) = L."""
    ((left, right),) = _relative(encoding)
    positions = {DISTANCE, SHIFT}
    if not _compared(left() - right(), positions):
        return False
    return bool(_proved(*(_within(side, positions) for side in (left, right))))


def _within(side: Side, positions: set[sp.Symbol]) -> Side:
    """The side where no position in it passes what it is compared with."""

    def build() -> sp.Expr:
        expression = side()
        return expression.xreplace(_compared(expression, positions))

    return build


def _compared(expression: sp.Expr, positions: set[sp.Symbol]) -> dict[sp.Max, sp.Expr]:
    """Every maximum of something with a position or the length, as the something."""
    with sp.evaluate(True):
        values = {one: one.doit() for one in expression.atoms(sp.Max)}
        return {
            one: sp.Max(*(part for part in value.args if not part.free_symbols & positions))
            for one, value in values.items()
            if isinstance(value, sp.Max) and value.free_symbols & positions
        }


def recovered(encoding: Encoding, other: Encoding, recovery: Recovery) -> Ruling:
    """Whether the encoding, with its parameters so assigned, scores as the other does."""

    def score() -> sp.Expr:
        return assigned(_score(encoding, KEY_POSITION, DISTANCE), recovery)

    def special() -> sp.Expr:
        query = KEY_POSITION + DISTANCE
        return other.score(query_position=query, key_position=KEY_POSITION).xreplace(dict(recovery.at))

    sides: Pair = (score, special)
    if recovery.within:
        positions = {KEY_POSITION, DISTANCE, LENGTH}
        sides = (_within(score, positions), _within(special, positions))
    return _identical(sides, change="the scores differ")


def assigned(expression: sp.Expr, recovery: Recovery) -> sp.Expr:
    """The expression with a recovery's values for its parameters."""
    for parameter, value in recovery.assignment.items():
        if isinstance(parameter, sp.IndexedBase):
            members = [one for one in expression.atoms(sp.Indexed) if one.base == parameter]
            expression = expression.xreplace(dict.fromkeys(members, value))
        elif isinstance(parameter, sp.Symbol) and value.is_infinite:
            with sp.evaluate(True):  # its logarithms have to cancel before what is infinite is put in
                expression = expression.doit().subs(parameter, value)
        elif isinstance(parameter, sp.Symbol):
            expression = expression.xreplace({parameter: value})
        else:
            expression = expression.replace(parameter, value)
    return expression


def _relative(encoding: Encoding) -> tuple[Pair, ...]:
    """A score before and after a shift: its query and key stay what they are, other tokens are others."""
    return (
        (
            lambda: _carried(_score(encoding, SHIFT, DISTANCE), encoding, {Family.CONTENT}),
            lambda: _score(encoding, sp.Integer(0), DISTANCE),
        ),
    )


def _translation(encoding: Encoding) -> tuple[Pair, ...]:
    """The scores of two keys of one query, crosswise before and after a shift of all tokens."""
    query = KEY_POSITION + DISTANCE + OTHER_DISTANCE
    keys = ((DISTANCE, KEY), (OTHER_DISTANCE, OTHER_KEY))

    def shifted(distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        score = _score(encoding, query - distance + SHIFT, distance, key)
        return _carried(score, encoding, {Family.CONTENT, Family.TOKENS})

    def unshifted(distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        return _score(encoding, query - distance, distance, key)

    return ((lambda: shifted(*keys[0]) + unshifted(*keys[1]), lambda: shifted(*keys[1]) + unshifted(*keys[0])),)


def _carried(expression: sp.Expr, encoding: Encoding, families: set[Family]) -> sp.Expr:
    """The expression with the members of these families named by where they were before a shift by `SHIFT`."""
    moving = {one.symbol for one in encoding.parameters if one.family in families}
    members = [member for member in expression.atoms(sp.Indexed) if member.base in moving]
    return expression.xreplace({one: one.base[tuple(index - SHIFT for index in one.indices)] for one in members})


def _norm(encoding: Encoding) -> tuple[Pair, ...]:
    position = KEY_POSITION

    def moved(which: int, content: sp.Matrix) -> sp.Expr:
        added = encoding.embed(position) if encoding.embed else sp.zeros(2, 1)
        actions = encoding.rotate(position, LENGTH) if encoding.rotate else (sp.eye(2), sp.eye(2))
        acted = actions[which] * (content + added)
        return acted.dot(acted)

    return tuple(
        (lambda which=which, content=content: moved(which, content), lambda content=content: content.dot(content))
        for which, content in enumerate((QUERY, KEY))
    )


def _norm_by_form(encoding: Encoding) -> str | None:
    """Why norms stay, where nothing touches queries and keys."""
    if encoding.embed or encoding.rotate:
        return None
    return "the formula adds to the score and does not touch queries and keys"


def _streaming(encoding: Encoding) -> tuple[Pair, ...]:
    """Scores at two lengths, both beyond the query."""

    def score(more: sp.Expr) -> sp.Expr:
        return encoding.score(
            query_position=KEY_POSITION + DISTANCE,
            key_position=KEY_POSITION,
            length=KEY_POSITION + DISTANCE + 1 + more,
        )

    return ((lambda: score(SHIFT + MORE_LENGTH), lambda: score(SHIFT)),)


def _streaming_by_form(encoding: Encoding) -> str | None:
    """Why a longer sequence changes nothing, where the formula has no length."""
    with sp.evaluate(False):
        score = _score(encoding, KEY_POSITION, DISTANCE)
    return None if LENGTH in score.free_symbols else f"{LENGTH} does not occur in the score"


_COMPARED: Mapping[Law, tuple[Callable[[Encoding], tuple[Pair, ...]], str]] = {
    Law.RELATIVE: (_relative, "a shift of key 0 and query D by s changes the score"),
    Law.TRANSLATION: (_translation, "a shift by s parts the scores of keys at distances D and D_"),
    Law.NORM: (_norm, "the squared norm changes"),
    Law.STREAMING: (_streaming, "a longer sequence changes the score"),
}
_BY_FORM: Mapping[Law, Callable[[Encoding], str | None]] = {
    Law.NORM: _norm_by_form,
    Law.STREAMING: _streaming_by_form,
}


def _score(encoding: Encoding, key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix = KEY) -> sp.Expr:
    return encoding.score(QUERY, key, query_position=key_position + distance, key_position=key_position)


def _proved(left: Side, right: Side) -> str | None:
    """Why both sides are identical; None where that is not proved."""
    with sp.evaluate(False):
        sides = tuple(_with_running_sums(side()) for side in (left, right))
    # At last reciprocals stand as unrelated symbols, so that they may occur in angles and exponents.
    for trees in (sides, _with_named_reciprocals(sides)):
        try:
            if twice.decide(*written(trees).trees)[0].zero:
                return "both engines find the two sides identical"
        except twice.OneExpression:
            return "both sides are one expression, once sympy has evaluated the parts that the engines do not know"
        except (exact.Undecided, second_engine.Undecided, ZeroDivisionError):
            continue
    return None


def _with_named_reciprocals(sides: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    reciprocals = {part for side in sides for part in side.atoms(sp.Pow) if part.exp.doit().is_negative}
    values = {part: part.doit() for part in reciprocals}
    names = {value: sp.Dummy(str(value)) for value in values.values()}
    with sp.evaluate(False):
        return tuple(side.xreplace({part: names[value] for part, value in values.items()}) for side in sides)


def _with_running_sums(side: sp.Expr) -> sp.Expr:
    return side.xreplace({path: _telescoped(path) for path in side.atoms(sp.Sum)})


def _evaluated(path: sp.Sum) -> sp.Sum:
    """The sum, its ends and its summand evaluated, but not summed."""
    return sp.Sum(path.function.doit(), *(tuple(part.doit() for part in limit) for limit in path.limits))


def _telescoped(path: sp.Sum) -> sp.Expr:
    """A sum over the members of a family as the difference of two values of one function, that of running sums."""
    with sp.evaluate(True):
        return _difference_of_running_sums(_evaluated(path))


def _difference_of_running_sums(path: sp.Sum) -> sp.Expr:
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
