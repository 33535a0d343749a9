"""Cells with their finished runs, judged at a threshold: what was observed, next to what every rule had said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lengthgen.empirical.experiment.outcome import breaking_scale
from lengthgen.empirical.verdict.frozen import FrozenCell, FrozenCells
from lengthgen.empirical.verdict.runs import CellRun


@dataclass(frozen=True, kw_only=True)
class SeenCell:
    """Cell with its finished runs.

    Attributes:
        cell: frozen answers.
        runs: number of finished runs.
        fit: number of runs that fit.
        generalize: number of runs that fit and generalize.
        breaks_at: breaking scale of the fitting runs; None if at least half of them generalize.
    """

    cell: FrozenCell
    runs: int
    fit: int
    generalize: int
    breaks_at: float | None

    @property
    def observed(self) -> bool | None:
        """True if most of the fitting runs generalize; None with a tie or without a fitting run."""
        return None if 2 * self.generalize == self.fit else 2 * self.generalize > self.fit

    def says(self, rule: str) -> bool | None:
        """Answer of a rule; None if it abstains."""
        probability = self.cell.answers[rule][0]
        return None if probability in (None, 0.5) else probability > 0.5


def seen_cells(
    frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]], *, threshold: float | None = None
) -> list[SeenCell]:
    """Return the cells that have runs, judged at a threshold (None: that of the preregistration)."""
    preregistration = frozen.preregistration
    last_trained, last = preregistration.train[1], preregistration.test[1]
    cells = []
    for cell in frozen.cells:
        failures = [run.first_failure(preregistration, threshold) for run in runs.get(cell.name, [])]
        fitting = [failure for failure in failures if failure > last_trained]
        first_failures = [failure if failure <= last else None for failure in fitting]
        if failures:
            cells.append(
                SeenCell(
                    cell=cell,
                    runs=len(failures),
                    fit=len(fitting),
                    generalize=first_failures.count(None),
                    breaks_at=breaking_scale(first_failures),
                )
            )
    return cells
