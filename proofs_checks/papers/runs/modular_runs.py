"""Claims on text-based modular addition (arXiv 2601.04283), decided by stored models (`lengthgen modular-addition`).

Each seed gives one difference of accuracies; a one-sided t-test over seeds decides at 0.05, which takes them for
independent and normal ([F]).  Positions and the bound of each claim are ours where the profile is not the paper's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from lengthgen.empirical.studies.modular_addition.conditions import ModularProfile, load_profile
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun, is_fitted
from lengthgen.empirical.studies.modular_addition.texts import all_pairs, bag, counts_by_view, most_right, text
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.majority import decide_mean, signed
from lengthgen.proofs_checks.papers.modular import SOURCE
from lengthgen.proofs_checks.trained import NONE, Runs

Measured = Mapping[str, Any]
"""Measurements of a run: trained, reference, agreeing, accuracy; see `Classifiers.measure`."""
Score = Callable[[ModularProfile, Measured], Sequence[float]]
"""Share by seed that a claim is about."""

CLIFF = 0.5
"""Fall of the accuracy that counts as a cliff ([F]); fixed before any shift was measured."""
MARGIN = 0.1
"""Fall of the accuracy that counts as none ([F]); fixed before any shift was measured."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Score of the models of a condition, with its name for people."""

    condition: str
    score: Score
    title: str


def at_first_position(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Accuracy without filler."""
    return _at(measured, profile.positions[0])


def beyond_the_text(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Accuracy at the first tested position that no expression without filler reaches."""
    longest = max(len(text(pair)) for pair in all_pairs(profile.modulus))
    return _at(measured, min(position for position in profile.positions if position >= longest))


def worst_inside(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Least accuracy at the tested positions from the shortest to the longest filler of training."""
    inside = [at for at in profile.positions if profile.shortest_prefix <= at <= profile.longest_prefixes[-1]]
    return [min(shares) for shares in zip(*(_at(measured, position) for position in inside), strict=True)]


def as_trained(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Accuracy on the pairs of the other evaluations, with the inputs of training."""
    shares: Sequence[float] = measured["reference"]
    return shares


def held_out(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Accuracy on held-out pairs with the inputs of training: Eval-A."""
    shares: Sequence[float] = measured["accuracy"]["A"]
    return shares


def without_order(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Best accuracy of a predictor that does not see the order of characters, over all pairs."""
    pairs = all_pairs(profile.modulus)
    best = float(Fraction(most_right(counts_by_view(pairs, bag, profile.modulus)), len(pairs)))
    return [best] * len(profile.seeds)


def _at(measured: Measured, position: int) -> Sequence[float]:
    shares: Sequence[float] = measured["accuracy"][f"B at {position}"]
    return shares


def accuracy_is_larger(*, runs: Runs, first: Scored, second: Scored, bound: float) -> Evidence:
    """Decide if the first score exceeds the second by more than `bound`, in the mean over seeds.

    Raises:
        Refuted: it does not, significantly.
        Unsettled: models are not stored or do not fit their training pairs, or neither is significant.
    """
    profile = _profile(runs)
    scores = [scored.score(profile, _fitted(runs, profile, scored.condition)) for scored in (first, second)]
    differences = [larger - smaller for larger, smaller in zip(*scores, strict=True)]
    seen = (
        f"{first.condition}, {first.title}: {fmean(scores[0]):.3f}; {second.condition}, {second.title}: "
        f"{fmean(scores[1]):.3f}; {signed(differences)}"
    )
    assumptions = (_conditions(runs, profile), "nothing is said of other sizes")
    return decide_mean(differences, "above", bound, seen=seen, assumptions=assumptions)


def nothing_changes(*, runs: Runs, first: str, second: str) -> Evidence:
    """Decide if the models of two conditions have the same measurements, number by number."""
    profile = _profile(runs)
    measured = [_measured(runs, profile, condition) for condition in (first, second)]
    differing = [
        (evaluation, measured[0]["accuracy"][evaluation], measured[1]["accuracy"][evaluation])
        for evaluation in measured[0]["accuracy"]
        if measured[0]["accuracy"][evaluation] != measured[1]["accuracy"].get(evaluation)
    ]
    if differing:
        evaluation, ours, others = differing[0]
        raise Refuted(f"{evaluation}: {first} {ours}, {second} {others}; {len(differing)} evaluations differ")
    return Evidence(
        strength=Strength.STATISTICAL,
        facts=(f"{first} and {second}: the same accuracy of every seed in {len(measured[0]['accuracy'])} evaluations",),
        assumptions=(_conditions(runs, profile), "both conditions draw the same numbers from the same seeds"),
    )


def _profile(runs: Runs) -> ModularProfile:
    """Return the profile of the runs. Raises `Unsettled` if there is none."""
    try:
        return load_profile(runs.profile)
    except ProfileError as error:
        raise Unsettled(str(error)) from error


def _fitted(runs: Runs, profile: ModularProfile, condition: str) -> Measured:
    """Return the measurements of a condition. Raises `Unsettled` too if a seed does not fit its training pairs."""
    measured = _measured(runs, profile, condition)
    run = ModularRun(condition_name=condition, profile_name=runs.profile, profile=profile)
    if not is_fitted(run, {"measured": measured}):
        shares = ", ".join(f"{share:.0%}" for share in measured["trained"])
        raise Unsettled(f"models of {condition} do not fit their training pairs: {shares} right, by seed")
    return measured


def _measured(runs: Runs, profile: ModularProfile, condition: str) -> Measured:
    """Return the measurements of a condition. Raises `Unsettled` if they are not stored."""
    run = ModularRun(condition_name=condition, profile_name=runs.profile, profile=profile)
    try:
        result = None if runs.out is None else run.result(runs.out)
    except (LengthgenError, OSError) as error:
        raise Unsettled(str(error)) from error
    if result is None:
        raise Unsettled(
            f"models of {condition}, profile {runs.profile}, are missing: lengthgen modular-addition --condition "
            f"{condition} --profile {runs.profile} --out OUT"
        )
    measured: Measured = result["measured"]
    return measured


def _conditions(runs: Runs, profile: ModularProfile) -> str:
    """Text on how the models were trained."""
    return (
        f"profile {runs.profile}: modulus {profile.modulus}, model {profile.model}, {profile.steps} steps, filler of "
        f"{profile.shortest_prefix} to {profile.longest_prefixes[-1]} characters in training"
    )


_FIRST = Scored(condition="described-baseline", score=at_first_position, title="position 0")
_BEYOND = Scored(condition="described-baseline", score=beyond_the_text, title="beyond the trained rows")
_INSIDE = Scored(condition="described-shift", score=worst_inside, title="worst trained position")
_OWN = Scored(condition="described-shift", score=as_trained, title="as trained")
_ALIBI = Scored(condition="described-alibi", score=held_out, title="held-out pairs")
_BEST_BAG = Scored(condition="described-alibi", score=without_order, title="best without order")

CLAIMS = (
    Claim(
        id="mod-9a",
        source=SOURCE.at("table of results, baseline by position; profile and bound are ours"),
        statement="Models trained at one position fall off a cliff: where filler moves the expression to rows that "
        f"training never uses, their accuracy is over {CLIFF:g} below that at the trained position.",
        latex=rf"\mathrm{{acc}}_0-\mathrm{{acc}}_{{p\ge7}}>{CLIFF:g}",
        label="P",
        check=accuracy_is_larger,
        holds={"runs": NONE, "first": _FIRST, "second": _BEYOND, "bound": CLIFF},
        falsifiers={
            "so do models trained with shifts": {"first": _OWN, "second": _INSIDE},
            "they rise": {"first": _BEYOND, "second": _FIRST},
        },
    ),
    Claim(
        id="mod-9b",
        source=SOURCE.at("table of results, I1_001 by position; profile and margin are ours"),
        statement="Training at random positions removes the cliff inside the trained range: at the worst trained "
        f"position the accuracy is less than {MARGIN:g} below that on the inputs of training.",
        latex=rf"\mathrm{{acc}}_{{\text{{trained}}}}-\min_{{p\in\text{{range}}}}\mathrm{{acc}}_p<{MARGIN:g}",
        label="P",
        check=accuracy_is_larger,
        holds={"runs": NONE, "first": _INSIDE, "second": _OWN, "bound": -MARGIN},
        falsifiers={
            "training at one position does too": {
                "first": Scored(condition="described-baseline", score=worst_inside, title="worst of these positions"),
                "second": Scored(condition="described-baseline", score=as_trained, title="as trained"),
            }
        },
    ),
    Claim(
        id="mod-9c",
        source=SOURCE.at("the ALiBi ablation, with the bias that the released script leaves out"),
        statement="With ALiBi's bias -m |i - j| added, the accuracy on held-out pairs is above that of the best "
        "predictor that does not see the order of characters, 36.70 % at modulus 97; so the reported row is not that "
        "of ALiBi.",
        latex=r"\mathrm{acc}(\text{ALiBi})>3453/9409",
        label="F",
        check=accuracy_is_larger,
        holds={"runs": NONE, "first": _ALIBI, "second": _BEST_BAG, "bound": 0.0},
        falsifiers={
            "so has the script's ablation": {
                "first": Scored(condition="released-alibi", score=held_out, title="held-out pairs"),
                "second": Scored(condition="released-alibi", score=without_order, title="best without order"),
            }
        },
    ),
    Claim(
        id="mod-9d",
        source=SOURCE.at("the consistency term of the released script"),
        statement="Without the consistency term of the released script the models are the same: every accuracy of "
        "every seed is unchanged.",
        latex=r"\lambda_{\text{released}}=0.5\ \text{and}\ 0\ \text{train the same models}",
        label="F",
        check=nothing_changes,
        holds={"runs": NONE, "first": "released-shift", "second": "released-shift-plain"},
        falsifiers={
            "without the term that the paper describes": {"first": "described-shift", "second": "described-shift-plain"}
        },
    ),
)
