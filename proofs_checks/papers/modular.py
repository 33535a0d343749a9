"""Text-based modular addition under position shift (arXiv 2601.04283): what the data allow before any training.

The claims are about the released protocol, the best predictor that does not see the order of characters, the overlap of
training and test pairs, and the arithmetic of the reported means.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from statistics import mean

from lengthgen.empirical.studies.modular_addition.texts import (
    MODULUS,
    Pair,
    View,
    all_pairs,
    bag,
    by_unordered_pair,
    counts_by_view,
    most_right,
    text,
)
from lengthgen.empirical.studies.modular_addition.texts import ordered_split as split
from lengthgen.proofs_checks.claim import Refuted, Source, Strength
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, Reach

SOURCE = Source(paper="Mitigating Position-Shift Failures in Text-Based Modular Arithmetic", arxiv="2601.04283")

Answers = Callable[[Hashable], Mapping[int, Fraction]]
"""View -> the predicted labels, each with its probability."""
Split = Callable[[int], tuple[Sequence[Pair], Sequence[Pair]]]
"""Seed -> training and test pairs."""

PAIRS = all_pairs()
SEEDS = (42, 43, 44)
_TESTED_IN_EVAL_A = 400
_MODULUS_3 = 3
_ROUNDING = Fraction(1, 20)
"""Largest rounding error of a number given in tenths."""
BY_POSITION = {
    "baseline_001": ("99.0", "0.7", "0.3", "1.3", "1.0", "1.0", "1.0"),
    "i1_001_1": ("5.7", "8.0", "97.0", "98.0", "97.3", "98.3", "97.7"),
    "i1_002a": ("5.0", "22.3", "96.7", "98.0", "97.0", "97.3", "99.3"),
    "i1_002_alibi": ("32.0", "30.7", "33.7", "33.3", "39.7", "35.0", "36.0"),
}
"""Reported accuracies in percent at the positions 0, 8, 16, 24, 32, 48, 64."""
_EVAL_B = {"baseline_001": "14.9", "i1_001_1": "71.7", "i1_002a": "73.7", "i1_002_alibi": "34.3"}


def majority(train: Iterable[Pair]) -> Answers:
    """Return a predictor that answers the most frequent label among training pairs with the same bag of characters.

    Ties share the probability evenly. A bag without training pairs gets no answer.
    """
    labels = counts_by_view(train, bag)

    def answers(view: Hashable) -> Mapping[int, Fraction]:
        counts = labels.get(view, Counter())
        most_frequent = [candidate for candidate, count in counts.items() if count == max(counts.values())]
        return {candidate: Fraction(1, len(most_frequent)) for candidate in most_frequent}

    return answers


def _accuracy(answers: Answers, pairs: Sequence[Pair]) -> Fraction:
    """Expected accuracy of the answers on these pairs."""
    right = Fraction(0)
    for view, counts in counts_by_view(pairs, bag).items():
        shares = answers(view)
        right += sum(shares[answer] * count for answer, count in counts.items() if answer in shares)
    return right / len(pairs)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.2f} %"


def _tenths(percent: int) -> Fraction:
    """Fraction for a percentage given in tenths of a percent."""
    return Fraction(percent, 1000)


def _chance(pairs: int, trained: Callable[[int], int]) -> Fraction:
    """Share of the splits that put one given pair into training, among those that test another given pair."""
    return Fraction(comb(pairs - 2, trained(pairs) - 1), comb(pairs - 1, trained(pairs)))


def _by_first_number(seed: int) -> tuple[list[Pair], list[Pair]]:
    """Training and test pairs split by the first number, odd or even; the seed is ignored."""
    return [pair for pair in PAIRS if pair[0] % 2], [pair for pair in PAIRS if pair[0] % 2 == 0]


def _counted_chance(trained: Callable[[int], int]) -> Fraction:
    """The share of `_chance`, counted for a small modulus over all splits and all test pairs with a != b."""
    pairs = [(a, b) for a in range(_MODULUS_3) for b in range(_MODULUS_3)]
    rows = [
        _swapped_in_training(train, sorted({*pairs} - {*train})) for train in combinations(pairs, trained(len(pairs)))
    ]
    return Fraction(sum(len(leaked) for leaked, _ in rows), sum(tested for _, tested in rows))


def _swapped_in_training(train: Sequence[Pair], test: Sequence[Pair]) -> tuple[list[Pair], int]:
    """Test pairs with a != b whose swap is in training, and the number of all test pairs with a != b."""
    trained, tested = set(train), [pair for pair in test if pair[0] != pair[1]]
    return [pair for pair in tested if pair[::-1] in trained], len(tested)


CLAIMS = PaperClaims(SOURCE)


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
    right = Fraction(most_right(labels), len(PAIRS))
    if right != best or len(labels) != views:
        raise Refuted(
            f"at best {right} = {_percent(right)} with {len(labels)} views, not {_percent(best)} with {views}"
        )
    chance = Fraction(1, MODULUS)
    yield f"{len(PAIRS)} pairs, {len(labels)} views: at best {right} = {_percent(right)}, chance {_percent(chance)}"


@CLAIMS.claim(
    "mod-3",
    "table of results, row I1_002-ALiBi",
    r"|\mathrm{acc}(\text{bag majority}) - \text{reported}| \le 3\sigma_{\text{reported}}",
    strength=Strength.EXHAUSTIVE,
    answers=("reported",),
    falsifiers={
        "test pairs seen as well": {"learner": lambda train: majority(PAIRS)},
        "guessing": {"learner": lambda train: lambda view: dict.fromkeys(range(MODULUS), Fraction(1, MODULUS))},
        "a tenth of the training pairs": {"learner": lambda train: majority(train[::10])},
    },
)
def bag_rule(
    learner: Callable[[Sequence[Pair]], Answers] = majority,
    reported: Mapping[str, tuple[Fraction, Fraction]] = {
        "Eval-A": (_tenths(214), _tenths(10)),
        "Eval-B": (_tenths(343), _tenths(30)),
        "Eval-C1": (_tenths(345), _tenths(35)),
    },
) -> Facts:
    """Answering with the most frequent label of the bag among training pairs gives the scores reported for the 'ALiBi'
    model in Eval-A, Eval-B and Eval-C1, within three standard deviations (errata F2: the released script deletes the
    position embedding and adds no ALiBi, so the row is that of a bag of characters). The splits are those of seeds 42,
    43, 44.

    Eval-A uses the first 400 test pairs, all other evaluations use all pairs.
    """
    on_first_tests, on_tests, on_all_pairs = [], [], []
    for seed in SEEDS:
        train, held_out = split(seed)
        answers = learner(train)
        on_first_tests.append(_accuracy(answers, held_out[:_TESTED_IN_EVAL_A]))
        on_tests.append(_accuracy(answers, held_out))
        on_all_pairs.append(_accuracy(answers, PAIRS))
    for evaluation, (score, deviation) in reported.items():
        expected = mean(on_first_tests if evaluation == "Eval-A" else on_all_pairs)
        against = f"{evaluation}: the rule scores {_percent(expected)}, reported are {_percent(score)}"
        if abs(expected - score) > 3 * deviation:
            raise Refuted(f"{against} with standard deviation {_percent(deviation)}")
        yield f"{against} +- {_percent(deviation)}"
    seeds = ", ".join(map(str, SEEDS))
    yield f"first {_TESTED_IN_EVAL_A} test pairs, seeds {seeds}: {', '.join(map(_percent, on_first_tests))}"
    yield f"all test pairs: {', '.join(map(_percent, on_tests))}, mean {_percent(mean(on_tests))}"
    yield f"all pairs: {', '.join(map(_percent, on_all_pairs))}, mean {_percent(mean(on_all_pairs))}"
    yield Reach(f"seeds {seeds}")
    yield Assumption(
        f"the splits of the released script for seeds {seeds}; expected accuracies over ties broken evenly"
    )
    yield Assumption(
        "the text around the expression has no digit and no plus sign, so its bag determines that of the pair"
    )


@CLAIMS.claim(
    "mod-5",
    "the split into training and test pairs",
    r"\Pr\big[(b,a)\in\mathrm{train}\mid(a,b)\in\mathrm{test}\big]=\tfrac{4704}{9408}=\tfrac12,\ a\ne b",
    strength=Strength.EXHAUSTIVE,
    assumptions=("a halving trains one pair less than it tests",),
    answers=("chance", "unordered"),
    falsifiers={
        "pair-disjoint is swap-disjoint": {"disjoint": split},
        "split by the first number": {"disjoint": _by_first_number},
        "a third of the pairs trained": {"trained": lambda pairs: pairs // 3},
        "one pair fewer trained": {"trained": lambda pairs: pairs // 2 - 1},
    },
)
def swapped(
    trained: Callable[[int], int] = lambda pairs: pairs // 2,
    disjoint: Split = by_unordered_pair,
    chance: Fraction = Fraction(1, 2),
    unordered: int = MODULUS * (MODULUS + 1) // 2,
) -> Facts:
    """In a random halving of the ordered pairs a test pair (a, b), a != b, has (b, a) in training with probability 1/2;
    halving the 4753 unordered pairs leaves no such pair.

    Decide how likely a test pair (a, b), a != b, has (b, a) in training, and that the split `disjoint` avoids it.

    Args:
        trained: number of pairs -> number of training pairs.
        disjoint: split without such test pairs.
        chance: the probability.
        unordered: number of unordered pairs.
    """
    probability = _chance(len(PAIRS), trained)
    if probability != chance:
        raise Refuted(f"{probability} of the halvings that test (a, b) train (b, a), not {float(100 * chance):.2f} %")
    counted, expected = _counted_chance(trained), _chance(_MODULUS_3**2, trained)
    if counted != expected:
        raise Refuted(f"modulus {_MODULUS_3}: {counted} of the test pairs are trained swapped, not {expected}")
    for seed in SEEDS:
        leaked, tested = _swapped_in_training(*disjoint(seed))
        if leaked:
            (a, b), *_ = leaked
            raise Refuted(f"seed {seed}: {len(leaked)} of {tested}; ({a}, {b}) is tested, ({b}, {a}) trained")
    classes = len({frozenset(pair) for pair in PAIRS})
    if classes != unordered:
        raise Refuted(f"there are {classes} unordered pairs, not {unordered}")
    released = [_swapped_in_training(*split(seed)) for seed in SEEDS]
    shares = ", ".join(f"{len(leaked)}/{tested} = {100 * len(leaked) / tested:.2f} %" for leaked, tested in released)
    yield f"of the halvings of {len(PAIRS)} pairs that test (a, b), {probability} train (b, a)"
    yield f"modulus {_MODULUS_3}, all {comb(_MODULUS_3**2, _MODULUS_3**2 // 2)} halvings: {counted}"
    yield f"released splits, seeds {', '.join(map(str, SEEDS))}: {shares}"
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
    """In the baseline's training no character of an expression stands in row 7 of the position table or beyond, and one
    does in row 6. This holds for all 9409 pairs.
    """
    longest = max(PAIRS, key=lambda pair: len(text(pair)))
    reached = len(text(longest))
    if reached > first_free:
        raise Refuted(f"row {first_free} carries {text(longest)[first_free]!r} of {text(longest)!r}")
    if reached < first_free:
        raise Refuted(
            f"row {first_free - 1} carries nothing: the longest text, {text(longest)!r}, ends at row {reached - 1}"
        )
    yield f"{len(PAIRS)} texts: the longest, {text(longest)!r} first, take rows 0 to {reached - 1}"


@CLAIMS.claim(
    "mod-6",
    "table of results, Eval-B, and its values by position",
    r"\text{Eval-B} = \tfrac17\sum_{p\in\{0,8,16,24,32,48,64\}}\mathrm{acc}_p",
    strength=Strength.EXHAUSTIVE,
    assumptions=("numbers rounded to tenths",),
    falsifiers={
        "over six positions": {"positions": 6},
        "over eight positions": {"positions": 8},
        "without position 0": {"by_position": {name: row[1:] for name, row in BY_POSITION.items()}, "positions": 6},
    },
)
def means(
    positions: int = 7, by_position: Mapping[str, Sequence[str]] = BY_POSITION, reported: Mapping[str, str] = _EVAL_B
) -> Facts:
    """The reported Eval-B scores of 4 models are the means over the seven positions.

    Decide if each reported score is the sum over positions divided by `positions`, up to rounding.
    """
    for name, accuracies in by_position.items():
        total = sum(map(Fraction, accuracies), Fraction(0))
        score, slack = Fraction(reported[name]), _ROUNDING * (1 + Fraction(len(accuracies), positions))
        quotient = f"{name}: {float(total)}/{positions} = {float(total / positions):.2f}"
        if abs(total / positions - score) > slack:
            raise Refuted(f"{quotient}, not {reported[name]}")
        yield f"{quotient}, reported {reported[name]}"
    yield Reach(f"{len(by_position)} models")
