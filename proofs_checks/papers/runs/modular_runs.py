"""Claims on text-based modular addition (arXiv 2601.04283), decided by stored models (`lengthgen modular-addition`).

Each seed gives one difference of accuracies; a one-sided t-test over seeds decides at 0.05, which takes them for
independent and normal ([F]).  Every claim is our formalisation: bounds are ours, and positions too where the profile is
not the paper's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from lengthgen.empirical.studies.modular_addition.conditions import ModularProfile, load_profile
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun, is_fitted
from lengthgen.empirical.studies.modular_addition.texts import (
    MODULUS,
    all_pairs,
    bag,
    counts_by_view,
    most_right,
    text,
)
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.proofs_checks.claim import Parameters, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.majority import decide_mean, signed
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims
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


@dataclass(frozen=True)
class Scored:
    """Score of the models of a condition, with its name for people."""

    condition: str
    score: Score
    title: str


def beyond_the_text(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Accuracy at the first tested position that no expression without filler reaches."""
    longest = max(len(text(pair)) for pair in all_pairs(profile.modulus))
    return _at(measured, min(position for position in profile.positions if position >= longest))


def worst_inside(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Least accuracy at the tested positions from the shortest to the longest filler of training."""
    inside = [at for at in profile.positions if profile.shortest_prefix <= at <= profile.longest_prefixes[-1]]
    return [min(shares) for shares in zip(*(_at(measured, position) for position in inside), strict=True)]


def without_order(profile: ModularProfile, measured: Measured) -> Sequence[float]:
    """Best accuracy of a predictor that does not see the order of characters, over all pairs.

    Raise Unsettled if the modulus is not that of the claim.
    """
    if profile.modulus != MODULUS:
        raise Unsettled(f"the claim is about modulus {MODULUS}, and these models have {profile.modulus}")
    pairs = all_pairs(profile.modulus)
    best = float(Fraction(most_right(counts_by_view(pairs, bag, profile.modulus)), len(pairs)))
    return [best] * len(profile.seeds)


def _at(measured: Measured, position: int) -> Sequence[float]:
    shares: Sequence[float] = measured["accuracy"][f"B at {position}"]
    return shares


def accuracy_is_larger(runs: Runs, first: Scored, second: Scored, bound: float) -> Facts:
    """Decide if the first score exceeds the second by more than `bound`, in the mean over seeds.

    Raises:
        Refuted: it does not, significantly.
        Unsettled: models are not stored or do not fit their training pairs, or neither is significant.
    """
    scores = []
    for scored in (first, second):
        run, measured = _measured(runs, scored.condition)
        if not is_fitted(run, {"measured": measured}):
            shares = ", ".join(f"{share:.0%}" for share in measured["trained"])
            raise Unsettled(f"models of {scored.condition} do not fit their training pairs: {shares} right, by seed")
        scores.append(scored.score(run.profile, measured))
    differences = [larger - smaller for larger, smaller in zip(*scores, strict=True)]
    seen = (
        f"{first.condition}, {first.title}: {fmean(scores[0]):.3f}; {second.condition}, {second.title}: "
        f"{fmean(scores[1]):.3f}; {signed(differences)}"
    )
    yield _conditions(run)
    yield Assumption("nothing is said of other sizes")
    yield decide_mean(differences, "above", bound, seen=seen)


def nothing_changes(runs: Runs, first: str, second: str) -> Facts:
    """Decide if the models of two conditions have the same measurements, number by number."""
    (run, ours), (_, others) = (_measured(runs, condition) for condition in (first, second))
    differing = [
        (evaluation, accuracy, others["accuracy"][evaluation])
        for evaluation, accuracy in ours["accuracy"].items()
        if accuracy != others["accuracy"].get(evaluation)
    ]
    if differing:
        evaluation, accuracy, other = differing[0]
        raise Refuted(f"{evaluation}: {first} {accuracy}, {second} {other}; {len(differing)} evaluations differ")
    yield f"{first} and {second}: the same accuracy of every seed in {len(ours['accuracy'])} evaluations"
    yield _conditions(run)
    yield Assumption("both conditions draw the same numbers from the same seeds")


def _measured(runs: Runs, condition: str) -> tuple[ModularRun, Measured]:
    """Return the run of a condition and its measurements. Raises `Unsettled` if they are not stored."""
    try:
        run = ModularRun(condition_name=condition, profile_name=runs.profile, profile=load_profile(runs.profile))
        result = None if runs.out is None else run.result(runs.out)
    except (LengthgenError, OSError) as error:
        raise Unsettled(str(error)) from error
    if result is None:
        raise Unsettled(
            f"models of {condition}, profile {runs.profile}, are missing: lengthgen modular-addition --condition "
            f"{condition} --profile {runs.profile} --out OUT"
        )
    return run, result["measured"]


def _conditions(run: ModularRun) -> Assumption:
    """Assumption on how the models were trained."""
    profile = run.profile
    return Assumption(
        f"profile {run.profile_name}: modulus {profile.modulus}, model {profile.model}, {profile.steps} steps, filler "
        f"of {profile.shortest_prefix} to {profile.longest_prefixes[-1]} characters in training"
    )


CLAIMS = PaperClaims(SOURCE)
_FIRST = Scored("described-baseline", lambda profile, measured: _at(measured, profile.positions[0]), "position 0")
_BEYOND = Scored("described-baseline", beyond_the_text, "beyond the trained rows")
_INSIDE = Scored("described-shift", worst_inside, "worst trained position")
_OWN = Scored("described-shift", lambda profile, measured: measured["reference"], "as trained")


def _alibi(whose: str) -> Parameters:
    """ALiBi's accuracy on held-out pairs, in the described or in the released form, and the best one without order."""
    return {
        "first": Scored(f"{whose}-alibi", lambda profile, measured: measured["accuracy"]["A"], "held-out pairs"),
        "second": Scored(f"{whose}-alibi", without_order, "best without order"),
    }


CLAIMS.claim(
    "mod-9a",
    "table of results, baseline by position; profile and bound are ours",
    rf"\mathrm{{acc}}_0-\mathrm{{acc}}_{{p\ge7}}>{CLIFF:g}",
    statement="Models trained at one position fall off a cliff: at the first tested position where filler moves the "
    f"expression to rows that training never uses, the accuracy is over {CLIFF:g} below that at the trained position.",
    holds={"runs": NONE, "first": _FIRST, "second": _BEYOND, "bound": CLIFF},
    strength=Strength.STATISTICAL,
    falsifiers={
        "so do models trained with shifts": {"first": _OWN, "second": _INSIDE},
        "they rise": {"first": _BEYOND, "second": _FIRST},
    },
)(accuracy_is_larger)
CLAIMS.claim(
    "mod-9b",
    "table of results, I1_001 by position; profile and margin are ours",
    rf"\mathrm{{acc}}_{{\text{{trained}}}}-\min_{{p\in\text{{range}}}}\mathrm{{acc}}_p<{MARGIN:g}",
    statement="Training at random positions removes the cliff inside the trained range: at the worst position tested "
    f"there the accuracy is less than {MARGIN:g} below that on the inputs of training.",
    holds={"runs": NONE, "first": _INSIDE, "second": _OWN, "bound": -MARGIN},
    strength=Strength.STATISTICAL,
    falsifiers={
        "training at one position does too": {
            "first": Scored("described-baseline", worst_inside, "worst of these positions"),
            "second": Scored("described-baseline", lambda profile, measured: measured["reference"], "as trained"),
        }
    },
)(accuracy_is_larger)
CLAIMS.claim(
    "mod-9c",
    "the ALiBi ablation, with the bias that the released script leaves out",
    r"\mathrm{acc}(\text{ALiBi})>3453/9409",
    statement="With ALiBi's bias -m |i - j| added, the accuracy on held-out pairs is above 36.70 %, which the best "
    "predictor that does not see the order of characters has over all pairs at modulus 97. That order is seen does not "
    "follow: fitted to the held-out pairs alone such a predictor has more.",
    holds={"runs": NONE, "bound": 0.0, **_alibi("described")},
    strength=Strength.STATISTICAL,
    falsifiers={"so has the script's ablation": _alibi("released")},
)(accuracy_is_larger)
CLAIMS.claim(
    "mod-9d",
    "the consistency term of the released script",
    r"\mathrm{acc}(\lambda_{\text{released}}=0.5)=\mathrm{acc}(\lambda_{\text{released}}=0)",
    statement="Without the consistency term of the released script every accuracy of every seed is unchanged.",
    holds={"runs": NONE, "first": "released-shift", "second": "released-shift-plain"},
    strength=Strength.STATISTICAL,
    falsifiers={
        "without the term that the paper describes": {"first": "described-shift", "second": "described-shift-plain"}
    },
)(nothing_changes)
