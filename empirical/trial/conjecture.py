"""The conjecture on trial: predictions stored before training, outcomes of runs, and a verdict per cell.

A cell is one task, format, encoding and model size; its runs differ in the seed. A run that does not fit its training
scales says nothing about generalization: it is the third outcome. Experiments can refute a prediction, never prove it.

The verdict ([F]). The conjecture speaks of what is possible, a run of what happened: a cell is said to generalize iff
more than half of all runs that fit would. Given the number of fitting runs, the successes among them are binomial, and
an exact one-sided test against one half is made in each direction:

- refuted: the runs lie on the other side than predicted;
- consistent: they lie on the side predicted;
- undecided (power): neither could be shown; not learnt: no run fits; no prediction: there was none.

Both names are given by p-values corrected over the cells (Holm). Verdicts are read as a list of names, and without a
correction a long list of right predictions contains some that chance refutes. Corrected, the probability that any
right prediction of the list is called refuted is at most 5%, and so is, separately, that any wrong one is called
consistent. The price is runs: 5 a cell can decide one cell alone, not several (`runs_needed`); what many small cells
say together is said by the 2x2 table, which counts a cell by the majority of its fitting runs. A family holds the
cells of one criteria that have a prediction and a fitting run; each test takes the number of fitting runs as given, so
that this choice cannot favour a side. Runs of a cell differ in their seed and are taken for independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from circuits.modes import Mode
from circuits.prediction import Prediction
from empirical.trial.outcomes import Checkpoint, History, Outcome, outcome
from empirical.trial.statistics import ALPHA, Share, holm, share, tail
from theory.system.errors import LengthgenError

RULES = ("coverage", "literal")
"""Ours: equal finite complexity, and training meets all labels and entries. [P], read literally: the first alone."""


class TrialError(LengthgenError):
    """A trial without the cells it is asked about; one line."""


class CellKey(NamedTuple):
    """What the runs of a cell have in common, in words that tell it from every other cell."""

    task: str
    format: str
    encoding: str
    size: str

    def __str__(self) -> str:
        """task/format/encoding/size."""
        return "/".join(self)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the trial is given about one cell.

    Attributes:
        predictions: by operator mode; None, no entry, or a prediction of nothing where there is none, as for an
            encoding without a relation or a mode that needs a reference circuit.
        runs: each with its metrics.
        predicted_before_training: whether every run names the predictions in its provenance.
    """

    key: CellKey
    predictions: Mapping[str, Prediction | None]
    runs: Sequence[History]
    predicted_before_training: bool


@dataclass(frozen=True, kw_only=True)
class Criteria:
    """How the evidence is read.

    Attributes:
        threshold: exact match at which a scale counts as solved.
        size: of the model; the cells of other sizes are left out.
        checkpoint: which checkpoint of a run is judged.
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
    """One prediction and what its runs say.

    Attributes:
        predicted: whether the criteria's rule says that the cell generalizes; None without a prediction.
        verdict: as in the module's docstring.
        p_against, p_for: probability of at least so many fitting runs against the prediction, and for it, if half of
            all such runs were; None without a prediction or a fitting run.
        p_against_holm, p_for_holm: the same, corrected over the cells.
    """

    key: CellKey
    prediction: Prediction | None
    predicted: bool | None
    outcomes: tuple[Outcome, ...]
    fit: Share
    generalizes_given_fit: Share
    generalizes: Share
    verdict: str
    p_against: float | None
    p_for: float | None
    p_against_holm: float | None
    p_for_holm: float | None
    predicted_before_training: bool

    @property
    def observed(self) -> bool | None:
        """Whether most of the fitting runs generalize; None without fitting runs or with a tie."""
        successes, trials = self.generalizes_given_fit.successes, self.generalizes_given_fit.trials
        return None if 2 * successes == trials else 2 * successes > trials


def predicted_by(prediction: Prediction | None, rule: str) -> bool | None:
    """What a rule makes of a prediction; None of none, or of one of nothing."""
    if prediction is None:
        return None
    answers: dict[str, bool | None] = {"coverage": prediction.generalizes, "literal": prediction.literal}
    return answers[rule]


def judge(evidence: Sequence[Evidence], criteria: Criteria) -> list[JudgedCell]:
    """A verdict for every cell of the criteria's size, in the order given.

    Raises:
        TrialError: no cell has that size.
        StoreError: a run lacks a measurement.
    """
    chosen = [one for one in evidence if one.key.size == criteria.size]
    if not chosen:
        sizes = ", ".join(dict.fromkeys(one.key.size for one in evidence)) or "none"
        raise TrialError(f"no cell has the model size '{criteria.size}': those on trial have {sizes}")
    outcomes = [_outcomes(one, criteria) for one in chosen]
    predictions = [one.predictions.get(criteria.mode) for one in chosen]
    predicted = [predicted_by(prediction, criteria.rule) for prediction in predictions]
    fitting = [sum(one.fits for one in of_cell) for of_cell in outcomes]
    successes = [sum(bool(one.generalizes) for one in of_cell) for of_cell in outcomes]
    tested = [index for index in range(len(chosen)) if predicted[index] is not None and fitting[index]]
    agreeing = {i: successes[i] if predicted[i] else fitting[i] - successes[i] for i in tested}
    p_for = {i: tail(agreeing[i], fitting[i]) for i in tested}
    p_against = {i: tail(fitting[i] - agreeing[i], fitting[i]) for i in tested}
    for_holm = dict(zip(tested, holm(list(p_for.values())), strict=True))
    against_holm = dict(zip(tested, holm(list(p_against.values())), strict=True))
    return [
        JudgedCell(
            key=one.key,
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
            predicted_before_training=one.predicted_before_training,
        )
        for i, one in enumerate(chosen)
    ]


def _outcomes(evidence: Evidence, criteria: Criteria) -> tuple[Outcome, ...]:
    return tuple(
        outcome(history, threshold=criteria.threshold, checkpoint=criteria.checkpoint) for history in evidence.runs
    )


def _verdict(predicted: bool | None, p_against: float | None, p_for: float | None) -> str:
    if predicted is None:
        return "no prediction"
    if p_against is None or p_for is None:
        return "not learnt"
    if p_against <= ALPHA:
        return "refuted"
    return "consistent" if p_for <= ALPHA else "undecided (power)"
