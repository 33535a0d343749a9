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


def swapped(*, trained: Callable[[int], int], disjoint: Split, chance: Fraction, unordered: int) -> Evidence:
    """Decide how likely a test pair (a, b), a != b, has (b, a) in training, and that the split `disjoint` avoids it.

    `trained` is the number of training pairs out of so many pairs.
    """
    found = _chance(len(PAIRS), trained)
    if found != chance:
        raise Refuted(f"{found} of the halvings that test (a, b) train (b, a), not {float(100 * chance):.2f} %")
    counted, expected = _count_small(trained), _chance(_SMALL**2, trained)
    if counted != expected:
        raise Refuted(f"modulus {_SMALL}: {counted} of the test pairs are trained swapped, not {expected}")
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
        reach=f"{classes} unordered pairs",
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


def _chance(pairs: int, trained: Callable[[int], int]) -> Fraction:
    """Of the splits of so many pairs that test a given one, the share that train another given one."""
    return Fraction(comb(pairs - 2, trained(pairs) - 1), comb(pairs - 1, trained(pairs)))


def _by_first_number(seed: int) -> tuple[list[Pair], list[Pair]]:
    """A split by the first number alone, odd or even, the seed aside."""
    return [pair for pair in PAIRS if pair[0] % 2], [pair for pair in PAIRS if pair[0] % 2 == 0]


def _count_small(trained: Callable[[int], int]) -> Fraction:
    """The same share counted: over all halvings, test pairs trained swapped, of all test pairs with a != b."""
    pairs = [(a, b) for a in range(_SMALL) for b in range(_SMALL)]
    rows = [_leaks(train, sorted({*pairs} - {*train})) for train in combinations(pairs, trained(len(pairs)))]
    return Fraction(sum(len(leaked) for leaked, _ in rows), sum(asked for _, asked in rows))


def _leaks(train: Sequence[Pair], test: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Test pairs with a != b whose swap is trained, and how many there are with a != b."""
    trained, asked = set(train), [pair for pair in test if pair[0] != pair[1]]
    return [pair for pair in asked if pair[::-1] in trained], len(asked)


def trained_rows(*, text: Callable[[Pair], str], first_free: int) -> Evidence:
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
        reach=f"all {len(PAIRS)} pairs",
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
        holds={
            "trained": lambda pairs: pairs // 2,
            "disjoint": by_unordered_pair,
            "chance": Fraction(1, 2),
            "unordered": MODULUS * (MODULUS + 1) // 2,
        },
        answers=("chance", "unordered"),
        falsifiers={
            "pair-disjoint is swap-disjoint": {"disjoint": split},
            "split by the first number": {"disjoint": _by_first_number},
            "a third of the pairs trained": {"trained": lambda pairs: pairs // 3},
            "one pair fewer trained": {"trained": lambda pairs: pairs // 2 - 1},
        },
    ),
    Claim(
        id="mod-8",
        source=source("baseline: the text 'a + b' at position 0"),
        statement="In the baseline's training no character of an expression stands in row 7 of the position table or "
        "beyond, and one does in row 6. "
        "So it is for all 9409 pairs.",
        latex=r"\max_{a,b}|\text{``}a\,{+}\,b\text{''}| = 7",
        label="F",
        check=trained_rows,
        holds={"text": text, "first_free": 7},
        answers=("first_free",),
        falsifiers={
            "written without spaces": {"text": lambda pair: text(pair).replace(" ", "")},
            "followed by an equals sign": {"text": lambda pair: f"{text(pair)} ="},
        },
    ),
)
