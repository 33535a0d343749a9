"""Gate before training: can a planned set of cells tell the rules apart, and how many runs decide a cell?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lengthgen.empirical.experiment.judge import ABSTAINED, ALPHA, Estimand, decides
from lengthgen.empirical.studies.verdict.frozen import FrozenCell, FrozenCells
from lengthgen.empirical.studies.verdict.pairs import Pair, log_e_values
from lengthgen.empirical.studies.verdict.population import hash_order

ENOUGH = 0.8
"""Power from which a set can decide a question."""
SHARES = (0.95, 0.8, 0.5)
"""Shares of runs that generalize for which the number of runs per cell is judged."""
SIMULATIONS = 200

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


def gate(frozen: FrozenCells) -> dict[str, Any]:
    """Return what the cells of a preregistration can decide, by simulation before any run.

    The half that answers the questions is simulated, with `stopping.first` runs a cell.
    """
    registered = frozen.preregistration
    # Bonferroni over the pairs, which asks for more than e-BH does.
    level = registered.stopping.alpha / len(registered.rule_pairs)
    powers = (
        pair_powers(frozen.judging, pair, registered.stopping.first, level, Noise()) for pair in registered.rule_pairs
    )
    return {
        "frozen": frozen.digest,
        "cells": len(frozen.judging),
        "noise": asdict(Noise()),
        "pairs": [power for of_pair in powers for power in of_pair],
        "one_cell": cell_powers(registered.stopping.most),
    }


def pair_powers(cells: Sequence[FrozenCell], pair: Pair, runs: int, alpha: float, noise: Noise) -> list[dict[str, Any]]:
    """Simulate the power of each of two rules against the other as JSON; the same arguments give the same numbers.

    A true rule that abstains leaves the outcome to a coin. `alone` is the probability that evidence against the rule
    `against` is decisive by itself if the rule `true` is the true one (e >= 1/alpha), `power` that with Bonferroni's
    correction for both questions (e >= 2/alpha, which e-BH rejects too); `verdict` follows from `power`.
    """
    ordered = sorted(cells, key=lambda cell: hash_order(cell.task))
    starts = np.array([at for at in range(len(ordered)) if at == 0 or ordered[at].task != ordered[at - 1].task])
    predictions = [np.array([_side(cell.says(rule)) for cell in ordered]) for rule in pair]
    levels = np.log([1 / alpha, 2 / alpha])
    powers = []
    for true in (0, 1):
        draw = np.random.default_rng((0, true))
        shares = _outcomes(predictions[true], starts, runs, noise, draw)
        differences = _differences(predictions[true], predictions[1 - true], shares, starts)
        alone, power = 0.0, 0.0
        if differences.shape[-1]:
            alone, power = np.mean(log_e_values(differences).max(axis=-1)[:, None] >= levels, axis=0).tolist()
        powers.append(
            {
                "true": pair[true],
                "against": pair[1 - true],
                "cells": int(np.sum(predictions[0] != predictions[1])),
                "alone": alone,
                "power": power,
                "verdict": _verdict(power),
            }
        )
    return powers


def _side(says: bool | None) -> float:
    return ABSTAINED if says is None else float(says)


def _outcomes(truth: Array, starts: Places, runs: int, noise: Noise, draw: np.random.Generator) -> Array:
    """Simulated shares of successful runs; shape (SIMULATIONS, cells)."""
    sizes, shape = np.diff(np.append(starts, len(truth))), (SIMULATIONS, len(truth))
    contrary_task = np.repeat(draw.random((SIMULATIONS, len(starts))) < noise.task, sizes, axis=1)
    contrary = contrary_task | (draw.random(shape) < noise.cell)
    succeeds = np.where(truth == ABSTAINED, draw.random(shape) < 0.5, (truth == 1) != contrary)
    return draw.binomial(runs, np.where(succeeds, 1 - noise.run, noise.run)) / runs


def _differences(a: Array, b: Array, shares: Array, starts: Places) -> Array:
    """Mean loss of B minus that of A in each task with differing cells, as `pairs.compare` with right and wrong."""
    counts = np.add.reduceat((a != b).astype(np.float64), starts)
    sums = np.add.reduceat((a - b) * (2 * shares - 1), starts, axis=1)
    differences: Array = sums[:, counts > 0] / counts[counts > 0]
    return differences


def cell_powers(max_runs: int, estimand: Estimand = Estimand.MAJORITY) -> list[dict[str, Any]]:
    """Compute exactly how likely one cell is decided within so many fitting runs, for each of SHARES, as JSON.

    `above` and `below` are the probabilities of the decision that the share lies above the threshold, and below it.
    """
    powers = []
    for share in SHARES:
        undecided, decided = {0: 1.0}, {True: 0.0, False: 0.0}
        for trials in range(1, max_runs + 1):
            after: dict[int, float] = {}
            for successes, mass in undecided.items():
                after[successes] = after.get(successes, 0.0) + mass * (1 - share)
                after[successes + 1] = after.get(successes + 1, 0.0) + mass * share
            undecided = {}
            for successes, mass in after.items():
                answer = decides(estimand.evidence(successes, trials), ALPHA)
                if answer is None:
                    undecided[successes] = mass
                else:
                    decided[answer] += mass
        correct = decided[share > estimand.value]
        powers.append({"share": share, "above": decided[True], "below": decided[False], "verdict": _verdict(correct)})
    return powers


def _verdict(power: float) -> str:
    return "can decide" if power >= ENOUGH else "this set cannot decide"
