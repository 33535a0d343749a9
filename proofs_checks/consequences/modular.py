"""Modular addition as text: the best predictor that does not see order, overlap of splits, rows that training shows."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

from lengthgen.empirical.studies.modular_addition.texts import (
    MODULUS,
    Pair,
    View,
    bag,
    by_unordered_pair,
    counts_by_view,
    most_right,
    ordered_split,
    text,
)
from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.paper import Facts, PaperClaims, Reach, refute
from lengthgen.proofs_checks.papers.modular import PAIRS, SEEDS, SEEDS_TEXT, SOURCE, percent

CLAIMS = PaperClaims(SOURCE)
_MODULUS_3 = 3


@CLAIMS.claim(
    "mod-2",
    "the data: all ordered pairs; the ALiBi ablation of the released script has no position signal",
    r"\max_f \Pr_{a,b}\big[f(\mathrm{bag}(a{+}b)) = a+b \bmod 97\big] = 3453/9409",
    strength=Strength.EXHAUSTIVE,
    reach=f"{len(PAIRS)} pairs",
    assumptions=("all pairs alike; the best answer to a view is its most frequent label",),
    answers=("best", "views"),
    falsifiers={
        "seen in order": {"view": str},
        "the set of characters": {"view": lambda text: "".join(sorted(set(text)))},
        "the number of characters": {"view": len},
        "the last character alone": {"view": lambda text: text[-1]},
    },
)
def ceiling(view: View = bag, best: Fraction = Fraction(3453, 9409), views: int = 968) -> Facts:
    """A predictor that does not see the order of characters is right on at most 3453 of the 9409 pairs, 36.70 %: they
    have 968 different bags of characters.
    """
    labels = counts_by_view(PAIRS, view)
    right, seen = Fraction(most_right(labels), len(PAIRS)), len(labels)
    counted_views, stated = f"{right} = {percent(right)} with {seen} views", f"{percent(best)} with {views}"
    refute((right, seen) != (best, views), f"at best {counted_views}, not {stated}")
    chance = percent(Fraction(1, MODULUS))
    yield f"{len(PAIRS)} pairs, {seen} views: at best {right} = {percent(right)}, chance {chance}"


def _chance(pairs: int, trained: Callable[[int], int]) -> Fraction:
    """Share of the splits that put one given pair into training, among those that test another given pair."""
    return Fraction(comb(pairs - 2, trained(pairs) - 1), comb(pairs - 1, trained(pairs)))


def _swapped_in_training(train: Sequence[Pair], test: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Test pairs with a != b whose swap is in training, and the number of all test pairs with a != b."""
    trained, tested = set(train), [pair for pair in test if pair[0] != pair[1]]
    return [pair for pair in tested if pair[::-1] in trained], len(tested)


def _counted_chance(trained: Callable[[int], int]) -> Fraction:
    """The share of `_chance`, counted for a small modulus over all splits and all test pairs with a != b."""
    pairs = [(a, b) for a in range(_MODULUS_3) for b in range(_MODULUS_3)]
    trainings = combinations(pairs, trained(len(pairs)))
    rows = [_swapped_in_training(train, sorted({*pairs} - {*train})) for train in trainings]
    return Fraction(sum(len(leaked) for leaked, _ in rows), sum(tested for _, tested in rows))


@CLAIMS.claim(
    "mod-5",
    "the split into training and test pairs",
    r"\Pr\big[(b,a)\in\mathrm{train}\mid(a,b)\in\mathrm{test}\big]=\tfrac{4704}{9408}=\tfrac12,\ a\ne b",
    strength=Strength.EXHAUSTIVE,
    assumptions=("a halving trains one pair less than it tests",),
    answers=("chance", "unordered"),
    falsifiers={
        "pair-disjoint is swap-disjoint": {"disjoint": ordered_split},
        "split by the first number": {
            "disjoint": lambda seed: [[p for p in PAIRS if p[0] % 2 == odd] for odd in (1, 0)]
        },
        "no half: pairs of numbers below 48 trained": {
            "disjoint": lambda seed: [[p for p in PAIRS if (max(p) < 48) is small] for small in (True, False)]
        },
        "a third of the pairs trained": {"trained": lambda pairs: pairs // 3},
        "one pair fewer trained": {"trained": lambda pairs: pairs // 2 - 1},
    },
)
def swapped(
    trained: Callable[[int], int] = lambda pairs: pairs // 2,
    disjoint: Callable[[int], tuple[Sequence[Pair], Sequence[Pair]]] = by_unordered_pair,
    chance: Fraction = Fraction(1, 2),
    unordered: int = MODULUS * (MODULUS + 1) // 2,
) -> Facts:
    """In a random halving of the ordered pairs a test pair (a, b), a != b, has (b, a) in training with probability 1/2;
    halving the 4753 unordered pairs leaves no such pair.

    `trained` gives the number of training pairs, `disjoint` takes a seed and splits without such test pairs.
    """
    probability = _chance(len(PAIRS), trained)
    stated = f"not {float(100 * chance):.2f} %"
    refute(probability != chance, f"{probability} of the halvings that test (a, b) train (b, a), {stated}")
    counted, expected = _counted_chance(trained), _chance(_MODULUS_3**2, trained)
    small = f"modulus {_MODULUS_3}: {counted} of the test pairs are trained swapped, not {expected}"
    refute(counted != expected, small)
    classes = len({frozenset(pair) for pair in PAIRS})
    refute(classes != unordered, f"there are {classes} unordered pairs, not {unordered}")
    for seed in SEEDS:
        parts = disjoint(seed)
        leaked, tested = _swapped_in_training(*parts)
        for a, b in leaked:
            refute(True, f"seed {seed}: {len(leaked)} of {tested}; ({a}, {b}) is tested, ({b}, {a}) trained")
        sizes = [len({frozenset(pair) for pair in part}) for part in parts]
        halves = [classes // 2, classes - classes // 2]
        refute(sizes != halves, f"seed {seed}: parts of {sizes} unordered pairs, not {halves}")
    released = [_swapped_in_training(*ordered_split(seed)) for seed in SEEDS]
    shares = ", ".join(f"{len(leaked)}/{tested} = {100 * len(leaked) / tested:.2f} %" for leaked, tested in released)
    yield f"of the halvings of {len(PAIRS)} pairs that test (a, b), {probability} train (b, a)"
    yield f"modulus {_MODULUS_3}, all {comb(_MODULUS_3**2, _MODULUS_3**2 // 2)} halvings: {counted}"
    yield f"released splits, seeds {SEEDS_TEXT}: {shares}"
    yield f"splits of the {classes} unordered pairs, same seeds: none"
    yield Reach(f"{classes} unordered pairs")


@CLAIMS.claim(
    "mod-8",
    "baseline: the text 'a + b' at position 0",
    r"\max_{a,b}|\text{``}a\,{+}\,b\text{''}| = 7",
    strength=Strength.EXHAUSTIVE,
    reach=f"all {len(PAIRS)} pairs",
    assumptions=("the baseline's training texts: no filler, padded on the right",),
    answers=("first_free",),
    falsifiers={
        "written without spaces": {"text": lambda pair: text(pair).replace(" ", "")},
        "followed by an equals sign": {"text": lambda pair: f"{text(pair)} ="},
    },
)
def trained_rows(text: Callable[[Pair], str] = text, first_free: int = 7) -> Facts:
    """The baseline's training puts no character of an expression into row 7 of the position table or beyond, as the
    texts of all 9409 pairs are shorter; those of two numbers of two digits end in row 6.
    """
    longest = text(max(PAIRS, key=lambda pair: len(text(pair))))
    last, beyond = len(longest) - 1, longest[first_free:]
    refute(beyond, f"row {first_free} carries {beyond[:1]!r} of {longest!r}")
    empty = f"row {first_free - 1} carries nothing"
    refute(last < first_free - 1, f"{empty}: the longest text, {longest!r}, ends at row {last}")
    yield f"{len(PAIRS)} texts: the longest, {longest!r} first, take rows 0 to {last}"
