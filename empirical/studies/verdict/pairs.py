"""Evidence for one rule of prediction against another, over cells that are clustered by task.

The unit is a task, as its cells share their luck. The difference of a task lies in [-1, 1]; by the null hypothesis its
expectation is at most 0 whatever was seen before. Then every bet 1 + lambda d has expectation at most 1, the products
over tasks are supermartingales, and so is their mean over bets fixed beforehand (Waudby-Smith and Ramdas 2024,
arXiv 2010.09686). Tasks stand in the order of a hash of their names, which is fixed before the runs.

Tasks are trained in about this order, so everything is judged on those up to the first one that still lacks a run: a
random sample of all tasks, whatever was trained beyond them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import exp
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from lengthgen.circuits.forecast.rates import KINDS, is_of_kind
from lengthgen.empirical.experiment.judge import ABSTAINED, LARGEST_LOG, EvidenceError, e_bh, loss
from lengthgen.empirical.studies.verdict.frozen import FrozenCell, FrozenCells
from lengthgen.empirical.studies.verdict.population import HALVES, hash_order
from lengthgen.empirical.studies.verdict.runs import CellRun, SeenCell, seen_cells

Pair = tuple[str, str]
"""Two rules that are compared."""
Numbers = npt.NDArray[np.float64]
BETS = tuple(step / 20 for step in range(1, 20))
"""Bets lambda in (0, 1), each with the same weight."""
TIE = 1e-9
"""Largest absolute difference of a task that is a tie: sums of shares round, such as 1/3 and -1/3 to 4e-17. A real
difference is at least one run of one cell of the task."""
SIMULATIONS = 1_000
"""Number of permutations of outcomes."""
UNDECIDED = "undecided"
"""Answer on two rules if neither is shown to be the better one."""


class Score(Enum):
    """Loss of a prediction, by the power of its error: 1 for a wrong answer, or the squared error of the probability.

    An abstention is the probability 1/2 [F]: half wrong, or a squared error of 1/4.
    """

    RIGHT = 1
    BRIER = 2


def prediction(cell: FrozenCell, rule: str, score: Score) -> float:
    """Return a rule's prediction as a score sees it: its probability, or the side of 1/2 on which that lies.

    Raises:
        EvidenceError: the probability is out of range.
    """
    probability = cell.answers[rule][0]
    if probability is None:
        return ABSTAINED
    if not 0 <= probability <= 1:
        raise EvidenceError(f"task {cell.task!r}: probability {probability} must lie between 0 and 1")
    if score is Score.BRIER or probability == ABSTAINED:
        return probability
    return float(probability > ABSTAINED)


@dataclass(frozen=True, kw_only=True)
class PairEvidence:
    """Evidence of rules A and B against each other, task by task in the order of the hash.

    `log_against_a` and `log_against_b` are logarithms of running e-values after each task, `cells_seen` the numbers of
    cells until then. Only cells with fitting runs count on which the rules' predictions differ; `wins_a` and `wins_b`
    are numbers of tasks, neither of which has those with a tie.
    """

    tasks: tuple[str, ...]
    cells_seen: tuple[int, ...]
    differences: tuple[float, ...]
    log_against_a: tuple[float, ...]
    log_against_b: tuple[float, ...]

    @property
    def cells(self) -> int:
        """Number of cells that count."""
        return self.cells_seen[-1] if self.cells_seen else 0

    @property
    def wins_a(self) -> int:
        """Number of tasks on which A does better."""
        return sum(difference > TIE for difference in self.differences)

    @property
    def wins_b(self) -> int:
        """Number of tasks on which B does better."""
        return sum(difference < -TIE for difference in self.differences)

    @property
    def against(self) -> tuple[float, float]:
        """E-values after the last task against "A does at least as well as B", and the reverse; 1 without a task."""
        a, b = (exp(min(each[-1], LARGEST_LOG)) if each else 1.0 for each in (self.log_against_a, self.log_against_b))
        return a, b

    @property
    def trajectory(self) -> list[tuple[int, float, float]]:
        """Points of a figure, from (0, 0, 0): cells seen, logarithms of the e-values against A and against B."""
        return [(0, 0.0, 0.0), *zip(self.cells_seen, self.log_against_a, self.log_against_b, strict=True)]


def compare(cells: Iterable[SeenCell], pair: Pair, score: Score = Score.RIGHT) -> PairEvidence:
    """Compute the evidence of two rules against each other.

    The difference of a task is the mean over its cells of B's loss minus A's, where the loss on a cell is the mean over
    its fitting runs. With `Score.RIGHT` that is the share of runs with A right minus the share with B right.
    """
    by_task: dict[str, list[float]] = {}
    for seen in cells:
        a, b = (prediction(seen.cell, rule, score) for rule in pair)
        if seen.fit and a != b:
            loss_a, loss_b = (loss(each, seen.share, score.value) for each in (a, b))
            by_task.setdefault(seen.cell.task, []).append(loss_b - loss_a)
    return evidence_of({task: (len(gains), float(np.mean(gains))) for task, gains in by_task.items()})


def evidence_of(by_task: Mapping[str, tuple[int, float]]) -> PairEvidence:
    """Return the evidence of differences: task -> (number of its cells, what the second rule loses more)."""
    tasks = tuple(sorted(by_task, key=hash_order))
    differences = np.array([by_task[task][1] for task in tasks])
    return PairEvidence(
        tasks=tasks,
        cells_seen=tuple(int(count) for count in np.cumsum([by_task[task][0] for task in tasks])),
        differences=tuple(differences.tolist()),
        log_against_a=tuple(log_e_values(-differences).tolist()),
        log_against_b=tuple(log_e_values(differences).tolist()),
    )


def log_e_values(differences: Numbers) -> Numbers:
    """Compute the logarithms of the running e-values against "the expected difference is at most 0".

    Args:
        differences: shape (..., tasks), float64, each in [-1, 1].

    Returns:
        Logarithm of the mean over BETS of prod(1 + lambda d) up to each task; shape (..., tasks).
    """
    return _log_mean([np.cumsum(np.log1p(bet * differences), axis=-1) for bet in BETS])


def log_last_e_values(differences: Numbers) -> Numbers:
    """Compute the last of the `log_e_values` alone, in less time; shape (...), and 0 without tasks."""
    return _log_mean([np.log1p(bet * differences).sum(axis=-1) for bet in BETS])


def _log_mean(wealth: Sequence[Numbers]) -> Numbers:
    """Return the logarithm of the mean over BETS of the wealth whose logarithms are given."""
    from scipy.special import logsumexp  # slow to import, and most commands need none of it

    mean: Numbers = logsumexp(np.stack(wealth), axis=0) - np.log(len(BETS))
    return mean


def disputed(cells: Iterable[FrozenCell], pair: Pair, score: Score = Score.RIGHT) -> list[FrozenCell]:
    """Return the cells that can be trained and on which the predictions of two rules differ, as the score sees them."""
    return [cell for cell in cells if cell.trainable and len({prediction(cell, rule, score) for rule in pair}) == 2]


def reached(cells: Sequence[FrozenCell], runs: Mapping[str, Sequence[Any]], *, first: int) -> list[FrozenCell]:
    """Return the cells of the tasks before the first one, in hash order, of which a cell has fewer than `first` runs.

    Args:
        cells: cells in question, in any order.
        runs: name of the cell -> its finished runs; a cell that is not among them has none.
        first: number of runs that every cell gets.
    """
    by_task: dict[str, list[FrozenCell]] = defaultdict(list)
    for cell in cells:
        by_task[cell.task].append(cell)
    result: list[FrozenCell] = []
    for task in sorted(by_task, key=hash_order):
        if any(len(runs.get(cell.name, ())) < first for cell in by_task[task]):
            break
        result += by_task[task]
    return result


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Registered pairs of rules compared on one part of the cells, and decided by e-BH over the pairs.

    A pair is judged on the tasks that training has reached in the cells on which its rules differ.

    Attributes:
        part: name of the part.
        frozen: frozen answers.
        disputed: pair -> cells that can be trained and on which its rules differ.
        reached: pair -> those in tasks that training has reached.
        evidence: pair -> evidence from the reached cells that count.
        brier: the same by Brier scores.
        by_kind: pair -> kind of encoding -> the evidence of the cells of that kind.
    """

    part: str
    frozen: FrozenCells
    disputed: Mapping[Pair, Sequence[FrozenCell]]
    reached: Mapping[Pair, Sequence[FrozenCell]]
    evidence: Mapping[Pair, PairEvidence]
    brier: Mapping[Pair, PairEvidence]
    by_kind: Mapping[Pair, Mapping[str, PairEvidence]]

    @cached_property
    def better(self) -> dict[Pair, str]:
        """Pair -> the rule that is shown to be the better one, or UNDECIDED."""
        values = [value for evidence in self.evidence.values() for value in evidence.against]
        rejected = e_bh(values, self.frozen.preregistration.stopping.alpha)
        sides = zip(self.evidence, rejected[::2], rejected[1::2], strict=True)
        return {pair: UNDECIDED if worse_a == worse_b else pair[worse_a] for pair, worse_a, worse_b in sides}

    def as_json(self) -> list[dict[str, Any]]:
        """Return the evidence for every pair."""
        return [
            {
                "part": self.part,
                "first": pair[0],
                "second": pair[1],
                "tasks": len(evidence.tasks),
                "cells": evidence.cells,
                "disputed": len(self.disputed[pair]),
                "reached": len(self.reached[pair]),
                "wins_first": evidence.wins_a,
                "wins_second": evidence.wins_b,
                "against_first": evidence.against[0],
                "against_second": evidence.against[1],
                "better": self.better[pair],
                "kinds": {
                    kind: {"cells": of_kind.cells, "wins_first": of_kind.wins_a, "wins_second": of_kind.wins_b}
                    for kind, of_kind in self.by_kind[pair].items()
                },
                "trajectory": _thinned(evidence.trajectory),
                "brier": dict(zip(("against_first", "against_second"), self.brier[pair].against, strict=True)),
            }
            for pair, evidence in self.evidence.items()
        ]

    def null_rate(self, cells: Sequence[SeenCell]) -> dict[str, Any] | None:
        """Return how often the pairs decide anything if outcomes of whole tasks are swapped by a coin.

        "Generalizes" and "fails" change places in a task of the cells, for all pairs at once, so that every difference
        is as likely as its negative. Then e-BH is asked as for the real outcomes. None without a cell.
        """
        if not cells:
            return None
        place = {task: at for at, task in enumerate(dict.fromkeys(seen.cell.task for seen in cells))}
        signs = np.random.default_rng(0).choice((-1.0, 1.0), (SIMULATIONS, len(place)))
        finals = []
        for evidence in self.evidence.values():
            differences = signs[:, [place[task] for task in evidence.tasks]] * np.array(evidence.differences)
            finals += [log_last_e_values(side) for side in (differences, -differences)]
        e_values = np.exp(np.minimum(np.stack(finals, axis=1), LARGEST_LOG))
        alpha = self.frozen.preregistration.stopping.alpha
        decided = [any(e_bh(row, alpha)) for row in e_values.tolist()]
        return {"rate": fmean(decided), "stated": alpha, "simulations": SIMULATIONS}


def comparison(
    frozen: FrozenCells,
    runs: Mapping[str, Sequence[CellRun]],
    part: str = HALVES[1],
    seen: Sequence[SeenCell] | None = None,
) -> Comparison:
    """Compare every registered pair of rules on one part of the cells.

    Args:
        frozen: frozen answers.
        runs: finished runs by cell.
        part: half of the population, or "all".
        seen: outcomes of the cells; None for those of the runs.
    """
    preregistration = frozen.preregistration
    seen = seen_cells(frozen, runs) if seen is None else seen
    counting = {each.cell.name: each for each in seen if each.fit >= preregistration.stopping.fitting}
    planned = [cell for cell in frozen.planned if part in ("all", cell.half)]

    def reached_by_pair(cells: Mapping[Pair, Sequence[FrozenCell]]) -> dict[Pair, list[FrozenCell]]:
        return {pair: reached(of_pair, runs, first=preregistration.stopping.first) for pair, of_pair in cells.items()}

    def evidence(cells: Mapping[Pair, Sequence[FrozenCell]], score: Score) -> dict[Pair, PairEvidence]:
        return {
            pair: compare((counting[cell.name] for cell in of_pair if cell.name in counting), pair, score)
            for pair, of_pair in cells.items()
        }

    by_right, by_brier = (
        {pair: disputed(planned, pair, score) for pair in preregistration.rule_pairs} for score in Score
    )
    judged = reached_by_pair(by_right)
    return Comparison(
        part=part,
        frozen=frozen,
        disputed=by_right,
        reached=judged,
        evidence=evidence(judged, Score.RIGHT),
        brier=evidence(reached_by_pair(by_brier), Score.BRIER),
        by_kind={
            pair: {
                kind: evidence({pair: [cell for cell in cells if is_of_kind(cell.encoding, kind)]}, Score.RIGHT)[pair]
                for kind in KINDS
            }
            for pair, cells in judged.items()
        },
    )


def _thinned(points: Sequence[tuple[int, float, float]]) -> list[list[float]]:
    """Return at most 100 points of a trajectory, its last one among them."""
    step = max(1, len(points) // 100)
    chosen = sorted({*range(0, len(points), step), len(points) - 1})
    return [[points[place][0], round(points[place][1], 3), round(points[place][2], 3)] for place in chosen]
