"""Test of the conjecture: predictions stored before training, outcomes of runs, and a verdict per cell.

A cell is one task, format, encoding and model size; its runs differ in the seed. A run that does not fit its training
scales says nothing about generalization: it is the third outcome. Experiments can refute a prediction, never prove it.

The verdict ([F]). The conjecture is about what is possible, a run shows what happened. So a cell is defined to
generalize iff more than half of all fitting runs would. Given the number of fitting runs, the successes among them are
binomial, and an exact one-sided test against one half is made in each direction:

- refuted: significantly many runs go against the prediction;
- consistent: significantly many runs go with the prediction;
- undecided (power): neither is significant; not learnt: no run fits; no prediction: there was none.

The first two use p-values corrected over the cells (Holm). Verdicts are read as a list, and without a correction a long
list of right predictions contains some that chance refutes. With it, the probability that any right prediction of the
list is called refuted is at most 5%; so is, separately, the probability that any wrong one is called consistent. The
price is more runs: 5 per cell can decide one cell alone, not several (`runs_needed`). Many small cells are judged
together by the 2x2 table, which counts a cell by the majority of its fitting runs. A family of tests holds the cells
under one criteria that have a prediction and a fitting run. Each test takes the number of fitting runs as given, so
that this choice cannot favour a side. Runs of a cell differ in their seed and are assumed independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from circuits.modes import Mode
from circuits.prediction import VARIANTS, Prediction, VariantPrediction
from empirical.trial.outcomes import Checkpoint, History, RunOutcome, outcome
from empirical.trial.statistics import ALPHA, Share, holm, share, tail
from theory.system.errors import LengthgenError

RULES = {
    "coverage": "with coverage",
    "literal": "literal",
    "selection": "with selection",
    "selection_with_token": "with own token",
    "distractors": "with distractors",
}
"""Rules of prediction, each with its name in tables.

"coverage" is ours: equal finite complexity, and training meets all labels and entries. "literal" is [P] read
literally: equal finite complexity alone. "selection" is coverage where the views must also select the operators, and
"selection_with_token" the same where a view shows the query's own token ([F], `circuits.induced`). "distractors" is
coverage where training must also have shown every (label, token) of irrelevant keys ([F]).
"""


class TrialError(LengthgenError):
    """The trial lacks the cells in question."""


class CellKey(NamedTuple):
    """Key of a cell: what its runs have in common, in words."""

    task: str
    format: str
    encoding: str
    size: str

    def __str__(self) -> str:
        """task/format/encoding/size."""
        return "/".join(self)


@dataclass(frozen=True, kw_only=True)
class CellEvidence:
    """Evidence about one cell.

    Attributes:
        predictions: prediction by operator mode. No entry, None, or a prediction without an answer if there is none, as
            for an encoding without a relation or a mode that needs a reference circuit.
        runs: runs with their metrics.
        predicted_before_training: True if the seed of every run derives from the frozen predictions of the cell.
        frozen_rules: rules with a frozen answer, as (mode, rule); every other rule is post hoc.
        not_frozen: runs of the cell with other seeds, such as those of another prediction; they decide nothing.
    """

    key: CellKey
    predictions: Mapping[str, Prediction | None]
    runs: Sequence[History]
    predicted_before_training: bool
    frozen_rules: frozenset[tuple[str, str]]
    not_frozen: Sequence[History] = ()


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """Criteria for judging the evidence.

    Attributes:
        threshold: exact match from which on a scale counts as solved.
        size: model size; cells of other sizes are left out.
        checkpoint: checkpoint of a run that is judged.
        mode: operator mode of the predictions.
        rule: one of RULES.
    """

    threshold: float
    size: str
    checkpoint: str = Checkpoint.LAST
    mode: str = Mode.FREE
    rule: str = "coverage"


@dataclass(frozen=True, kw_only=True)
class JudgedCell:
    """Cell with its prediction, its runs' outcomes and the verdict.

    Attributes:
        predicted: True if the criteria's rule predicts that the cell generalizes; None without a prediction.
        verdict: see the module's docstring.
        p_against, p_for: probability of at least so many fitting runs against (for) the prediction, if half of all such
            runs were; None without a prediction or a fitting run.
        p_against_holm, p_for_holm: the same, corrected over the cells.
        post_hoc: True if the rule answers, but had not answered when the predictions were frozen.
    """

    key: CellKey
    prediction: Prediction | None
    predicted: bool | None
    outcomes: tuple[RunOutcome, ...]
    fit: Share
    generalizes_given_fit: Share
    generalizes: Share
    verdict: str
    p_against: float | None
    p_for: float | None
    p_against_holm: float | None
    p_for_holm: float | None
    predicted_before_training: bool
    post_hoc: bool

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None without fitting runs or with a tie."""
        successes, trials = self.generalizes_given_fit.successes, self.generalizes_given_fit.trials
        return None if 2 * successes == trials else 2 * successes > trials


def predicted_by(prediction: Prediction | None, rule: str) -> bool | None:
    """Answer of a rule: does the cell generalize? None without a prediction, or if it has no answer."""
    if prediction is None:
        return None
    if rule in VARIANTS:
        variant: VariantPrediction | None = getattr(prediction, rule)
        return None if variant is None else variant.generalizes
    answers: dict[str, bool | None] = {"coverage": prediction.generalizes, "literal": prediction.literal}
    return answers[rule]


def judge(evidence: Sequence[CellEvidence], criteria: Criteria) -> list[JudgedCell]:
    """Return a verdict for every cell of the criteria's size, in the order given.

    Raises:
        TrialError: no cell has that size.
        StoreError: a run lacks a measurement.
    """
    chosen = [entry for entry in evidence if entry.key.size == criteria.size]
    if not chosen:
        sizes = ", ".join(dict.fromkeys(entry.key.size for entry in evidence)) or "none"
        raise TrialError(f"no cell has the model size '{criteria.size}': the cells have {sizes}")
    outcomes = [_outcomes(entry, criteria) for entry in chosen]
    predictions = [entry.predictions.get(criteria.mode) for entry in chosen]
    predicted = [predicted_by(prediction, criteria.rule) for prediction in predictions]
    fitting = [sum(run.fits for run in runs) for runs in outcomes]
    successes = [sum(bool(run.generalizes) for run in runs) for runs in outcomes]
    tested = [index for index in range(len(chosen)) if predicted[index] is not None and fitting[index]]
    agreeing = {i: successes[i] if predicted[i] else fitting[i] - successes[i] for i in tested}
    p_for = {i: tail(agreeing[i], fitting[i]) for i in tested}
    p_against = {i: tail(fitting[i] - agreeing[i], fitting[i]) for i in tested}
    for_holm = dict(zip(tested, holm(list(p_for.values())), strict=True))
    against_holm = dict(zip(tested, holm(list(p_against.values())), strict=True))
    return [
        JudgedCell(
            key=entry.key,
            prediction=predictions[i],
            predicted=predicted[i],
            outcomes=outcomes[i],
            fit=share(fitting[i], len(outcomes[i])),
            generalizes_given_fit=share(successes[i], fitting[i]),
            generalizes=share(successes[i], len(outcomes[i])),
            verdict=_verdict(predicted[i], against_holm.get(i), for_holm.get(i)),
            p_against=p_against.get(i),
            p_for=p_for.get(i),
            p_against_holm=against_holm.get(i),
            p_for_holm=for_holm.get(i),
            predicted_before_training=entry.predicted_before_training,
            post_hoc=predicted[i] is not None and (criteria.mode, criteria.rule) not in entry.frozen_rules,
        )
        for i, entry in enumerate(chosen)
    ]


def _outcomes(evidence: CellEvidence, criteria: Criteria) -> tuple[RunOutcome, ...]:
    """Outcomes of the runs of a cell."""
    return tuple(
        outcome(history, threshold=criteria.threshold, checkpoint=criteria.checkpoint) for history in evidence.runs
    )


def _verdict(predicted: bool | None, p_against: float | None, p_for: float | None) -> str:
    """Verdict from the corrected p-values."""
    if predicted is None:
        return "no prediction"
    if p_against is None or p_for is None:
        return "not learnt"
    if p_against <= ALPHA:
        return "refuted"
    return "consistent" if p_for <= ALPHA else "undecided (power)"
