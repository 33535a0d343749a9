"""Sides that each law of an encoding compares: scores or norms that are identical if the law holds.

Which scores the law of translation compares depends on the normaliser. Softmax ignores a constant of a row, so scores
may all change by the same number; under the sigmoid each score must stay as it is. A window depends on distances alone,
so it changes no law. Where the length occurs in a formula, a law speaks of sequences that hold all its positions.

A shift of positions moves the tokens along. So everything an encoding computes from tokens, such as the gate of each,
moves too: the entry at l + s of the shifted sequence is the entry at l of the sequence before. So does a structure on
pairs of tokens, such as the distances in a graph.
"""

from collections.abc import Callable, Mapping

import sympy as sp

from lengthgen.theory.encodings.encoding import KEY, LENGTH, QUERY, Encoding, Family, Law, Normaliser

Side = Callable[[], sp.Expr]
"""Builder of one side of an identity, called with sympy's evaluation on or off."""
Pair = tuple[Side, Side]
"""Two sides of an identity."""

KEY_POSITION, DISTANCE, OTHER_DISTANCE, SHIFT = sp.symbols("i D D_ s", integer=True, nonnegative=True)
MORE_LENGTH = sp.Symbol("n_", integer=True, positive=True)
_MOVING = {Family.TOKENS, Family.PREFIX, Family.CONTENT, Family.STRUCTURE}
"""Families whose members move with the tokens."""
_POSITIONS = (KEY_POSITION, DISTANCE, OTHER_DISTANCE)
OTHER_KEY = sp.ImmutableMatrix(sp.symbols("k1_ k2_", real=True))


def compared(encoding: Encoding, law: Law) -> tuple[tuple[Pair, ...], str]:
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


def kept_by_form(encoding: Encoding, law: Law) -> str | None:
    """Reason that the law holds because the formulas lack the quantity in question; None if that is not so."""
    return _BY_FORM[law](encoding) if law in _BY_FORM else None


def _at_length(side: Side, length: sp.Expr) -> Side:
    """Side of an identity for a sequence of this length, which holds all positions of the law."""
    return lambda: side().xreplace({LENGTH: length})


def relative_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Score before and after a shift: the query and the key are the same, the other tokens are different."""
    return (
        (
            lambda: _shifted_entries(score_at(encoding, SHIFT, DISTANCE), encoding, {Family.CONTENT}),
            lambda: score_at(encoding, sp.Integer(0), DISTANCE),
        ),
    )


def _translation_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Scores of two keys of one query, crosswise before and after a shift of all tokens."""
    query = KEY_POSITION + DISTANCE + OTHER_DISTANCE
    keys = ((DISTANCE, KEY), (OTHER_DISTANCE, OTHER_KEY))

    def shifted(distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        score = score_at(encoding, query - distance + SHIFT, distance, key)
        return _shifted_entries(score, encoding, _MOVING)

    def unshifted(distance: sp.Expr, key: sp.Matrix) -> sp.Expr:
        return score_at(encoding, query - distance, distance, key)

    return ((lambda: shifted(*keys[0]) + unshifted(*keys[1]), lambda: shifted(*keys[1]) + unshifted(*keys[0])),)


def _shifted_score_sides(encoding: Encoding) -> tuple[Pair, ...]:
    """Score of a key before and after a shift of all tokens."""

    def shifted() -> sp.Expr:
        score = score_at(encoding, KEY_POSITION + SHIFT, DISTANCE)
        return _shifted_entries(score, encoding, _MOVING)

    return ((shifted, lambda: score_at(encoding, KEY_POSITION, DISTANCE)),)


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
    position = KEY_POSITION

    def squared_norm(index: int, content: sp.Matrix) -> sp.Expr:
        added = encoding.embed(position) if encoding.embed else sp.zeros(2, 1)
        actions = encoding.rotate(position, LENGTH) if encoding.rotate else (sp.eye(2), sp.eye(2))
        acted = actions[index] * (content + added)
        if encoding.relative_key and content is KEY:
            acted = acted + encoding.relative_key(position + DISTANCE, position, LENGTH)
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
        score = score_at(encoding, KEY_POSITION, DISTANCE)
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
    Law.RELATIVE: (relative_sides, "a shift of key 0 and query D by s changes the score"),
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
}
"""Largest position that a law compares, from 0, for laws whose sequences are all of one length."""
_BY_FORM: Mapping[Law, Callable[[Encoding], str | None]] = {
    Law.NORM: _norm_by_form,
    Law.STREAMING: _streaming_by_form,
}


def score_at(encoding: Encoding, key_position: sp.Expr, distance: sp.Expr, key: sp.Matrix = KEY) -> sp.Expr:
    """Score of a query and a key at a given distance."""
    return encoding.score(QUERY, key, query_position=key_position + distance, key_position=key_position)
