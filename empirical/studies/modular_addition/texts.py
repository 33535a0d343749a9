"""Texts of modular addition: pairs of numbers with words around them, as tokens of many inputs at once.

    filler, words before, <EXPR>, expression, </EXPR>, words after, padding

Characters are tokens, as in the released script of arXiv 2601.04283: 80 tokens, of which 5 are no characters. The
splits into training and test pairs are plain Python.

Shapes: N inputs, P pieces of an input, L length.
"""

import string
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Pair = tuple[int, int]
Anchors = Literal["split", "atomic"]
"""Reading of the markers around an expression: character by character, or as one token."""
View = Callable[[str], Hashable]
"""Text -> what the predictor sees of it."""

MODULUS = 97
"""Modulus of the paper.  [P]"""
PAD, UNKNOWN, CLS, OPEN, CLOSE = range(5)
"""Padding, unknown character, readout, and the markers of an expression."""
CHARACTERS = string.ascii_lowercase + string.ascii_uppercase + string.digits + " .,?!+-=×÷()%"
"""Characters with a token of their own, in the order of their tokens, from 5 on.  [P]"""
SYMBOLS = 5 + len(CHARACTERS)
"""Number of tokens: 80.  [P]"""
MARKERS = {"<EXPR>": OPEN, "</EXPR>": CLOSE}
"""Markers before and after an expression."""
_TOKEN = {character: token for token, character in enumerate(CHARACTERS, 5)}
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


def encode(text: str, *, atomic: bool = False) -> NDArray[np.int64]:
    """Return the tokens of a text, int64.

    A marker is one token if `atomic` is true, as the paper describes; else its characters are read one by one, as the
    released script does, and `<`, `>` and `/` are unknown.
    """
    if atomic:
        for marker, token in MARKERS.items():
            if marker in text:
                before, _, after = text.partition(marker)
                return np.concatenate([encode(before, atomic=True), [token], encode(after, atomic=True)])
    return np.array([_TOKEN.get(character, UNKNOWN) for character in text], dtype=np.int64)


def name(token: int) -> str:
    """Return a token for people: its character in quotation marks, or its name."""
    return ("padding", "an unknown character", "CLS", *MARKERS)[token] if token < 5 else repr(CHARACTERS[token - 5])


def all_pairs(modulus: int = MODULUS) -> tuple[Pair, ...]:
    """All ordered pairs of residues, the first number slowest."""
    return tuple((a, b) for a in range(modulus) for b in range(modulus))


def text(pair: Pair, operator: str = "+") -> str:
    """Return the expression as the model reads it."""
    return f"{pair[0]} {operator} {pair[1]}"


def label(pair: Pair, modulus: int = MODULUS) -> int:
    """Class to predict: (a + b) mod the modulus."""
    return sum(pair) % modulus


def ordered_split(seed: int, modulus: int = MODULUS) -> tuple[list[Pair], list[Pair]]:
    """Return training and test pairs as the released script does: seed Python's random, shuffle and cut in half.  [P]

    About half of the test pairs (a, b), a != b, have (b, a) in training.
    """
    shuffled = list(all_pairs(modulus))
    Random(seed).shuffle(shuffled)
    half = len(shuffled) // 2
    return shuffled[:half], shuffled[half:]


def by_unordered_pair(seed: int, modulus: int = MODULUS) -> tuple[list[Pair], list[Pair]]:
    """Return training and test pairs of a split that keeps (a, b) and (b, a) together.  [F]"""
    classes = [(a, b) for a, b in all_pairs(modulus) if a <= b]
    Random(seed).shuffle(classes)
    half = len(classes) // 2
    train, test = (
        [*dict.fromkeys(ordered for pair in part for ordered in (pair, pair[::-1]))]
        for part in (classes[:half], classes[half:])
    )
    return train, test


def bag(text: str) -> Hashable:
    """Return the bag (multiset) of characters: what remains of a text if the order is not seen."""
    return "".join(sorted(text))


def counts_by_view(pairs: Iterable[Pair], view: View, modulus: int = MODULUS) -> dict[Hashable, Counter[int]]:
    """Return, for each view of the expressions, how many pairs have each label."""
    counts: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for pair in pairs:
        counts[view(text(pair))][label(pair, modulus)] += 1
    return counts


def most_right(counts: dict[Hashable, Counter[int]]) -> int:
    """Largest number of pairs on which a predictor of the views is right: it answers the most frequent labels."""
    return sum(max(labels.values()) for labels in counts.values())


def pair_indices(pairs: Sequence[tuple[int, int]], modulus: int) -> Integers:
    """Return the index of each pair in `all_pairs`, int64."""
    return np.array([a * modulus + b for a, b in pairs], dtype=np.int64)


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
        pieces += [encode(marker, atomic=anchors == "atomic") for marker in MARKERS]
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
