"""Test of the conjecture: predictions stored before training, outcomes of runs, and a verdict per cell.

A cell is one task, format, encoding and model size; its runs differ in the seed. A run that does not fit its training
scales says nothing about generalization: it is the third outcome. Experiments can refute a prediction, never prove it.

The verdict ([F]). The conjecture is about what is possible, a run shows what happened. So a cell is defined to
generalize iff more than half of all fitting runs would. The evidence of a cell's fitting runs against each direction is
an e-value (`empirical.experiment.judge`), which stays valid however many runs are added and whenever one stops:

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from math import ceil
from typing import Any, NamedTuple

from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.experiment.judge import (
    ALPHA,
    Estimand,
    Evidence,
    Share,
    decides,
    e_bh,
    least_rejected,
    near_half,
    share,
)
from lengthgen.empirical.experiment.outcome import Checkpoint, History, Outcome, RunOutcome, outcome
from lengthgen.infrastructure.errors import LengthgenError

FEWEST = 3
"""Smallest number of fitting runs from which a cell counts."""
MOST_LIKELY = 1_000
"""Largest number of further fitting runs that an estimate names."""


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
        rule: one of `circuits.prediction_record.RULES`.
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
        post_hoc: True if the rule answers, but had not answered when the predictions were frozen.
    """

    key: CellKey
    prediction: Prediction | None
    predicted: bool | None
    expected_break: float | None
    outcomes: tuple[RunOutcome, ...]
    predicted_before_training: bool
    post_hoc: bool
    verdict: str = ""

    @cached_property
    def outcome(self) -> Outcome[CellKey]:
        """Outcome of the cell."""
        failures = (run.first_failure for run in self.outcomes if run.fits)
        return Outcome(cell=self.key, runs=len(self.outcomes), failures=tuple(failures))

    @property
    def shares(self) -> dict[str, Share]:
        """Shares of runs that fit, of those that generalize among the fitting ones, and among all, by name."""
        runs, fit, generalize = self.outcome.runs, self.outcome.fit, self.outcome.generalize
        return {
            "fit": share(fit, runs),
            "generalizes_given_fit": share(generalize, fit),
            "generalizes": share(generalize, runs),
        }

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None with fewer than FEWEST fitting runs or with a tie."""
        return self.outcome.observed if self.outcome.fit >= FEWEST else None

    @cached_property
    def majority(self) -> Evidence | None:
        """Evidence on what most such runs do; None without a prediction or with fewer than FEWEST fitting runs."""
        return None if self.predicted is None or self.outcome.fit < FEWEST else self._evidence(Estimand.MAJORITY)

    @property
    def e_for(self) -> float | None:
        """E-value for the prediction."""
        return None if self.majority is None else self.majority.that(bool(self.predicted))

    @property
    def e_against(self) -> float | None:
        """E-value against the prediction."""
        return None if self.majority is None else self.majority.that(not self.predicted)

    @property
    def near_half(self) -> dict[str, float] | None:
        """E-values for and against the prediction by the mixture near one half; they decide nothing ([F])."""
        if self.majority is None:
            return None
        evidence = near_half(self.outcome.generalize, self.outcome.fit)
        return {"for": evidence.that(bool(self.predicted)), "against": evidence.that(not self.predicted)}

    @property
    def decided(self) -> bool:
        """True if the verdict is refuted or consistent."""
        return self.verdict in ("refuted", "consistent")

    def answers(self, estimand: Estimand) -> bool | None:
        """Answer that the fitting runs of the cell alone give to a question; None if they decide nothing."""
        return decides(self._evidence(estimand)) if self.outcome.fit >= FEWEST else None

    def estimates(self) -> dict[str, dict[str, Any]]:
        """Return, by question, the e-values for a share above and below its threshold, and the answer they decide."""
        return {
            estimand.name.lower(): vars(self._evidence(estimand)) | {"answer": self.answers(estimand)}
            for estimand in Estimand
        }

    def _evidence(self, estimand: Estimand) -> Evidence:
        return estimand.evidence(self.outcome.generalize, self.outcome.fit)


def judge(evidence: Sequence[CellEvidence], criteria: Criteria) -> list[JudgedCell]:
    """Return a verdict for every cell of the criteria's size, in the order given.

    Raises:
        TrialError: no cell has that size.
    """
    cells = [_observed(entry, criteria) for entry in evidence if entry.key.size == criteria.size]
    if not cells:
        sizes = ", ".join(dict.fromkeys(entry.key.size for entry in evidence)) or "none"
        raise TrialError(f"no cell has the model size '{criteria.size}': the cells have {sizes}")
    tested = [(place, cell.predicted, cell.majority) for place, cell in enumerate(cells) if cell.majority]
    refuted, consistent = (
        {tested[at][0] for at, rejected in enumerate(e_bh(values)) if rejected}
        for values in (
            [majority.that(not predicted) for _, predicted, majority in tested],
            [majority.that(bool(predicted)) for _, predicted, majority in tested],
        )
    )
    return [
        replace(cell, verdict=_verdict(cell, refuted=place in refuted, consistent=place in consistent))
        for place, cell in enumerate(cells)
    ]


def _observed(entry: CellEvidence, criteria: Criteria) -> JudgedCell:
    """Return a cell with its prediction and its outcomes, and without its verdict, which depends on other cells."""
    prediction, rule = entry.predictions.get(criteria.mode), criteria.rule
    predicted = prediction.says(rule) if prediction else None
    return JudgedCell(
        key=entry.key,
        prediction=prediction,
        predicted=predicted,
        expected_break=prediction.expects_failure_at(rule) if prediction else None,
        outcomes=tuple(
            outcome(history, threshold=criteria.threshold, checkpoint=criteria.checkpoint) for history in entry.runs
        ),
        predicted_before_training=entry.predicted_before_training,
        post_hoc=predicted is not None and (criteria.mode, rule) not in entry.frozen_rules,
    )


def _verdict(cell: JudgedCell, *, refuted: bool, consistent: bool) -> str:
    """Name the verdict; the majority cannot be decided both ways."""
    if cell.predicted is None:
        return "no prediction"
    if not cell.outcome.fit:
        return "not learnt"
    if refuted or consistent:
        return "refuted" if refuted else "consistent"
    mixed = cell.answers(Estimand.POSSIBLE) and cell.answers(Estimand.NEARLY_ALL) is False
    return "mixed" if mixed else "undecided (power)"


def unanimous_runs(cells: int = 1) -> int:
    """Smallest number of fitting runs that decide a cell if they agree, whatever the other of so many cells do."""
    return next(runs for runs in count(FEWEST) if Estimand.MAJORITY.evidence(runs, runs).above >= cells / ALPHA)


def lacking_runs(cells: Sequence[JudgedCell]) -> list[int | None]:
    """Fewest further fitting runs with one outcome that would decide each cell if the other cells stay as they are.

    The cells are those that were judged together, since e-BH decides them together. The outcome is the one that
    decides sooner. None for a cell that is decided or has no prediction.
    """
    return [None if cell.decided or cell.predicted is None else _lacking(cell, cells) for cell in cells]


def _lacking(cell: JudgedCell, cells: Sequence[JudgedCell]) -> int:
    fit, generalize, decide = cell.outcome.fit, cell.outcome.generalize, _decider(cell, cells)
    return next(
        more
        for more in count(max(1, FEWEST - fit))
        if decide(generalize + more, fit + more) or decide(generalize, fit + more)
    )


def likely_runs(cells: Sequence[JudgedCell]) -> list[dict[str, Any] | None]:
    """Return how many further runs would probably decide each open cell, if its shares stay as they are ([F]).

    The share of fitting runs that generalize is taken to be its posterior mean after a uniform prior, (generalize + 1)
    / (fit + 2), and so is the share of runs that fit; the other cells stay as they are. For each cell that is undecided
    or mixed: share; fitting, the number of further fitting runs, None for more than `most`, which is MOST_LIKELY; and
    runs, the number of runs of which so many should fit. None for every other cell.
    """
    return [_likely(cell, cells) if cell.verdict in ("undecided (power)", "mixed") else None for cell in cells]


def _likely(cell: JudgedCell, cells: Sequence[JudgedCell]) -> dict[str, Any]:
    runs, fit, generalize = cell.outcome.runs, cell.outcome.fit, cell.outcome.generalize
    decide, expected = _decider(cell, cells), (generalize + 1) / (fit + 2)
    fitting = next(
        (
            more
            for more in range(max(1, FEWEST - fit), MOST_LIKELY + 1)
            if decide(generalize + round(expected * more), fit + more)
        ),
        None,
    )
    fits = (fit + 1) / (runs + 2)
    needed = None if fitting is None else ceil(fitting / fits)
    return {"share": expected, "fitting": fitting, "runs": needed, "most": MOST_LIKELY}


def _decider(cell: JudgedCell, cells: Sequence[JudgedCell]) -> Callable[[int, int], bool]:
    """Return a function of (generalizing, fitting) runs: would these decide the cell beside the other cells?"""
    others = [other for other in cells if other is not cell]
    level_for = least_rejected([other.e_for for other in others if other.e_for is not None])
    level_against = least_rejected([other.e_against for other in others if other.e_against is not None])

    def decide(generalize: int, fit: int) -> bool:
        evidence = Estimand.MAJORITY.evidence(generalize, fit)
        predicted = bool(cell.predicted)
        return evidence.that(predicted) >= level_for or evidence.that(not predicted) >= level_against

    return decide
