"""Test of the conjecture: predictions stored before training, outcomes of runs, and a verdict per cell.

A cell is one task, format, encoding and model size; its runs differ in the seed. A run that does not fit its training
scales says nothing about generalization: it is the third outcome. Experiments can refute a prediction, never prove it.

The verdict ([F]). The conjecture is about what is possible, a run shows what happened. So a cell is defined to
generalize iff more than half of all fitting runs would. The evidence of a cell's fitting runs against each direction is
an e-value (`lengthgen.empirical.statistics.e_values`), which stays valid however many runs are added and whenever one
stops:

- refuted: the e-value against the prediction is large enough;
- consistent: the e-value for it is;
- mixed: neither is, but some fitting runs generalize and not nearly all do (see below); most stays open;
- undecided (power): none of these, or fewer than FEWEST runs fit;
- not learnt: no run fits; no prediction: there was none.

Large enough is decided for all cells together by e-BH: of the predictions called refuted at most 5% are expected to be
right, and of those called consistent at most 5% wrong, whatever the dependence between cells. A cell alone needs an
e-value of 20, which 5 fitting runs that agree give, and so do any number of cells that all agree; a cell among m that
are undecided needs 20 m. The 2x2 table counts a cell by the majority of its fitting runs. A family holds the cells
under one criteria that have a prediction and FEWEST fitting runs, a choice that cannot favour a side. Runs of a cell
differ in their seed and are assumed independent.

Beside the majority two more questions are answered for each cell alone: whether it is possible at all that a fitting
run generalizes (more than 5% do), and whether nearly all do (more than 90%).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.statistics.e_values import Estimand, Evidence, decides, e_bh
from lengthgen.empirical.statistics.shares import ALPHA, Share, share
from lengthgen.empirical.trial.outcomes import Checkpoint, History, RunOutcome, outcome
from lengthgen.infrastructure.errors import LengthgenError

FEWEST = 3
"""Smallest number of fitting runs from which a cell counts."""


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
        rule: one of `lengthgen.circuits.prediction_record.RULES`.
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
        expected_break: first scale at which the rule expects a failure; None if it expects none, or names no scale.
        verdict: see the module's docstring.
        e_against, e_for: e-value against (for) the prediction, with the majority of all such runs in question; None
            without a prediction or with fewer than FEWEST fitting runs.
        post_hoc: True if the rule answers, but had not answered when the predictions were frozen.
    """

    key: CellKey
    prediction: Prediction | None
    predicted: bool | None
    expected_break: float | None
    outcomes: tuple[RunOutcome, ...]
    fit: Share
    generalizes_given_fit: Share
    generalizes: Share
    verdict: str
    e_against: float | None
    e_for: float | None
    predicted_before_training: bool
    post_hoc: bool

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None with fewer than FEWEST fitting runs or with a tie."""
        successes, trials = self.generalizes_given_fit.successes, self.generalizes_given_fit.trials
        return None if trials < FEWEST or 2 * successes == trials else 2 * successes > trials

    @property
    def decided(self) -> bool:
        """True if the verdict is refuted or consistent."""
        return self.verdict in ("refuted", "consistent")

    def estimates(self) -> dict[str, dict[str, float | bool | None]]:
        """Return, by question, the e-values for a share above and below its threshold, and the answer they decide."""
        counts = self.generalizes_given_fit
        answers = {}
        for estimand in Estimand:
            evidence = estimand.evidence(counts.successes, counts.trials)
            answer = _answer(evidence, counts.trials)
            answers[estimand.name.lower()] = {"above": evidence.above, "below": evidence.below, "answer": answer}
        return answers


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
    predicted = [prediction.says(criteria.rule) if prediction else None for prediction in predictions]
    fitting = [sum(run.fits for run in runs) for runs in outcomes]
    successes = [sum(bool(run.generalizes) for run in runs) for runs in outcomes]
    tested = [index for index in range(len(chosen)) if predicted[index] is not None and fitting[index] >= FEWEST]
    evidence_of = {i: Estimand.MAJORITY.evidence(successes[i], fitting[i]) for i in tested}
    e_for = {i: _in_direction(evidence_of[i], yes=bool(predicted[i])) for i in tested}
    e_against = {i: _in_direction(evidence_of[i], yes=not predicted[i]) for i in tested}
    consistent = {i for i, decided in zip(tested, e_bh(list(e_for.values()), ALPHA), strict=True) if decided}
    refuted = {i for i, decided in zip(tested, e_bh(list(e_against.values()), ALPHA), strict=True) if decided}
    return [
        JudgedCell(
            key=entry.key,
            prediction=predictions[i],
            predicted=predicted[i],
            expected_break=prediction.expects_failure_at(criteria.rule) if (prediction := predictions[i]) else None,
            outcomes=outcomes[i],
            fit=share(fitting[i], len(outcomes[i])),
            generalizes_given_fit=share(successes[i], fitting[i]),
            generalizes=share(successes[i], len(outcomes[i])),
            verdict=_verdict(predicted[i], successes[i], fitting[i], refuted=i in refuted, consistent=i in consistent),
            e_against=e_against.get(i),
            e_for=e_for.get(i),
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


def unanimous_runs(cells: int = 1) -> int:
    """Smallest number of fitting runs that decide a cell if they agree, whatever the other of so many cells do."""
    runs = FEWEST
    while Estimand.MAJORITY.evidence(runs, runs).above < cells / ALPHA:
        runs += 1
    return runs


def _in_direction(evidence: Evidence, *, yes: bool) -> float:
    """E-value for "most runs generalize", or for the opposite."""
    return evidence.above if yes else evidence.below


def _answer(evidence: Evidence, fitting: int) -> bool | None:
    """Answer that the fitting runs of a cell alone give to a question; None if they decide nothing."""
    return decides(evidence, ALPHA) if fitting >= FEWEST else None


def _verdict(predicted: bool | None, successes: int, fitting: int, *, refuted: bool, consistent: bool) -> str:
    """Name the verdict; the majority cannot be decided both ways."""
    if predicted is None:
        return "no prediction"
    if not fitting:
        return "not learnt"
    if refuted:
        return "refuted"
    if consistent:
        return "consistent"
    some, nearly_all = (
        _answer(estimand.evidence(successes, fitting), fitting) for estimand in (Estimand.POSSIBLE, Estimand.NEARLY_ALL)
    )
    return "mixed" if some and nearly_all is False else "undecided (power)"
