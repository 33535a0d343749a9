"""Cells on which two rules give different answers, and the order in which cells are trained.

Few cells separate some rules, so these are trained before others.  Which cells come first depends on frozen answers
alone, never on outcomes, but tasks with many such cells are then over-represented among trained ones.  So everything is
judged on the tasks up to the first one, in the order of the hashes of their names, that still lacks a run: these are a
random sample of all tasks, whatever was trained beyond them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from lengthgen.empirical.verdict.frozen import FrozenCell, FrozenCells
from lengthgen.empirical.verdict.pairs import Score, hash_order, prediction
from lengthgen.empirical.verdict.population import HALVES
from lengthgen.empirical.verdict.runs import trainable

Pair = tuple[str, str]
"""Two rules that are compared."""
SAMPLE = 24
"""Number of tasks, the first in the order of their hashes, whose cells are trained before all others."""


def disputed(cells: Iterable[FrozenCell], pair: Pair, score: Score = Score.RIGHT) -> list[FrozenCell]:
    """Return the cells that can be trained and on which the predictions of two rules differ, as the score sees them."""
    return [
        cell
        for cell in trainable(cells)
        if len({prediction(cell.answers[rule][0], score, cell.task) for rule in pair}) == 2
    ]


def reached(cells: Sequence[FrozenCell], runs: Mapping[str, int], *, first: int) -> list[FrozenCell]:
    """Return the cells of the tasks before the first one, in hash order, of which a cell has fewer than `first` runs.

    Args:
        cells: cells in question, in any order.
        runs: name of the cell -> number of its finished runs; 0 for a cell that is not among them.
        first: number of runs that every cell gets.
    """
    by_task: dict[str, list[FrozenCell]] = defaultdict(list)
    for cell in cells:
        by_task[cell.task].append(cell)
    result: list[FrozenCell] = []
    for task in sorted(by_task, key=hash_order):
        if any(runs.get(cell.name, 0) < first for cell in by_task[task]):
            break
        result += by_task[task]
    return result


def rounds(frozen: FrozenCells, decided: Collection[Pair] = ()) -> list[list[FrozenCell]]:
    """Return the cells of each round of training; a cell may be in several rounds.

    First come all cells of SAMPLE tasks. Then, for one registered pair of rules after the other, those that separate it
    in the half that judges: the pair with the fewest such cells first. Then come all cells.

    Args:
        frozen: frozen answers.
        decided: pairs that need no runs of their own any more; evidence by e-values may stop at any time.
    """
    planned = trainable(frozen.cells)
    sample = sorted({cell.task for cell in planned}, key=hash_order)[:SAMPLE]
    judging = [cell for cell in planned if cell.half == HALVES[1]]
    open_pairs = [pair for pair in frozen.preregistration.rule_pairs if pair not in decided]
    by_pair = sorted((disputed(judging, pair) for pair in open_pairs), key=len)
    return [[cell for cell in planned if cell.task in sample], *by_pair, planned]
