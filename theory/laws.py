"""Laws of encodings (relative, translation, norm, streaming, relabelling), decided from the encoding's formulas.

A law that holds is proved in one of two ways. Either the form of the formulas implies it, because they lack the
quantity in question. Or both engines prove that the scores that the law compares are identical; each engine evaluates
the unevaluated scores itself. A law that fails comes with a counterexample: positions and parameter values at which the
scores clearly differ. That one encoding is a special case of another is decided by the same means.

Which scores the law of translation compares depends on the normaliser. Softmax ignores a constant of a row, so scores
may all change by the same number; under the sigmoid each score must stay as it is. A window depends on distances alone,
so it changes no law. Where the length occurs in a formula, a law speaks of sequences that hold all its positions.

A shift of positions moves the tokens along. So everything an encoding computes from tokens, such as the gate of each,
moves too: the entry at l + s of the shifted sequence is the entry at l of the sequence before. So does a structure on
pairs of tokens, such as the distances in a graph.

Points of counterexamples follow from names and fixed seeds: the same question is tested at the same points each time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random

import sympy as sp
from sympy.core.function import AppliedUndef

from lengthgen.theory.encodings.encoding import (
    KEY,
    LENGTH,
    QUERY,
    Encoding,
    Family,
    Law,
    Normaliser,
    Recovery,
)
from lengthgen.theory.zero import flint_engine, sympy_engine, two_engines
from lengthgen.theory.zero.two_engines import engine_trees

Side = Callable[[], sp.Expr]
"""Builder of one side of an identity, called with sympy's evaluation on or off."""
Pair = tuple[Side, Side]
"""Two sides of an identity."""

KEY_POSITION, DISTANCE, OTHER_DISTANCE, SHIFT = sp.symbols("i D D_ s", integer=True, nonnegative=True)
MORE_LENGTH = sp.Symbol("n_", integer=True, positive=True)
OTHER_KEY = sp.ImmutableMatrix(sp.symbols("k1_ k2_", real=True))
_POSITIONS = (KEY_POSITION, DISTANCE, OTHER_DISTANCE)
_MOVING = {Family.TOKENS, Family.PREFIX, Family.CONTENT, Family.STRUCTURE}
"""Families whose members move with the tokens."""

_DIGITS = 30
_VISIBLE = sp.Rational(1, 10**9)
_FIRST_TRIALS, _TRIALS = 2, 60
_FARTHEST = 40
"""Largest position of a sample point."""


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """Decision on a law.

    Attributes:
        holds: True if proved, False if refuted, None if neither a proof nor a counterexample was found.
        reason: why, in words.
    """

    holds: bool | None
    reason: str


@two_engines.remembered
def decide_law(encoding: Encoding, law: Law) -> Ruling:
    """Decide once a process whether the encoding keeps the law. The translation law follows from the relative law."""
    if law is Law.TRANSLATION and decide_law(encoding, Law.RELATIVE).holds:
        return Ruling(holds=True, reason="the relative law holds, and it implies the translation law")
    by_form = _BY_FORM[law](encoding) if law in _BY_FORM else None
    if by_form:
        return Ruling(holds=True, reason=by_form)
    pairs, change = _compared(encoding, law)
    return _identical(*pairs, change=change)


def relative_law(encoding: Encoding) -> str:
    """Do scores depend on distances only? "yes", "no", "not decided", or "up to L", within a trained length L."""
    holds = decide_law(encoding, Law.RELATIVE).holds
    if holds is None:
        return "not decided"
    return "yes" if holds else "up to L" if relative_within(encoding) else "no"


def relative_within(encoding: Encoding) -> bool:
    """True if the relative law holds while no position exceeds the trained length L: max(j, L) = L."""
    ((left, right),) = _relative_sides(encoding)
    positions = {DISTANCE, SHIFT}
    if not _reduced_maxima(left() - right(), positions):
        return False
    return bool(_proved(*(_without_maxima(side, positions) for side in (left, right))))


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
        return assigned(_score_at(encoding, key_position, distance, key), recovery)

    def special(key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        return _score_at(other, key_position, distance, key).xreplace(dict(recovery.at))

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
            # A value is that of all entries, or a function of an entry's indices.
            values = {entry: value(*entry.indices) if isinstance(value, sp.Lambda) else value for entry in members}
            expression = expression.xreplace(values)
        elif isinstance(parameter, sp.Symbol) and value.is_infinite:
            with sp.evaluate(True):  # logarithms of the parameter must cancel before the infinite value is inserted
                expression = expression.doit().subs(parameter, value)
        elif isinstance(parameter, sp.Symbol):
            expression = expression.xreplace({parameter: value})
        else:
            expression = expression.replace(parameter, value)
    return expression


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


def _proved(left: Side, right: Side) -> str | None:
    """Reason why both sides are identical; None if that is not proved."""
    with sp.evaluate(False):
        sides = tuple(
            side.xreplace({total: _as_running_sums(total) for total in side.atoms(sp.Sum)})
            for side in (left(), right())
        )
    # Second attempt: reciprocals become unrelated symbols, so that they may occur in angles and exponents.
    for pair in (sides, _with_named_reciprocals(sides)):
        try:
            if two_engines.decide(*engine_trees(pair).trees)[0].zero:
                return "both engines find the two sides identical"
        except two_engines.OneExpression:
            return "both sides are one expression after sympy evaluated the parts that the engines do not know"
        except (sympy_engine.Undecided, flint_engine.FlintUndecided, ZeroDivisionError):
            continue
    return None


def _with_named_reciprocals(sides: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    """Sides with a symbol for each reciprocal."""
    reciprocals = {part for side in sides for part in side.atoms(sp.Pow) if part.exp.doit().is_negative}
    values = {part: part.doit() for part in reciprocals}
    names = {value: sp.Dummy(str(value)) for value in values.values()}
    with sp.evaluate(False):
        return tuple(side.xreplace({part: names[value] for part, value in values.items()}) for side in sides)


def _as_running_sums(total: sp.Sum) -> sp.Expr:
    """Sum over entries of a family as a difference of running sums; the sum, evaluated, if it has not that form."""
    with sp.evaluate(True):
        total = sp.Sum(total.function.doit(), *(tuple(part.doit() for part in limit) for limit in total.limits))
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


@cache
def _counterexample(difference: sp.Expr, change: str, trials: int) -> Ruling | None:
    """Refutation by a point at which the difference is clearly not zero; None if no tried point shows that."""
    if difference == 0:
        return None
    for point in _sample_points(difference, count=trials):
        value = sp.N(value_at(difference, point), _DIGITS)
        if value.is_Number and value.is_finite and abs(value) > _VISIBLE:
            place = ", ".join(f"{symbol} = {point[symbol]}" for symbol in sorted(point, key=str))
            return Ruling(holds=False, reason=f"{change} by {sp.N(value, 6)} at {place}")
    return None


def _compared(encoding: Encoding, law: Law) -> tuple[tuple[Pair, ...], str]:
    """Return the pairs of sides that a law compares, and what differs where they do, for a counterexample."""
    sides_of, change = _SIDES[law]
    if law is Law.TRANSLATION and encoding.normaliser == Normaliser.SIGMOID:
        sides_of, change = _shifted_score_sides, "a shift by s changes the score of the key at distance D"
    pairs = sides_of(encoding)
    if law in _LAST_POSITION and any(LENGTH in side().free_symbols for pair in pairs for side in pair):
        length = _LAST_POSITION[law] + MORE_LENGTH
        pairs = tuple((_at_length(left, length), _at_length(right, length)) for left, right in pairs)
        change = f"in a sequence of length {length}, {change}"
    return pairs, change


def _score_at(encoding: Encoding, key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix = KEY) -> sp.Expr:
    """Score of a query and a key at a given distance."""
    return encoding.score(QUERY, key, query_position=key_position + distance, key_position=key_position)


def _at_length(side: Side, length: sp.Expr) -> Side:
    """Side of an identity for a sequence of this length, which holds all positions of the law."""
    return lambda: side().xreplace({LENGTH: length})


def _relative_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Score before and after a shift: the query and the key are the same, the other tokens are different."""
    return (
        (
            lambda: _shifted_entries(_score_at(encoding, SHIFT, DISTANCE), encoding, {Family.CONTENT}),
            lambda: _score_at(encoding, sp.Integer(0), DISTANCE),
        ),
    )


def _translation_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Scores of two keys of one query, crosswise before and after a shift of all tokens."""
    query = KEY_POSITION + DISTANCE + OTHER_DISTANCE
    keys = ((DISTANCE, KEY), (OTHER_DISTANCE, OTHER_KEY))

    def shifted(distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        score = _score_at(encoding, query - distance + SHIFT, distance, key)
        return _shifted_entries(score, encoding, _MOVING)

    def unshifted(distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        return _score_at(encoding, query - distance, distance, key)

    return ((lambda: shifted(*keys[0]) + unshifted(*keys[1]), lambda: shifted(*keys[1]) + unshifted(*keys[0])),)


def _shifted_score_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Score of a key before and after a shift of all tokens."""

    def shifted() -> sp.Expr:
        score = _score_at(encoding, KEY_POSITION + SHIFT, DISTANCE)
        return _shifted_entries(score, encoding, _MOVING)

    return ((shifted, lambda: _score_at(encoding, KEY_POSITION, DISTANCE)),)


def _shifted_entries(expression: sp.Expr, encoding: Encoding, families: set[Family]) -> sp.Expr:
    """Expression with the entries of these families indexed by their places before a shift by `SHIFT`."""
    entries = _entries(expression, encoding, families)
    return expression.xreplace(
        {
            entry: entry.base[(*(index - SHIFT for index in entry.indices[:places]), *entry.indices[places:])]
            for entry, places in entries.items()
        }
    )


def _entries(expression: sp.Expr, encoding: Encoding, families: set[Family]) -> dict[sp.Indexed, int]:
    """Entries of these families in the expression, each with the number of its first indices that are positions.

    An index of a sum whose limits have no position in them numbers components of an entry; so do all after it.
    """
    of_base = {parameter.symbol: parameter.family for parameter in encoding.parameters if parameter.family in families}
    components = {
        index
        for total in expression.atoms(sp.Sum)
        for index, *limits in total.limits
        if not sp.Tuple(*limits).free_symbols & {SHIFT, *_POSITIONS}
    }
    places = {}
    for entry in expression.atoms(sp.Indexed):
        if entry.base in of_base:
            is_place = [index not in components for index in entry.indices]
            leading = is_place.index(False) if False in is_place else len(is_place)
            places[entry] = 2 if of_base[entry.base] is Family.STRUCTURE else leading
    return places


def _norm_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Squared norms of query and key after and before the encoding acts on them."""
    place_of = encoding.positions or (lambda index, length: index)

    def squared_norm(index: int, content: sp.Matrix) -> sp.Expr:
        place = place_of(KEY_POSITION, LENGTH)
        added = encoding.embed(place) if encoding.embed else sp.zeros(2, 1)
        actions = encoding.rotate(place, LENGTH) if encoding.rotate else (sp.eye(2), sp.eye(2))
        acted = actions[index] * (content + added)
        if encoding.relative_key and content is KEY:
            acted = acted + encoding.relative_key(place_of(KEY_POSITION + DISTANCE, LENGTH), place, LENGTH)
        return acted.dot(acted)

    return tuple(
        (
            lambda index=index, content=content: squared_norm(index, content),
            lambda content=content: content.dot(content),
        )
        for index, content in enumerate((QUERY, KEY))
    )


def _norm_by_form(encoding: Encoding) -> str | None:
    """Reason that norms are unchanged, if nothing acts on queries and keys; else None."""
    if encoding.embed or encoding.rotate or encoding.relative_key:
        return None
    return "the formula adds to the score and does not touch queries and keys"


def _streaming_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Scores at two lengths, both beyond the query."""

    def score(extra_length: sp.Expr) -> sp.Expr:
        return encoding.score(
            query_position=KEY_POSITION + DISTANCE,
            key_position=KEY_POSITION,
            length=KEY_POSITION + DISTANCE + 1 + extra_length,
        )

    return ((lambda: score(SHIFT + MORE_LENGTH), lambda: score(SHIFT)),)


def _streaming_by_form(encoding: Encoding) -> str | None:
    """Reason that a longer sequence changes nothing, if the formula has no length; else None."""
    with sp.evaluate(False):
        score = _score_at(encoding, KEY_POSITION, DISTANCE)
    return None if LENGTH in score.free_symbols else f"{LENGTH} does not occur in the score"


def _relabelling_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Scores of query and key after and before a permutation of the tokens.

    A permutation takes two tokens to any two others, in the same or in the other order, and one token to any other one.
    """
    key, query = KEY_POSITION, KEY_POSITION + DISTANCE + 1
    first, second = SHIFT, SHIFT + OTHER_DISTANCE + 1
    moves = (((query, second), (key, first)), ((query, first), (key, second)), ((key, first), (key, first)))
    return tuple(
        (
            lambda of_query=of_query, of_key=of_key: _relabelled_entries(
                encoding.score(query_position=of_query[1], key_position=of_key[1]), encoding, dict([of_query, of_key])
            ),
            lambda of_query=of_query, of_key=of_key: encoding.score(query_position=of_query[0], key_position=of_key[0]),
        )
        for of_query, of_key in moves
    )


def _relabelled_entries(expression: sp.Expr, encoding: Encoding, moves: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Expression with the entries of tokens and pairs indexed by their places before `moves`: place before -> after.

    An entry at any other place belongs to another token than before, and is a member of a family of its own; so is each
    entry of a prefix, whose tokens change.
    """
    before = {sp.expand(place): old for old, place in moves.items()}
    replaced = {}
    of_prefixes = {parameter.symbol for parameter in encoding.parameters if parameter.family is Family.PREFIX}
    for entry, places in _entries(expression, encoding, _MOVING).items():
        with sp.evaluate(True):
            moved = [before.get(sp.expand(index.doit())) for index in entry.indices[:places]]
        other = sp.IndexedBase(sp.Symbol(f"{entry.base.label}_", **entry.base.label.assumptions0))
        rest = entry.indices[places:]
        replaced[entry] = (
            other[entry.indices] if None in moved or entry.base in of_prefixes else entry.base[(*moved, *rest)]
        )
    return expression.xreplace(replaced)


_SIDES: Mapping[Law, tuple[Callable[[Encoding], tuple[Pair, ...]], str]] = {
    Law.RELATIVE: (_relative_sides, "a shift of key 0 and query D by s changes the score"),
    Law.TRANSLATION: (
        _translation_sides,
        "a shift by s changes the score difference of the keys at distances D and D_",
    ),
    Law.NORM: (_norm_sides, "the squared norm changes"),
    Law.STREAMING: (
        _streaming_sides,
        "a sequence of length i + D + 1 + s + n_ in place of i + D + 1 + s changes the score",
    ),
    Law.RELABELLING: (
        _relabelling_sides,
        "a permutation of the tokens (i to s, i + D + 1 to s + D_ + 1, or crosswise) changes a score",
    ),
}
_LAST_POSITION: Mapping[Law, sp.Expr] = {
    Law.RELATIVE: DISTANCE + SHIFT,
    Law.TRANSLATION: KEY_POSITION + DISTANCE + OTHER_DISTANCE + SHIFT,
    Law.NORM: KEY_POSITION + DISTANCE,
    Law.RELABELLING: KEY_POSITION + DISTANCE + SHIFT + OTHER_DISTANCE + 1,
}
"""Position, from 0, that none which a law compares exceeds, for laws whose sequences are all of one length."""
_BY_FORM: Mapping[Law, Callable[[Encoding], str | None]] = {
    Law.NORM: _norm_by_form,
    Law.STREAMING: _streaming_by_form,
}
"""Reason that a law holds because the formulas lack the quantity in question; None if that is not so."""


def _sample_points(expression: sp.Expr, *, count: int) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Yield points for the symbols of an expression: small integers first, then up to 40; others in their domain."""
    generator = Random(0)
    symbols = parameters(expression)
    small = product((1, 2), repeat=2)
    for trial in range(count):
        first, second = next(small, (generator.randint(0, _FARTHEST), generator.randint(0, _FARTHEST)))
        yield {symbol: _random_value(symbol, generator, first if trial % 2 else second) for symbol in symbols}


def value_at(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """Value at a point, with values for families and functions."""
    return _with_members(expression.xreplace(point).doit())


def example(expression: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
    """Example value for each symbol of an expression, in its domain, and between 0 and 1 if it is not an integer."""
    return {symbol: _example(symbol) for symbol in parameters(expression)}


def constant_content(expression: sp.Expr) -> sp.Expr:
    """Expression with every indexed family replaced by one symbol: the same value at every position."""
    families = {
        entry: sp.Symbol(str(entry.base.label), **entry.base.label.assumptions0)
        for entry in expression.atoms(sp.Indexed)
    }
    return expression.xreplace(families).doit()


def parameters(expression: sp.Expr) -> list[sp.Symbol]:
    """Symbols of an expression that stand for numbers, in order, without the families."""
    families = {base.label for base in expression.atoms(sp.IndexedBase)}
    return sorted(expression.free_symbols - families - expression.atoms(sp.Indexed), key=str)


def _with_members(expression: sp.Expr) -> sp.Expr:
    """Expression with a value for each function and each entry of a family in it.

    The value of an entry follows from its name. A function of arguments that are not integers is smooth.
    """
    functions = {application: _function_value(application) for application in expression.atoms(AppliedUndef)}
    without_functions = expression.xreplace(functions)
    return without_functions.xreplace({entry: _value_from_name(entry) for entry in without_functions.atoms(sp.Indexed)})


def _value_from_name(symbol: sp.Basic) -> sp.Expr:
    """Rational value that follows from the name of a symbol; the entries of an integer family grow with their indices.

    Positions that are drawn are such a family.
    """
    generator = Random(str(symbol))
    if isinstance(symbol, sp.Indexed) and symbol.is_integer:
        return 10 * sp.Add(*symbol.indices) + generator.randint(1, 9)
    value = sp.Rational(generator.randint(1, 9), generator.randint(2, 7))
    return -value if symbol.is_negative else value


def _function_value(application: AppliedUndef) -> sp.Expr:
    """Value of an undefined function: smooth in its arguments unless all are integers."""
    if all(argument.is_integer for argument in application.args):
        return _value_from_name(application)
    return sp.cos(sp.Add(*application.args) + _value_from_name(application.func(0)))


def _random_value(symbol: sp.Symbol, generator: Random, position: int) -> sp.Expr:
    """Random value of a symbol; an integer symbol is near `position`."""
    if symbol.is_integer:
        return sp.Integer(position + generator.randint(0, 2) + (1 if symbol.is_positive else 0))
    value = sp.Rational(generator.randint(1, 7), generator.randint(2, 5))
    return -value if symbol.is_negative or (not symbol.is_nonnegative and generator.random() < 0.5) else value


def _example(symbol: sp.Symbol) -> sp.Expr:
    """Example value of one symbol."""
    if symbol.is_integer:
        return sp.Integer(64)
    value = sp.Rational(Random(str(symbol)).randint(2, 9), 11)
    return -value if symbol.is_negative else value
