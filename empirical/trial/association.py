"""Association of prediction and observation over cells: 2x2 table, Fisher's exact test, and permutation tests.

Fisher's test assumes independent cells. But cells of one task share its difficulty, and cells of one encoding its code.
So a permutation test is reported beside it ([F]): it moves the observed outcomes of whole tasks, of whole encodings, or
of both, while predictions stay. Each assumes that the moved units are exchangeable if predictions mean nothing, and
nothing about dependence within a cluster:

- task: p is small if predictions separate the tasks, beyond what format and encoding alone explain;
- encoding: p is small if predictions separate the encodings, beyond what task and format alone explain;
- task and encoding: either; outcomes may share both a task and an encoding.

The statistic is the share of agreeing cells among those that have a prediction and an observation after the move. With
few clusters no arrangement is rare: `least_p` is the smallest p that these predictions and outcomes could give.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.empirical.experiment.judge import confusion
from lengthgen.empirical.trial.conjecture import JudgedCell

MOST_ARRANGEMENTS = 50_000
"""Largest number of arrangements that are enumerated; a larger number is sampled."""
DRAWN = 20_000
"""Number of sampled arrangements."""


@dataclass(frozen=True, kw_only=True)
class Permutation:
    """Result of a permutation test; `exact` if all arrangements were counted (a sample includes the observed one)."""

    p: float
    least_p: float
    arrangements: int
    exact: bool


def table(cells: Sequence[JudgedCell]) -> dict[str, int]:
    """Count cells in the 2x2 table by prediction and by the majority of their fitting runs; the rest separately."""
    counted = confusion((cell.predicted, cell.observed) for cell in cells)
    without = sum(cell.predicted is None for cell in cells)
    return {
        "yes_yes": counted["right_yes"],
        "yes_no": counted["wrong_yes"],
        "no_yes": counted["wrong_no"],
        "no_no": counted["right_no"],
        "not_observed": len(cells) - without - sum(counted.values()),
        "no_prediction": without,
    }


def agreement(counts: dict[str, int]) -> float | None:
    """Share of observed cells that agree with their prediction; None if none is observed."""
    right, wrong = counts["yes_yes"] + counts["no_no"], counts["yes_no"] + counts["no_yes"]
    return right / (right + wrong) if right + wrong else None


def misclassified(cells: Sequence[JudgedCell]) -> list[JudgedCell]:
    """Observed cells that disagree with their prediction."""
    return [cell for cell in cells if None not in (cell.predicted, cell.observed) and cell.predicted != cell.observed]


def association(cells: Sequence[JudgedCell]) -> dict[str, Any]:
    """Table of one rule, its one-sided tests (more agreement than by chance), and the cells that contradict it."""
    from scipy.stats import fisher_exact  # takes a second to import, and training needs none of it

    counts = table(cells)
    matrix = [[counts["yes_yes"], counts["yes_no"]], [counts["no_yes"], counts["no_no"]]]
    clusters = {"task": (True, False), "encoding": (False, True), "task and encoding": (True, True)}
    return {
        "table": counts,
        "agreement": agreement(counts),
        "both_kinds": all(sum(row) for row in matrix),
        "fisher_p": float(fisher_exact(matrix, alternative="greater").pvalue),
        "permutation": {
            name: asdict(cluster_permutation_test(cells, tasks=tasks, encodings=encodings))
            for name, (tasks, encodings) in clusters.items()
        },
        "misclassified": [str(cell.key) for cell in misclassified(cells)],
        "refuted_by": [str(cell.key) for cell in cells if cell.verdict == "refuted"],
        "post_hoc": [str(cell.key) for cell in cells if cell.post_hoc],
    }


def cluster_permutation_test(cells: Sequence[JudgedCell], *, tasks: bool, encodings: bool) -> Permutation:
    """Permutation test that moves observed outcomes between tasks, between encodings, or both.

    Exact up to MOST_ARRANGEMENTS; else over DRAWN arrangements, the observed one among them, drawn with a fixed seed
    (Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology, 2010).
    """
    predicted_TFE, observed_TFE = _arrays(cells)
    orders_MT, orders_ME, exact = _arrangements(len(predicted_TFE), predicted_TFE.shape[2], tasks, encodings)
    # [t, u, e, g]: how task t's predictions for encoding e score on task u's outcomes with encoding g.
    scores_TTEE = np.einsum("tfe,ufg->tueg", predicted_TFE, observed_TFE)
    counts_TTEE = np.einsum("tfe,ufg->tueg", np.abs(predicted_TFE), np.abs(observed_TFE))
    tasks_T, encodings_E = np.arange(len(scores_TTEE))[:, None], np.arange(scores_TTEE.shape[2])
    moved = (tasks_T, orders_MT[:, :, None], encodings_E, orders_ME[:, None, :])
    scores_M, counts_M = (array[moved].sum((1, 2)) for array in (scores_TTEE, counts_TTEE))
    values_M = scores_M / np.maximum(counts_M, 1)  # ratios of small integers: equal ratios are equal floats
    return Permutation(
        p=float((values_M >= values_M[0]).mean()),
        least_p=float((values_M >= values_M.max()).mean()),
        arrangements=len(values_M),
        exact=exact,
    )


def _arrays(cells: Sequence[JudgedCell]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Predicted and observed outcomes as +1, -1, or 0 for neither: int64 [tasks, formats, encodings].

    Only tasks, formats and encodings that have predictions are included.
    """
    predicted_keys = [cell.key for cell in cells if cell.predicted is not None]
    tasks, formats, encodings = ({key[part]: None for key in predicted_keys} for part in range(3))
    places = [dict(zip(names, range(len(names)), strict=True)) for names in (tasks, formats, encodings)]
    predicted, observed = np.zeros((2, *map(len, places)), dtype=np.int64)
    sign = {True: 1, False: -1, None: 0}
    for cell in cells:
        index = tuple(place.get(name, -1) for place, name in zip(places, cell.key, strict=False))
        if -1 not in index:
            predicted[index], observed[index] = sign[cell.predicted], sign[cell.observed]
    return predicted, observed


def _arrangements(
    tasks: int, encodings: int, move_tasks: bool, move_encodings: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Orders of tasks and of encodings, one row per arrangement, the observed one first; and True if these are all."""
    axes = ((tasks, move_tasks), (encodings, move_encodings))
    exact = prod(factorial(size) for size, move in axes if move) <= MOST_ARRANGEMENTS
    if exact:
        rows = list(product(*(list(permutations(range(size))) if move else [range(size)] for size, move in axes)))
        first, second = (np.array(orders, dtype=np.int64).reshape(len(rows), -1) for orders in zip(*rows, strict=True))
        return first, second, exact
    draw = np.random.default_rng(0)
    first, second = (np.tile(np.arange(size), (DRAWN, 1)) for size, _ in axes)
    for orders, (_, move) in zip((first, second), axes, strict=True):
        if move:
            orders[1:] = draw.permuted(orders[1:], axis=1)
    return first, second, exact
