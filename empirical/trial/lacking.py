"""Runs that a cell lacks for a verdict, computed from the e-values by which the cells are judged."""

from collections.abc import Sequence
from itertools import count

from lengthgen.empirical.statistics.e_values import Estimand, e_bh
from lengthgen.empirical.statistics.shares import ALPHA
from lengthgen.empirical.trial.conjecture import FEWEST, JudgedCell


def lacking_runs(cells: Sequence[JudgedCell]) -> list[int | None]:
    """Fewest further fitting runs with one outcome that would decide each cell if the other cells stay as they are.

    The cells are those that were judged together, since e-BH decides them together. The outcome is the one that
    decides sooner. None for a cell that is decided or has no prediction.
    """
    return [None if cell.decided or cell.predicted is None else _lacking(cell, cells) for cell in cells]


def _lacking(cell: JudgedCell, cells: Sequence[JudgedCell]) -> int:
    successes, fitting = cell.generalizes_given_fit.successes, cell.generalizes_given_fit.trials
    others = [other for other in cells if other is not cell]
    others_for = [other.e_for for other in others if other.e_for is not None]
    others_against = [other.e_against for other in others if other.e_against is not None]

    def decide(more: int, outcome: bool) -> bool:
        """True if so many further runs with this outcome decide the cell."""
        evidence = Estimand.MAJORITY.evidence(successes + more * outcome, fitting + more)
        e_for, e_against = evidence.above, evidence.below
        if not cell.predicted:
            e_for, e_against = e_against, e_for
        return e_bh([e_for, *others_for], ALPHA)[0] or e_bh([e_against, *others_against], ALPHA)[0]

    return next(more for more in count(max(1, FEWEST - fitting)) if decide(more, True) or decide(more, False))
