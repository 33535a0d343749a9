"""Runs of frozen cells: planned by derived seeds, trained in pieces that can be stopped, stored, and counted by cell.

FOLDER/cells.parquet     frozen answers
FOLDER/pieces/*.parquet  runs of models that were trained together, one row a run
FOLDER/runs.parquet      all runs, once the pieces are joined
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.empirical.experiment.outcome import Outcome, first_failure
from lengthgen.empirical.experiment.protocol import Cell, Evaluation, Profile, Training, checked_protocol
from lengthgen.empirical.experiment.run import Run, one_run
from lengthgen.empirical.experiment.tables import TableError, read_rows, write_rows
from lengthgen.empirical.studies.verdict.frozen import FrozenCell, FrozenCells, spec_of
from lengthgen.empirical.studies.verdict.population import hash_order
from lengthgen.empirical.studies.verdict.preregistration import Preregistration
from lengthgen.infrastructure.memory import keep_freed_memory
from lengthgen.infrastructure.processes import interrupts_left, pool
from lengthgen.infrastructure.shapes import COUNT, FLAG, NUMBER, TEXT, WrongShape, list_of, made_into, or_none

RUNS, PIECES = "runs.parquet", "pieces"
FROZEN = "frozen"
"""Column of the digest of the frozen answers. The seed of each run derives from them, and is not stored."""
TOGETHER = 12
"""Largest number of models that are trained together; with 24, a step of each model took 9 % longer on a CPU."""
TASKS = 8
"""Number of tasks whose pieces follow each other, one encoding after the other: workers remember their analyses."""
Wanted = tuple[FrozenCell, int]
"""Cell, and index of one of its runs."""
SeenCell = Outcome[FrozenCell]
"""Cell with the outcome of its finished runs."""


@dataclass(frozen=True, kw_only=True)
class CellRun:
    """Finished run of a cell.

    Attributes:
        cell: name of the cell.
        index: index of the run in its cell.
        steps: number of training steps.
        solved: True if training ended because the training scales were solved.
        exact_match: share of right samples at each test scale, float64 [scales]; NaN where it was not tested.
    """

    cell: str
    index: int
    steps: int
    solved: bool
    exact_match: NDArray[np.float64]

    def fits(self, preregistration: Preregistration) -> bool:
        """True if every training scale is solved."""
        return self.first_failure(preregistration) > preregistration.train[1]

    def generalizes(self, preregistration: Preregistration) -> bool:
        """True if every test scale is solved."""
        return self.first_failure(preregistration) > preregistration.test[1]

    def first_failure(self, preregistration: Preregistration, threshold: float | None = None) -> int:
        """First test scale that is not solved; one more than the last scale if all are.

        Args:
            preregistration: that of the run.
            threshold: exact match from which on a scale counts as solved; None for that of the preregistration.
        """
        limit = preregistration.testing.threshold if threshold is None else threshold
        scores = dict(zip(preregistration.test_scales, self.exact_match.tolist(), strict=True))
        failure = first_failure(scores, limit)
        return preregistration.test[1] + 1 if failure is None else failure

    def as_row(self) -> dict[str, Any]:
        """Return the row of the run in a table."""
        return vars(self) | {"exact_match": [None if np.isnan(share) else float(share) for share in self.exact_match]}


def run_of(preregistration: Preregistration, cell: FrozenCell, index: int) -> Run:
    """Return the description of a run, with the seed that follows from the frozen answers of its cell."""
    described = Cell(task=spec_of(cell.task, cell.format), encoding=cell.encoding)
    protocol = checked_protocol(
        name="verdict",
        cli_name=cell.task,
        title=preregistration.title,
        source="",
        cells=(described,),
        train=preregistration.train_scales,
        test=preregistration.test_scales,
        profile_name="verdict",
        profile=Profile(
            models=(preregistration.model,),
            seeds=1,
            training=_training(preregistration),
            evaluation=Evaluation(samples=preregistration.testing.samples, threshold=preregistration.testing.threshold),
        ),
    )
    return one_run(protocol, described, preregistration.model, cell.seed(index))


def _training(preregistration: Preregistration) -> Training:
    """Return the training of a run: one pass over its samples."""
    training = preregistration.training
    return Training(
        samples=training.steps * training.batch,
        batch=training.batch,
        epochs=1,
        learning_rate=training.learning_rate,
        weight_decay=training.weight_decay,
        clip=training.clip,
        evaluate_every=1,
    )


def train_wanted(
    frozen: FrozenCells,
    wanted: Sequence[Wanted],
    folder: Path,
    *,
    workers: int,
    deadline: float,
    progress: Callable[[int, int], None],
) -> None:
    """Train runs and store each piece when it ends; stop at the deadline, after the pieces that are in training.

    Workers take single pieces, so that none is idle for long while others train the last ones.

    Args:
        frozen: frozen answers.
        wanted: runs to train.
        folder: folder of the verdict.
        workers: number of processes.
        deadline: `time.time()` after which no further piece is begun.
        progress: called with (trained runs, all wanted), first with 0.
    """
    done = 0
    progress(done, len(wanted))
    with pool(workers) as processes:
        with interrupts_left():
            futures = [
                processes.submit(_train, frozen.preregistration, frozen.digest, piece, folder, deadline)
                for piece in pieces(wanted)
            ]
        for future in as_completed(futures):
            if trained := future.result():  # 0 after the deadline
                done += trained
                progress(done, len(wanted))


def pieces(wanted: Sequence[Wanted]) -> list[list[Wanted]]:
    """Cut runs into pieces, each of one shape and encoding, to be trained together; see TASKS for their order."""
    by_shape: dict[tuple[str, str], dict[str, list[Wanted]]] = defaultdict(lambda: defaultdict(list))
    for cell, index in sorted(wanted, key=lambda each: (hash_order(each[0].task), each[0].name, each[1])):
        by_shape[cell.format, cell.shape][cell.task].append((cell, index))
    blocks = []
    for tasks in by_shape.values():
        names = list(tasks)
        for start in range(0, len(names), TASKS):
            by_encoding: dict[str, list[Wanted]] = defaultdict(list)
            for cell, index in (each for name in names[start : start + TASKS] for each in tasks[name]):
                by_encoding[cell.encoding].append((cell, index))
            blocks.append(
                [runs[at : at + TOGETHER] for runs in by_encoding.values() for at in range(0, len(runs), TOGETHER)]
            )
    # Blocks whose first tasks come first, so that these are complete early.
    blocks.sort(key=lambda block: hash_order(block[0][0][0].task))
    return [piece for block in blocks for piece in block]


def _train(
    preregistration: Preregistration, frozen: str, piece: Sequence[Wanted], folder: Path, deadline: float
) -> int:
    """Train a piece and store it, in a worker process; return the number of trained runs, 0 after the deadline.

    `frozen` is the digest of the frozen answers, from which the seeds derive.
    """
    import torch

    if time.time() > deadline:
        return 0
    torch.set_num_threads(1)
    keep_freed_memory()
    rows = [row | {FROZEN: frozen} for row in train_piece(preregistration, piece)]
    write_rows(folder / PIECES / f"{_name_of(piece)}.parquet", rows)
    return len(rows)


def train_piece(preregistration: Preregistration, piece: Sequence[Wanted]) -> list[dict[str, Any]]:
    """Train the runs of one piece, which are of one shape and encoding, together; return a row for each."""
    from lengthgen.empirical.experiment.ensemble import Setup
    from lengthgen.empirical.studies.verdict.training import exact_match_by_scale, train_models

    runs = [run_of(preregistration, cell, index) for cell, index in piece]
    setups = {cell.name: Setup.of(run, "cpu") for (cell, _), run in reversed(list(zip(piece, runs, strict=True)))}
    ensemble, ended = train_models(runs, [setups[cell.name] for cell, _ in piece], preregistration.check)
    shares = exact_match_by_scale(ensemble, preregistration.testing)
    return [
        {
            "cell": cell.name,
            "index": index,
            "steps": ended.ended[model],
            "solved": ended.in_a_row[model] >= preregistration.check.times,
            "exact_match": [None if np.isnan(share) else round(float(share), 4) for share in shares[model]],
        }
        for model, ((cell, index), run) in enumerate(zip(piece, runs, strict=True))
    ]


def load_runs(frozen: FrozenCells, folder: Path) -> dict[str, list[CellRun]]:
    """Return cell name -> its runs by index, from the joined table and from single pieces.

    Raises:
        TableError: a table is damaged, two rows are about one run and differ, a run is none of those that the
            preregistration plans, or the runs were made without the frozen answers, which were changed then, or made
            after them.
    """
    preregistration = frozen.preregistration
    cells = {cell.name: cell for cell in frozen.cells}
    runs: dict[tuple[str, int], CellRun] = {}
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    paths = [*([folder / RUNS] if (folder / RUNS).is_file() else []), *sorted((folder / PIECES).glob("*.parquet"))]
    for path in paths:
        for row in read_rows(path):
            if row.pop(FROZEN, None) != frozen.digest:
                raise TableError(
                    f"{path} does not follow from the frozen answers: they were changed after these runs, or the runs "
                    "were made without them"
                )
            try:
                run = run_from(row)
            except WrongShape as error:
                raise TableError(f"{path} holds no runs of a verdict ({error})") from error
            if run.cell not in cells:
                raise TableError(f"{path}: '{run.cell}' is no cell of the frozen answers")
            if run.index not in range(preregistration.stopping.most):
                raise TableError(f"{path}: run {run.index} of {run.cell} is none of its planned runs")
            if len(run.exact_match) != len(preregistration.test_scales):
                raise TableError(f"{path}: run {run.index} of {run.cell} lacks the numbers of some test scales")
            key = (run.cell, run.index)
            if rows.setdefault(key, row) != row:
                raise TableError(f"{path}: run {run.index} of {run.cell} is stored twice, with different outcomes")
            runs[key] = run
    by_cell: dict[str, list[CellRun]] = {}
    for _, run in sorted(runs.items(), key=lambda item: item[0]):
        by_cell.setdefault(run.cell, []).append(run)
    return by_cell


def join_pieces(frozen: FrozenCells, folder: Path) -> int:
    """Write all runs as one table, sorted, and remove the pieces; return the number of runs."""
    joined = list((folder / PIECES).glob("*.parquet"))  # before they are read: a piece that comes later stays
    runs = load_runs(frozen, folder)
    rows = [run.as_row() | {FROZEN: frozen.digest} for cell in frozen.cells for run in runs.get(cell.name, [])]
    if rows:
        write_rows(folder / RUNS, rows)
    for path in joined:
        path.unlink(missing_ok=True)
    return len(rows)


def missing_runs(frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]], counts: Mapping[str, int]) -> list[Wanted]:
    """Return the runs that cells lack to have as many as `counts` says (cell name -> number of runs)."""
    return [
        (cell, index)
        for cell in frozen.cells
        for index in sorted(set(range(counts.get(cell.name, 0))) - {run.index for run in runs.get(cell.name, [])})
    ]


def seen_cells(
    frozen: FrozenCells, runs: Mapping[str, Sequence[CellRun]], *, threshold: float | None = None
) -> list[SeenCell]:
    """Return the cells that have runs, judged at a threshold (None: that of the preregistration)."""
    registered = frozen.preregistration
    cells = []
    for cell in frozen.cells:
        ends = [run.first_failure(registered, threshold) for run in runs.get(cell.name, [])]
        failures = [None if end > registered.test[1] else end for end in ends]
        if failures:
            cells.append(Outcome.of(cell, failures, train=registered.train[1]))
    return cells


_ROW = made_into(
    CellRun,
    cell=TEXT,
    **dict.fromkeys(("index", "steps"), COUNT),
    solved=FLAG,
    exact_match=list_of(or_none(NUMBER)),
)


def run_from(row: Mapping[str, Any]) -> CellRun:
    """Return the run of a row of a table. Raises WrongShape if it is none."""
    _ROW(row, "run")
    exact = np.array([np.nan if share is None else share for share in row["exact_match"]], dtype=np.float64)
    return CellRun(**{**row, "exact_match": exact})


def _name_of(piece: Sequence[Wanted]) -> str:
    """Return a name for a piece: a hash of its runs."""
    return hashlib.sha256("\n".join(f"{cell.name} {index}" for cell, index in piece).encode()).hexdigest()[:16]
