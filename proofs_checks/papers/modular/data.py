"""What the split leaves in common between training and test, and which rows of the position table see an expression."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.modular.protocol import MODULUS, PAIRS, SEEDS, Pair, source, split, text

Split = Callable[[int], tuple[Sequence[Pair], Sequence[Pair]]]
"""Seed -> training and test pairs."""

_SMALL = 3


def swapped(*, chance: Fraction, disjoint: Split, unordered: int) -> Evidence:
    """Decide how likely a test pair (a, b), a != b, has (b, a) in training, and that the split `disjoint` avoids it."""
    found = _chance(len(PAIRS))
    if found != chance:
        raise Refuted(f"{found} of the halvings that test (a, b) train (b, a), not {float(100 * chance):.2f} %")
    counted = _count_small()
    if counted != _chance(_SMALL**2):
        raise Refuted(f"modulus {_SMALL}: {counted} of the test pairs are trained swapped, not {_chance(_SMALL**2)}")
    for seed in SEEDS:
        leaked, asked = _leaks(*disjoint(seed))
        if leaked:
            (a, b), *_ = leaked
            raise Refuted(f"seed {seed}: {len(leaked)} of {asked}; ({a}, {b}) is tested, ({b}, {a}) trained")
    classes = len({frozenset(pair) for pair in PAIRS})
    if classes != unordered:
        raise Refuted(f"there are {classes} unordered pairs, not {unordered}")
    released = [_leaks(*split(seed)) for seed in SEEDS]
    shares = ", ".join(f"{len(leaked)}/{asked} = {100 * len(leaked) / asked:.2f} %" for leaked, asked in released)
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(
            f"of the halvings of {len(PAIRS)} pairs that test (a, b), {found} train (b, a)",
            f"modulus {_SMALL}, all {comb(_SMALL**2, _SMALL**2 // 2)} halvings: {counted}",
            f"released splits, seeds {', '.join(map(str, SEEDS))}: {shares}",
            f"splits of the {classes} unordered pairs, same seeds: none",
        ),
        assumptions=("a halving trains one pair less than it tests",),
    )


def by_unordered_pair(seed: int) -> tuple[list[Pair], list[Pair]]:
    """A split that keeps (a, b) and (b, a) together."""
    classes = [(a, b) for a, b in PAIRS if a <= b]
    Random(seed).shuffle(classes)
    half = len(classes) // 2
    train, test = (
        [*dict.fromkeys(one for pair in part for one in (pair, pair[::-1]))]
        for part in (classes[:half], classes[half:])
    )
    return train, test


def _chance(pairs: int) -> Fraction:
    """Of the halvings of so many pairs that test a given one, the share that train another given one."""
    return Fraction(comb(pairs - 2, pairs // 2 - 1), comb(pairs - 1, pairs // 2))


def _count_small() -> Fraction:
    """The same share counted: over all halvings, test pairs trained swapped, of all test pairs with a != b."""
    pairs = [(a, b) for a in range(_SMALL) for b in range(_SMALL)]
    rows = [_leaks(train, sorted({*pairs} - {*train})) for train in combinations(pairs, len(pairs) // 2)]
    return Fraction(sum(len(leaked) for leaked, _ in rows), sum(asked for _, asked in rows))


def _leaks(train: Sequence[Pair], test: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Test pairs with a != b whose swap is trained, and how many there are with a != b."""
    trained, asked = set(train), [pair for pair in test if pair[0] != pair[1]]
    return [pair for pair in asked if pair[::-1] in trained], len(asked)


def trained_rows(*, first_free: int) -> Evidence:
    """Decide which is the first row of the position table that no expression reaches when texts start at row 0."""
    longest = max(PAIRS, key=lambda pair: len(text(pair)))
    reached = len(text(longest))
    if reached > first_free:
        raise Refuted(f"row {first_free} carries {text(longest)[first_free]!r} of {text(longest)!r}")
    if reached < first_free:
        raise Refuted(
            f"row {first_free - 1} carries nothing: the longest text, {text(longest)!r}, ends at row {reached - 1}"
        )
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        facts=(f"{len(PAIRS)} texts: the longest, {text(longest)!r} first, take rows 0 to {reached - 1}",),
        assumptions=("the baseline's training texts: no filler, padded on the right",),
    )


CLAIMS = (
    Claim(
        id="mod-5",
        source=source("the split into training and test pairs"),
        statement="In a random halving of the ordered pairs a test pair (a, b), a != b, has (b, a) in training "
        "with probability 1/2; halving the 4753 unordered pairs leaves no such pair.",
        latex=r"\Pr\big[(b,a)\in\mathrm{train}\mid(a,b)\in\mathrm{test}\big]=\tfrac{4704}{9408}=\tfrac12,\ a\ne b",
        label="F",
        check=swapped,
        holds={"chance": Fraction(1, 2), "disjoint": by_unordered_pair, "unordered": MODULUS * (MODULUS + 1) // 2},
        falsifiers={
            "pair-disjoint is swap-disjoint": {"disjoint": split},
            "no chance of a swap": {"chance": Fraction(0)},
            "one in 97": {"chance": Fraction(1, 97)},
            "as many unordered pairs as a != b": {"unordered": MODULUS * (MODULUS - 1) // 2},
        },
    ),
    Claim(
        id="mod-8",
        source=source("baseline: the text 'a + b' at position 0"),
        statement="In the baseline's training no character of an expression stands in row 7 of the position table or "
        "beyond, and one does in row 6.",
        latex=r"\max_{a,b}|\text{``}a\,{+}\,b\text{''}| = 7",
        label="F",
        check=trained_rows,
        holds={"first_free": 7},
        falsifiers={
            "a character in row 8": {"first_free": 9},
            "row 6 free": {"first_free": 6},
        },
    ),
)
