"""Comparison of the registered pairs of rules on frozen cells, decided by e-BH over the pairs.

A pair is judged on the tasks that training has reached in the cells on which its rules differ (`disputes.reached`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from lengthgen.empirical.experiment.judge import LARGEST_LOG, e_bh
from lengthgen.empirical.verdict.disputes import Pair, disputed, reached
from lengthgen.empirical.verdict.frozen import FrozenCell, FrozenCells
from lengthgen.empirical.verdict.pairs import PairCell, PairEvidence, Score, compare, log_last_e_values, trajectory
from lengthgen.empirical.verdict.population import HALVES
from lengthgen.empirical.verdict.preregistration import Preregistration
from lengthgen.empirical.verdict.runs import CellRun, trainable
from lengthgen.empirical.verdict.seen import SeenCell, seen_cells

SIMULATIONS = 1_000
"""Number of permutations of outcomes."""
UNDECIDED = "undecided"
"""Answer on two rules if neither is shown to be the better one."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two rules compared on one part of the cells.

    Attributes:
        disputed: number of cells that can be trained and on which the rules differ.
        reached: number of these in tasks that training has reached.
        evidence: evidence from the reached cells that count.
        brier: the same by Brier scores.
    """

    disputed: int
    reached: int
    evidence: PairEvidence
    brier: PairEvidence


def comparisons(
    preregistration: Preregistration,
    planned: Sequence[FrozenCell],
    counting: Sequence[SeenCell],
    counts: Mapping[str, int],
) -> dict[Pair, Comparison]:
    """Return the comparison of every registered pair of rules on the planned cells of one part.

    Args:
        preregistration: that of the cells.
        planned: cells that can be trained.
        counting: cells with enough fitting runs; others than the planned ones are left out.
        counts: name of the cell -> number of its finished runs.
    """
    by_name = {cell.cell.name: cell for cell in counting}

    def evidence(cells: Sequence[FrozenCell], pair: Pair, score: Score) -> PairEvidence:
        counted = [by_name[cell.name] for cell in cells if cell.name in by_name]
        return compare(pair_cells(counted, *pair), score)

    def reached_cells(cells: Sequence[FrozenCell]) -> list[FrozenCell]:
        return reached(cells, counts, first=preregistration.stopping.first)

    result = {}
    for pair in preregistration.rule_pairs:
        differing = disputed(planned, pair)
        judged = reached_cells(differing)
        result[pair] = Comparison(
            disputed=len(differing),
            reached=len(judged),
            evidence=evidence(judged, pair, Score.RIGHT),
            brier=evidence(reached_cells(disputed(planned, pair, Score.BRIER)), pair, Score.BRIER),
        )
    return result


def pair_answers(
    preregistration: Preregistration, part: str, compared: Mapping[Pair, Comparison]
) -> list[dict[str, Any]]:
    """Return the evidence for every registered pair in one part, decided by e-BH over its pairs."""
    answers = []
    final = {
        pair: (_last(of_pair.evidence.against_a), _last(of_pair.evidence.against_b))
        for pair, of_pair in compared.items()
    }
    level = preregistration.stopping.alpha
    rejected = iter(e_bh([value for values in final.values() for value in values], level))
    for pair, of_pair in compared.items():
        worse_first, worse_second = next(rejected), next(rejected)
        verdict = UNDECIDED if worse_first == worse_second else pair[1] if worse_first else pair[0]
        evidence, brier = of_pair.evidence, of_pair.brier
        answers.append(
            {
                "part": part,
                "first": pair[0],
                "second": pair[1],
                "tasks": len(evidence.tasks),
                "cells": evidence.cells,
                "disputed": of_pair.disputed,
                "reached": of_pair.reached,
                "wins_first": evidence.wins_a,
                "wins_second": evidence.wins_b,
                "against_first": final[pair][0],
                "against_second": final[pair][1],
                "better": verdict,
                "trajectory": _thinned(trajectory(evidence)),
                "brier": {"against_first": _last(brier.against_a), "against_second": _last(brier.against_b)},
            }
        )
    return answers


def decided_pairs(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]]) -> set[Pair]:
    """Return the registered pairs of rules that the half that judges has decided."""
    preregistration = frozen.preregistration
    counting = [cell for cell in seen_cells(frozen, runs) if cell.fit >= preregistration.stopping.fitting]
    planned = [cell for cell in trainable(frozen.cells) if cell.half == HALVES[1]]
    counts = {name: len(of_cell) for name, of_cell in runs.items()}
    compared = comparisons(preregistration, planned, counting, counts)
    answers = pair_answers(preregistration, HALVES[1], compared)
    return {(each["first"], each["second"]) for each in answers if each["better"] != UNDECIDED}


def null_rate(
    cells: Sequence[SeenCell], compared: Mapping[Pair, Comparison], preregistration: Preregistration
) -> dict[str, Any] | None:
    """Return how often the pairs decide anything on the judging half if outcomes of whole tasks are swapped by a coin.

    "Generalizes" and "fails" change places in a task, for all pairs at once, so that every difference is as likely as
    its negative.  Then e-BH is asked as for the real outcomes.  None without a cell.
    """
    if not cells:
        return None
    place = {task: at for at, task in enumerate(dict.fromkeys(cell.cell.task for cell in cells))}
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (SIMULATIONS, len(place)))
    finals = []
    for evidence in (comparison.evidence for comparison in compared.values()):
        differences = signs[:, [place[task] for task in evidence.tasks]] * np.array(evidence.differences)
        finals += [log_last_e_values(side) for side in (differences, -differences)]
    e_values = np.exp(np.minimum(np.stack(finals, axis=1), LARGEST_LOG))
    alpha = preregistration.stopping.alpha
    decided = [any(e_bh(row, alpha)) for row in e_values.tolist()]
    return {"rate": fmean(decided), "stated": alpha, "simulations": SIMULATIONS}


def pair_cells(cells: Sequence[SeenCell], first: str, second: str) -> list[PairCell]:
    """Return the cells as evidence for one rule against another."""
    return [
        PairCell(
            task=cell.cell.task,
            rule_a=cell.cell.answers[first][0],
            rule_b=cell.cell.answers[second][0],
            successes=cell.generalize,
            trials=cell.fit,
        )
        for cell in cells
    ]


def _last(values: Sequence[float]) -> float:
    """Return the last of running e-values; 1 without any."""
    return values[-1] if values else 1.0


def _thinned(points: Sequence[tuple[int, float, float]]) -> list[list[float]]:
    """Return at most 100 points of a trajectory, its last one among them."""
    step = max(1, len(points) // 100)
    chosen = sorted({*range(0, len(points), step), len(points) - 1})
    return [[points[place][0], round(points[place][1], 3), round(points[place][2], 3)] for place in chosen]
