"""What a predictor can reach that sees the characters of an expression but not their order."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import mean

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.modular.protocol import MODULUS, PAIRS, SEEDS, Pair, label, source, split, text

View = Callable[[str], Hashable]
"""What a predictor sees of a text."""
Answers = Callable[[Hashable], Mapping[int, Fraction]]
"""View -> the labels answered, each with its probability."""

_TESTED = 400


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
    """How often each label occurs with each view."""
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


CLAIMS = (
    Claim(
        id="mod-2",
        source=source("the data: all ordered pairs; the ALiBi ablation of the released script has no position signal"),
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
        source=source("table of results, row I1_002-ALiBi"),
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
)
