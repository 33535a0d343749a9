"""Pairs of numbers, their text, their label, and the splits into training and test pairs. Plain Python.

Source: Yudin, arXiv 2601.04283, and its released script.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from random import Random

Pair = tuple[int, int]

View = Callable[[str], Hashable]
"""Text -> what the predictor sees of it."""

MODULUS = 97
"""Modulus of the paper.  [P]"""


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
