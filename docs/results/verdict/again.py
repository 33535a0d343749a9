"""Runs of random tasks trained again with one thing changed, and the same seeds: lines of two tables.

PYTHONPATH=. python docs/results/verdict/again.py EXPERIMENT, at the root of the project: trains on one core (a few
seconds a run), adds runs to again-EXPERIMENT.parquet, and prints the lines. Ended after any piece, it goes on from
there. Experiments:

longer    each run goes on to its last step, past the check that ended it, under ideal encodings in the half for
          amendments. Filled cells are left out: those that should generalize do.
circuits  ideal relations of today's circuits, in which the query's own token keeps its slot where it can: all cells to
          which "distractors" says yes and "selection-with-token" no, as the circuit of that time moved the token.
"""

import runpy
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lengthgen.empirical.verdict.frozen import load_frozen
from lengthgen.empirical.verdict.population import hash_order
from lengthgen.empirical.verdict.preregistration import Check, load_preregistration
from lengthgen.empirical.verdict.runs import CellRun, SeenCell, load_runs, pieces, run_from, train_piece
from lengthgen.empirical.verdict.tables import read_rows, write_rows

RECORD = Path(__file__).parent
NAME = "random-tasks"
REGISTERED = load_preregistration(NAME)
CONTROLS = 20
"""Number of cells to which the rule says no that are trained longer."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is trained again, and how.

    Attributes:
        cells: function from all cells with a majority to those that are trained again.
        kind: function from a cell to the line of the table in which it is counted.
        check: when training ends.
    """

    cells: Callable[[list[SeenCell]], list[SeenCell]]
    kind: Callable[[SeenCell], str]
    check: Check


def _longer(cells: list[SeenCell]) -> list[SeenCell]:
    ideal = runpy.run_path(str(RECORD / "languages.py"))["IDEAL"]
    amending = [
        cell
        for cell in cells
        if cell.cell.half == "amendment" and cell.cell.encoding in ideal and cell.cell.format != "filled"
    ]
    refused = sorted(
        (cell for cell in amending if cell.cell.says("distractors") is False),
        key=lambda cell: hash_order(cell.cell.name),
    )
    return [*(cell for cell in amending if cell.cell.says("distractors")), *refused[:CONTROLS]]


def _circuits(cells: list[SeenCell]) -> list[SeenCell]:
    return [cell for cell in cells if cell.cell.says("distractors") and cell.cell.says("selection-with-token") is False]


EXPERIMENTS: Mapping[str, Experiment] = {
    "longer": Experiment(
        cells=_longer,
        kind=lambda cell: f"{'yes' if cell.cell.says('distractors') else 'no'} | {cell.cell.format}",
        check=replace(REGISTERED.check, times=REGISTERED.training.steps),
    ),
    "circuits": Experiment(
        cells=_circuits,
        kind=lambda cell: f"{'rises' if 'rises' in cell.cell.task else 'invariant'} | {cell.cell.format}",
        check=REGISTERED.check,
    ),
}


def judged() -> list[SeenCell]:
    """Return the cells of the record that count and have a majority."""
    cells: list[SeenCell] = runpy.run_path(str(RECORD / "languages.py"))["with_majority"](NAME)
    return cells


def recorded() -> dict[tuple[str, int], CellRun]:
    """Return the runs of the record by cell and index."""
    folder = RECORD / NAME
    by_cell = load_runs(load_frozen(REGISTERED, folder), folder)
    return {(run.cell, run.index): run for runs in by_cell.values() for run in runs}


def train(experiment: str) -> None:
    """Train the fitting runs of an experiment that are not stored yet, and store them after each piece."""
    path = stored_in(experiment)
    cells = {cell.cell.name: cell for cell in EXPERIMENTS[experiment].cells(judged())}
    rows = read_rows(path) if path.exists() else []
    done = {(row["cell"], row["index"]) for row in rows}
    wanted = [
        (cells[name].cell, index)
        for (name, index), run in recorded().items()
        if name in cells and run.fits(REGISTERED) and (name, index) not in done
    ]
    for piece in pieces(wanted):
        rows += train_piece(REGISTERED, piece, EXPERIMENTS[experiment].check)
        write_rows(path, rows)
        print(f"{len(rows)} of {len(done) + len(wanted)} runs", flush=True)


def lines(experiment: str) -> list[str]:
    """Return a line for each kind of cell: tasks, runs, how many generalized, do now, and changed in each direction."""
    cells, before = {cell.cell.name: cell for cell in judged()}, recorded()
    tasks: dict[str, set[str]] = defaultdict(set)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for again in map(run_from, read_rows(stored_in(experiment))):
        cell = cells[again.cell]
        kind = EXPERIMENTS[experiment].kind(cell)
        then, now = (run.generalizes(REGISTERED) for run in (before[again.cell, again.index], again))
        tasks[kind].add(cell.cell.task)
        counts[kind].update(runs=1, then=then, now=now, gained=now and not then, lost=then and not now)
    columns = ("runs", "then", "now", "gained", "lost")
    return [
        f"| {kind} | {len(tasks[kind])} | {' | '.join(str(of[column]) for column in columns)} |"
        for kind, of in sorted(counts.items())
    ]


def stored_in(experiment: str) -> Path:
    """Return the file of an experiment."""
    return RECORD / f"again-{experiment}.parquet"


if __name__ == "__main__":
    train(sys.argv[1])
    print("\n".join(lines(sys.argv[1])))
