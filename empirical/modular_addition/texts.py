"""Texts around an expression: filler, sentences and markers, assembled as tokens for many inputs at once.

    filler, words before, <EXPR>, expression, </EXPR>, words after, padding

Shapes: N inputs, P pieces of an input, L length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lengthgen.empirical.modular_addition.conditions import Anchors
from lengthgen.empirical.modular_addition.pairs import all_pairs, text
from lengthgen.empirical.modular_addition.tokens import MARKERS, PAD, encode

Integers = NDArray[np.int64]

CHUNKS = ("um ", "uh ", "so ", "like ", "well ")
"""Filler: chunks drawn at random, one after the other, and cut to the length of the prefix.  [P]"""
OPERATORS = ("+", "plus")
"""Ways to write the operator.  [P]"""
PLAIN = ("", "")
"""Words before and after the expression: none."""
TRAINED_WORDS = (
    ("what is ", "?"),
    ("compute ", "."),
    ("the sum ", " is needed"),
    ("work out ", " please"),
    ("how much ", "?"),
    ("find ", " for me"),
    ("is it ", ", right?"),
    ("evaluate ", ", thanks"),
)
"""Sentences of training, as words before and after the expression.  The sentences are ours.  [F]"""
QUESTIONS = (
    ("tell me ", ", okay?"),
    ("who has ", "?"),
    ("can I do ", " today?"),
    ("guess ", "?"),
    ("why not ", " next?"),
    ("which is ", ", then?"),
)
"""Questions that training does not show.  [F]"""
COMMANDS = (
    ("give me ", " now"),
    ("add up ", " at once"),
    ("get me ", "."),
    ("reckon ", " quickly"),
    ("show ", " as a number"),
    ("go do ", "!"),
)
"""Commands that training does not show.  [F]"""
HELD_OUT_WORDS = QUESTIONS + COMMANDS
WORDS = (PLAIN, *TRAINED_WORDS, *HELD_OUT_WORDS)
"""All words around an expression; an input names them by their index."""
TRAINED = range(1, 1 + len(TRAINED_WORDS))
HELD_OUT = range(1 + len(TRAINED_WORDS), len(WORDS))
"""Indices of the words of training, and of those that it does not show."""
LONGEST_BEFORE = max(len(before) for before, _ in WORDS)
_SHORTEST_CHUNK = min(map(len, CHUNKS))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Contents of N inputs.

    Attributes:
        pairs: index of the pair in `all_pairs`, int64 [N].
        operators: index in OPERATORS, int64 [N].
        words: index in WORDS, int64 [N].
        prefixes: number of characters of the filler, int64 [N].
        anchored: True if markers surround the expression.
    """

    pairs: Integers
    operators: Integers
    words: Integers
    prefixes: Integers
    anchored: bool


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Tokens of N inputs, int64 [N, L], and the rows of each expression, from `starts` up to before `ends`, [N]."""

    tokens: Integers
    starts: Integers
    ends: Integers


@lru_cache(maxsize=8)
def _expressions(modulus: int) -> tuple[Integers, Integers]:
    """Tokens of the expressions of all operators and pairs, one after the other, and the length of each."""
    pieces = [encode(text(pair, operator)) for operator in OPERATORS for pair in all_pairs(modulus)]
    return np.concatenate(pieces), np.array(list(map(len, pieces)))


def longest_row(modulus: int, prefix: int, *, words: bool) -> int:
    """Largest row, plus one, that an expression reaches after such a prefix and a marker read by characters."""
    operators = OPERATORS if words else OPERATORS[:1]
    largest = (modulus - 1, modulus - 1)
    return (
        prefix
        + (LONGEST_BEFORE if words else 0)
        + len("<EXPR>")
        + max(len(text(largest, operator)) for operator in operators)
    )


class Texts:
    """Tokens of all pieces of which inputs of one modulus are made."""

    def __init__(self, modulus: int, anchors: Anchors, length: int) -> None:
        """Encode the pieces; inputs are padded on the right to `length` tokens, or cut to it.  [P]"""
        self.length = length
        pieces = [encode(piece) for piece in ("", *CHUNKS)]
        self._first_word = len(pieces)
        pieces += [encode(part) for words in WORDS for part in words]
        self._first_marker = len(pieces)
        pieces += [encode(marker, atomic=anchors == Anchors.ATOMIC) for marker in MARKERS]
        self._first_expression = len(pieces)
        tokens, lengths = _expressions(modulus)
        self._expressions = len(lengths) // len(OPERATORS)
        self._lengths = np.concatenate([np.array(list(map(len, pieces))), lengths])
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._tokens = np.concatenate([*pieces, tokens])

    def assemble(self, plan: Plan, rng: np.random.Generator, *, padding: int = 0) -> Inputs:
        """Return the inputs of a plan, after `padding` tokens PAD; `rng` draws the filler."""
        count = len(plan.pairs)
        chunks = -(-int(plan.prefixes.max(initial=0)) // _SHORTEST_CHUNK)
        drawn = rng.integers(1, 1 + len(CHUNKS), (count, chunks))
        marker = self._first_marker if plan.anchored else 0
        rest = (
            self._first_word + 2 * plan.words,
            np.full(count, marker),
            self._first_expression + self._expressions * plan.operators + plan.pairs,
            np.full(count, marker + 1 if plan.anchored else 0),
            self._first_word + 2 * plan.words + 1,
        )
        pieces = np.concatenate([drawn, np.stack(rest, axis=1)], axis=1)
        lengths = self._lengths[pieces]
        lengths[:, :chunks] = _cut(lengths[:, :chunks], plan.prefixes)
        ends = padding + np.cumsum(lengths, axis=1)
        expression = chunks + 2
        return Inputs(
            tokens=self._gather(self._starts[pieces], lengths, ends),
            starts=(ends - lengths)[:, expression],
            ends=ends[:, expression],
        )

    def _gather(self, starts_NP: Integers, lengths_NP: Integers, ends_NP: Integers) -> Integers:
        """Tokens of the pieces at their rows, int64 [N, L]; PAD elsewhere, and nothing beyond L."""
        count = len(starts_NP)
        begins = np.minimum(ends_NP - lengths_NP, self.length)
        lengths = (np.minimum(ends_NP, self.length) - begins).ravel()
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows = (self.length * np.arange(count)[:, None] + begins).ravel()
        tokens = np.full(count * self.length, PAD, dtype=np.int64)
        tokens[np.repeat(rows, lengths) + within] = self._tokens[np.repeat(starts_NP.ravel(), lengths) + within]
        return tokens.reshape(count, self.length)


def filler_support(length: int) -> list[set[int]]:
    """Return, for each of the first `length` places of a filler, the tokens that can stand there."""
    support: list[set[int]] = [set() for _ in range(length)]
    begins = {0}
    for place in range(length):
        if place in begins:
            for chunk in CHUNKS:
                begins.add(place + len(chunk))
                for offset, token in enumerate(encode(chunk).tolist()):
                    if place + offset < length:
                        support[place + offset].add(token)
    return support


def _cut(lengths_NC: Integers, prefixes_N: Integers) -> Integers:
    """Lengths of the chunks of each filler, cut where the prefix ends."""
    ends = np.cumsum(lengths_NC, axis=1)
    return np.clip(prefixes_N[:, None] - (ends - lengths_NC), 0, lengths_NC)


def pair_indices(pairs: Sequence[tuple[int, int]], modulus: int) -> Integers:
    """Return the index of each pair in `all_pairs`, int64."""
    return np.array([a * modulus + b for a, b in pairs], dtype=np.int64)
