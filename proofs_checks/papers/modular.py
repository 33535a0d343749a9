"""Text-based modular addition under position shift (arXiv 2601.04283): what its data allow, before any training.

The released protocol, the best predictor that sees characters without their order, the overlap of training and test
pairs, and the arithmetic of the reported means.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from random import Random
from statistics import mean

from proofs_checks.claim import Claim, Evidence, Refuted, Source, Strength

SOURCE = Source(paper="Mitigating Position-Shift Failures in Text-Based Modular Arithmetic", arxiv="2601.04283")

Pair = tuple[int, int]

MODULUS = 97
PAIRS: tuple[Pair, ...] = tuple((a, b) for a in range(MODULUS) for b in range(MODULUS))
SEEDS = (42, 43, 44)

View = Callable[[str], Hashable]
"""Text as a predictor sees it."""
Answers = Callable[[Hashable], Mapping[int, Fraction]]
"""View -> the labels answered, each with its probability."""

_TESTED = 400

Split = Callable[[int], tuple[Sequence[Pair], Sequence[Pair]]]
"""Seed -> training and test pairs."""

_SMALL = 3

_ROUNDING = Fraction(1, 20)
"""Largest error of a number given in tenths."""

_BY_POSITION = {
    "baseline_001": ("99.0", "0.7", "0.3", "1.3", "1.0", "1.0", "1.0"),
    "i1_001_1": ("5.7", "8.0", "97.0", "98.0", "97.3", "98.3", "97.7"),
    "i1_002a": ("5.0", "22.3", "96.7", "98.0", "97.0", "97.3", "99.3"),
    "i1_002_alibi": ("32.0", "30.7", "33.7", "33.3", "39.7", "35.0", "36.0"),
}
"""Accuracies in percent at the positions 0, 8, 16, 24, 32, 48, 64."""
_EVAL_B = {"baseline_001": "14.9", "i1_001_1": "71.7", "i1_002a": "73.7", "i1_002_alibi": "34.3"}


def text(pair: Pair) -> str:
    """The expression as the model reads it; fillers and templates around it hold no digit and no plus sign."""
    return f"{pair[0]} + {pair[1]}"


def label(pair: Pair) -> int:
    """The class to predict."""
    return sum(pair) % MODULUS


def split(seed: int) -> tuple[list[Pair], list[Pair]]:
    """Training and test pairs: the released script seeds Python's random with the seed, shuffles and cuts in half."""
    shuffled = list(PAIRS)
    Random(seed).shuffle(shuffled)
    half = len(shuffled) // 2
    return shuffled[:half], shuffled[half:]


def bag(text: str) -> Hashable:
    """The characters in no order."""
    return "".join(sorted(text))


def ceiling(*, view: View, best: Fraction, views: int) -> Evidence:
    """Decide how often a predictor that sees this of the text is right at best, and how many views there are."""
    labels = _labels(PAIRS, view)
    found = Fraction(sum(max(counts.values()) for counts in labels.values()), len(PAIRS))
    if found != best or len(labels) != views:
        raise Refuted(
            f"at best {found} = {_percent(found)} with {len(labels)} views, not {_percent(best)} with {views}"
        )
    chance = Fraction(1, MODULUS)
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(PAIRS)} pairs",
        facts=(
            f"{len(PAIRS)} pairs, {len(labels)} views: at best {found} = {_percent(found)}, chance {_percent(chance)}",
        ),
        assumptions=("all pairs alike; the best answer to a view is its most frequent label",),
    )


def majority(train: Iterable[Pair]) -> Answers:
    """The most frequent label among training pairs with the bag, ties evenly; no answer to a bag without any."""
    labels = _labels(train, bag)

    def answers(view: Hashable) -> Mapping[int, Fraction]:
        counts = labels.get(view, Counter())
        most = [one for one, count in counts.items() if count == max(counts.values())]
        return {one: Fraction(1, len(most)) for one in most}

    return answers


def bag_rule(
    *, learner: Callable[[Sequence[Pair]], Answers], reported: Mapping[str, tuple[Fraction, Fraction]]
) -> Evidence:
    """Decide whether the learner's expected accuracies are within three reported standard deviations of the reported.

    Eval-A asks the first 400 test pairs, all other evaluations ask all pairs.
    """
    first, test, every = [], [], []
    for seed in SEEDS:
        train, held_out = split(seed)
        answers = learner(train)
        first.append(_accuracy(answers, held_out[:_TESTED]))
        test.append(_accuracy(answers, held_out))
        every.append(_accuracy(answers, PAIRS))
    facts = []
    for evaluation, (score, deviation) in reported.items():
        expected = mean(first if evaluation == "Eval-A" else every)
        against = f"{evaluation}: the rule scores {_percent(expected)}, reported are {_percent(score)}"
        if abs(expected - score) > 3 * deviation:
            raise Refuted(f"{against} with standard deviation {_percent(deviation)}")
        facts.append(f"{against} +- {_percent(deviation)}")
    seeds = ", ".join(map(str, SEEDS))
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"seeds {seeds}",
        facts=(
            *facts,
            f"first {_TESTED} test pairs, seeds {seeds}: {', '.join(map(_percent, first))}",
            f"all test pairs: {', '.join(map(_percent, test))}, mean {_percent(mean(test))}",
            f"all pairs: {', '.join(map(_percent, every))}, mean {_percent(mean(every))}",
        ),
        assumptions=(
            f"the splits of the released script for seeds {seeds}; expected accuracies over ties broken evenly",
            "nothing around the expression holds a digit or a plus sign, so the bag of the text tells that of the pair",
        ),
    )


def _labels(pairs: Iterable[Pair], view: View) -> dict[Hashable, Counter[int]]:
    """Number of times that each label occurs with each view."""
    found: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for pair in pairs:
        found[view(text(pair))][label(pair)] += 1
    return found


def _accuracy(answers: Answers, pairs: Sequence[Pair]) -> Fraction:
    right = Fraction(0)
    for view, counts in _labels(pairs, bag).items():
        shares = answers(view)
        right += sum(shares[one] * count for one, count in counts.items() if one in shares)
    return right / len(pairs)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.2f} %"


def _tenths(percent: int) -> Fraction:
    """A percentage given in tenths."""
    return Fraction(percent, 1000)


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
    """Share of the splits of so many pairs that train one given pair, among those that test another."""
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


def means(*, positions: int, by_position: Mapping[str, Sequence[str]], reported: Mapping[str, str]) -> Evidence:
    """Decide whether each reported score is the sum over positions divided by so many, as far as rounding can tell."""
    facts = []
    for name, accuracies in by_position.items():
        total = sum(map(Fraction, accuracies), Fraction(0))
        score, slack = Fraction(reported[name]), _ROUNDING * (1 + Fraction(len(accuracies), positions))
        quotient = f"{name}: {float(total)}/{positions} = {float(total / positions):.2f}"
        if abs(total / positions - score) > slack:
            raise Refuted(f"{quotient}, not {reported[name]}")
        facts.append(f"{quotient}, reported {reported[name]}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(by_position)} models",
        facts=tuple(facts),
        assumptions=("numbers rounded to tenths",),
    )


CLAIMS = (
    Claim(
        id="mod-2",
        source=SOURCE.at(
            "the data: all ordered pairs; the ALiBi ablation of the released script has no position signal"
        ),
        statement="A predictor that does not see the order of characters is right on at most 3453 of the 9409 pairs, "
        "36.70 %: they have 968 different bags of characters.",
        latex=r"\max_f \Pr_{a,b}\big[f(\mathrm{bag}(a{+}b)) = a+b \bmod 97\big] = 3453/9409",
        label="F",
        check=ceiling,
        holds={"view": bag, "best": Fraction(3453, 9409), "views": 968},
        answers=("best", "views"),
        falsifiers={
            "seen in order": {"view": str},
            "the set of characters": {"view": lambda text: "".join(sorted(set(text)))},
            "the number of characters": {"view": len},
            "the last character alone": {"view": lambda text: text[-1]},
        },
    ),
    Claim(
        id="mod-3",
        source=SOURCE.at("table of results, row I1_002-ALiBi"),
        statement="Answering with the most frequent label of the bag among training pairs scores what is reported of "
        "the 'ALiBi' model in Eval-A, Eval-B and Eval-C1, within three standard deviations (errata F2: the released "
        "script deletes the position embedding and adds no ALiBi, so the row is that of a bag of characters). "
        "The splits are those of seeds 42, 43, 44.",
        latex=r"|\mathrm{acc}(\text{bag majority}) - \text{reported}| \le 3\sigma_{\text{reported}}",
        label="F",
        check=bag_rule,
        holds={
            "learner": majority,
            "reported": {
                "Eval-A": (_tenths(214), _tenths(10)),
                "Eval-B": (_tenths(343), _tenths(30)),
                "Eval-C1": (_tenths(345), _tenths(35)),
            },
        },
        answers=("reported",),
        falsifiers={
            "test pairs seen as well": {"learner": lambda train: majority(PAIRS)},
            "guessing": {"learner": lambda train: lambda view: dict.fromkeys(range(MODULUS), Fraction(1, MODULUS))},
            "a tenth of the training pairs": {"learner": lambda train: majority(train[::10])},
        },
    ),
    Claim(
        id="mod-5",
        source=SOURCE.at("the split into training and test pairs"),
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
        source=SOURCE.at("baseline: the text 'a + b' at position 0"),
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
    Claim(
        id="mod-6",
        source=SOURCE.at("table of results, Eval-B, and its values by position"),
        statement="The reported Eval-B scores of 4 models are the means over the seven positions.",
        latex=r"\text{Eval-B} = \tfrac17\sum_{p\in\{0,8,16,24,32,48,64\}}\mathrm{acc}_p",
        label="F",
        check=means,
        holds={"positions": 7, "by_position": _BY_POSITION, "reported": _EVAL_B},
        falsifiers={
            "over six positions": {"positions": 6},
            "over eight positions": {"positions": 8},
            "without position 0": {
                "by_position": {name: row[1:] for name, row in _BY_POSITION.items()},
                "positions": 6,
            },
        },
    ),
)
