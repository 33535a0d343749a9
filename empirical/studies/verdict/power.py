"""Gate before training: can a planned set of cells tell the rules apart, and how many runs decide a cell?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from lengthgen.empirical.experiment.judge import ABSTAINED, ALPHA, Estimand, EvidenceError, decides
from lengthgen.empirical.studies.verdict.frozen import FrozenCells
from lengthgen.empirical.studies.verdict.pairs import log_e_values
from lengthgen.empirical.studies.verdict.population import hash_order

ENOUGH = 0.8
"""Power from which a set can decide a question."""
SHARES = (0.95, 0.8, 0.5)
"""Shares of runs that generalize for which the number of runs per cell is judged."""

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Departures of the outcomes from the true rule.

    Every outcome of a task is contrary with probability `task`; in the other tasks, that of each cell with probability
    `cell`. A run contradicts the outcome of its cell with probability `run`.
    """

    task: float = 0.05
    cell: float = 0.05
    run: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Planned cells: the task of each, and each rule's answers (None: abstains), with the runs per cell."""

    tasks: Sequence[str]
    answers: Mapping[str, Sequence[bool | None]]
    runs: int


def gate(frozen: FrozenCells, *, simulations: int = 200) -> dict[str, Any]:
    """Return what the cells of a preregistration can decide, by simulation before any run.

    The half that answers the questions is simulated, with `stopping.first` runs a cell.
    """
    registered, cells = frozen.preregistration, frozen.judging
    # Bonferroni over the pairs, which asks for more than e-BH does.
    level = registered.stopping.alpha / len(registered.rule_pairs)
    powers = []
    for pair in registered.rule_pairs:
        plan = Plan(
            tasks=[cell.task for cell in cells],
            answers={rule: [cell.says(rule) for cell in cells] for rule in pair},
            runs=registered.stopping.first,
        )
        powers += pair_powers(plan, alpha=level, simulations=simulations)
    return {
        "frozen": frozen.digest,
        "cells": len(cells),
        "noise": asdict(Noise()),
        "pairs": powers,
        "one_cell": cell_powers(registered.stopping.most),
    }


def pair_powers(
    plan: Plan, *, noise: Noise | None = None, alpha: float = ALPHA, simulations: int = 200, seed: int = 0
) -> list[dict[str, Any]]:
    """Simulate the power for each ordered pair of rules as JSON; the same arguments give the same numbers.

    A true rule that abstains leaves the outcome to a coin. `alone` is the probability that evidence against the rule
    `against` is decisive by itself if the rule `true` is the true one (e >= 1/alpha), `power` that with Bonferroni's
    correction for all questions of the plan (e >= m/alpha, which e-BH rejects too); `verdict` follows from `power`.

    Raises:
        EvidenceError: if a rule has not exactly one answer for each cell, or the plan has no cells or no runs.
    """
    noise = noise or Noise()
    predictions, starts = _matrix(plan)
    levels = np.log([1 / alpha, len(list(permutations(predictions, 2))) / alpha])
    powers: list[dict[str, Any]] = []
    for index, true in enumerate(predictions):
        draw = np.random.default_rng((seed, index))
        shares = _outcomes(predictions[true], starts, plan.runs, noise, simulations, draw)
        for against in predictions:
            if against == true:
                continue
            differences = _differences(predictions[true], predictions[against], shares, starts)
            alone, power = 0.0, 0.0
            if differences.shape[-1]:
                alone, power = np.mean(log_e_values(differences).max(axis=-1)[:, None] >= levels, axis=0).tolist()
            powers.append(
                {
                    "true": true,
                    "against": against,
                    "cells": int(np.sum(predictions[true] != predictions[against])),
                    "alone": alone,
                    "power": power,
                    "verdict": _verdict(power),
                }
            )
    return powers


def _order(plan: Plan) -> Places:
    keys = {task: hash_order(task) for task in set(plan.tasks)}
    return np.array(sorted(range(len(plan.tasks)), key=lambda cell: keys[plan.tasks[cell]]), dtype=np.int64)


def _matrix(plan: Plan) -> tuple[dict[str, Array], Places]:
    """Predictions 0, 1/2 or 1 of each rule, with cells sorted by task, and the index at which each task starts."""
    if not plan.tasks or plan.runs < 1:
        raise EvidenceError(f"a plan needs cells and runs: it has {len(plan.tasks)} cells with {plan.runs} runs each")
    order = _order(plan)
    predictions: dict[str, Array] = {}
    for rule, answers in plan.answers.items():
        if len(answers) != len(plan.tasks):
            raise EvidenceError(f"rule {rule!r} has {len(answers)} answers for {len(plan.tasks)} cells")
        predictions[rule] = np.array([ABSTAINED if answer is None else float(answer) for answer in answers])[order]
    names = [plan.tasks[cell] for cell in order]
    starts = [cell for cell in range(len(names)) if cell == 0 or names[cell] != names[cell - 1]]
    return predictions, np.array(starts, dtype=np.int64)


def _outcomes(
    truth: Array, starts: Places, runs: int, noise: Noise, simulations: int, draw: np.random.Generator
) -> Array:
    """Simulated shares of successful runs; shape (simulations, cells)."""
    sizes = np.diff(np.append(starts, len(truth)))
    shape = (simulations, len(truth))
    contrary_task = np.repeat(draw.random((simulations, len(starts))) < noise.task, sizes, axis=1)
    contrary = contrary_task | (draw.random(shape) < noise.cell)
    succeeds = np.where(truth == ABSTAINED, draw.random(shape) < 0.5, (truth == 1) != contrary)
    return draw.binomial(runs, np.where(succeeds, 1 - noise.run, noise.run)) / runs


def _differences(a: Array, b: Array, shares: Array, starts: Places) -> Array:
    """Mean loss of B minus that of A in each task with differing cells, as `pairs.compare` with right and wrong."""
    counts = np.add.reduceat((a != b).astype(np.float64), starts)
    sums = np.add.reduceat((a - b) * (2 * shares - 1), starts, axis=1)
    differences: Array = sums[:, counts > 0] / counts[counts > 0]
    return differences


def cell_powers(max_runs: int, *, estimand: Estimand = Estimand.MAJORITY, alpha: float = ALPHA) -> list[dict[str, Any]]:
    """Compute exactly how likely one cell is decided within so many fitting runs, for each of SHARES, as JSON.

    `above` and `below` are the probabilities of the decision that the share lies above the threshold, and below it.
    """
    return [_cell_power(share, max_runs, estimand, alpha) for share in SHARES]


def _cell_power(share: float, max_runs: int, estimand: Estimand, alpha: float) -> dict[str, Any]:
    undecided, decided = {0: 1.0}, {True: 0.0, False: 0.0}
    for trials in range(1, max_runs + 1):
        after: dict[int, float] = {}
        for successes, mass in undecided.items():
            after[successes] = after.get(successes, 0.0) + mass * (1 - share)
            after[successes + 1] = after.get(successes + 1, 0.0) + mass * share
        undecided = {}
        for successes, mass in after.items():
            answer = decides(estimand.evidence(successes, trials), alpha)
            if answer is None:
                undecided[successes] = mass
            else:
                decided[answer] += mass
    above, below = decided[True], decided[False]
    correct = above if share > estimand.value else below
    return {"share": share, "above": above, "below": below, "verdict": _verdict(correct)}


def _verdict(power: float) -> str:
    return "can decide" if power >= ENOUGH else "this set cannot decide"
