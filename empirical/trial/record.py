"""Record of a finished experiment in two files: what was frozen before its runs, and one table of the runs.

    FOLDER/frozen.json     frozen answers (`frozen.FILE`); a record from before answers were frozen has none
    FOLDER/trial.parquet   a row for each run: its name, seed, settings and predictions, where and when it was trained,
                           and its measurements at every checkpoint and scale that were kept

All else is derived from them: verdicts, e-values and the rest of what conjecture.json holds.  Four things are checked
whenever a record is read: the hash of all rows; the name of each run, which holds the hash of its settings; its seed,
which derives from what was frozen; and its predictions, which must give the answers that were frozen.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.prediction_record import PREDICTION, Prediction
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.outcome import Checkpoint
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.tables import TableError, read_rows, write_rows
from lengthgen.empirical.trial.conjecture import CellEvidence, CellKey, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.frozen import FILE, FrozenCell, Modes, answers, frozen_records, rule_name
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import DamagedFile, read_sealed_json, write_sealed_json
from lengthgen.infrastructure.shapes import mapping_to, or_none
from lengthgen.theory.encodings.relations import LABEL_START

TABLE = "trial.parquet"
MEASURED = tuple(field.name for field in fields(Measurement))
"""Columns with a list of numbers for each run: a number for each checkpoint and scale, checkpoints ascending.

Epoch, scale and exact match are always kept.  A column that was not kept is absent, and its numbers are NaN when they
are read.  Where all steps of a run were seen in training, its columns of OF_SEEN are null: they equal those of all.
"""
OF_SEEN = {"exact_match_seen": "exact_match", "token_accuracy_seen": "token_accuracy"}
"""Measurements of seen samples and steps -> the same of all."""
PROVENANCE = ("time", "seconds", "trained_together", "environment", "sha256")
"""Columns that say when, how long and where a run was trained, and the hash of its files; null where not kept.

The environment is JSON: device, machine, revision of the source, versions of Python and of libraries. The hash is the
first 16 digits of `RunStore.digest`, by which a run that is trained again can be compared bit by bit.
"""
_PREDICTIONS = mapping_to(or_none(PREDICTION))


class RecordError(DamagedFile):
    """A record cannot be used; the message names the file and the reason, in one line."""


@dataclass(frozen=True, kw_only=True)
class RecordedRun:
    """Run of a record.

    Attributes:
        run: the run.
        predictions: predictions for its cell by operator mode, as they were stored before training.
        rows: its measurements, checkpoints and scales ascending.
        provenance: values of PROVENANCE.
    """

    run: Run
    predictions: Modes
    rows: Sequence[Measurement]
    provenance: Mapping[str, Any]

    @property
    def cell(self) -> CellKey:
        """Key of its cell."""
        task = self.run.task
        return CellKey(task.key, task.format, self.run.encoding, str(self.run.model))

    @property
    def complete(self) -> bool:
        """True if every checkpoint is kept; a run that may stop early was measured once, where it ended."""
        epochs = {row.epoch for row in self.rows}
        return bool(self.run.training.stop_when_solved) or epochs >= {*self.run.checkpoints}

    def as_row(self) -> dict[str, Any]:
        """Return the row of the table."""
        columns = {name: [getattr(row, name) for row in self.rows] for name in MEASURED}
        if _all_seen(columns["seen_steps"]):
            columns = {name: its for name, its in columns.items() if its != columns.get(OF_SEEN.get(name, ""))}
        return {
            "run": self.run.id,
            "seed": self.run.seed,
            "encoding": self.run.encoding,
            "table_start": table_start(self.run.encoding),
            **{name: self.provenance.get(name) for name in PROVENANCE},
            "config": _text(self.run.config),
            "predictions": _text({mode: its and its.as_json() for mode, its in self.predictions.items()}),
            **{name: values for name, values in columns.items() if not all(map(math.isnan, values))},
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read a row of the table.

        Raises:
            LengthgenError, KeyError, TypeError, ValueError: the row does not describe a run.
        """
        run = Run.from_config(json.loads(row["config"]))
        if (run.id, run.seed) != (row["run"], row["seed"]):
            raise ValueError(f"{row['run']} is not the name of the run that its settings describe")
        count = len(row["epoch"])
        all_seen = _all_seen(row.get("seen_steps"))
        columns = {name: row.get(name) or (all_seen and row.get(OF_SEEN.get(name, ""))) for name in MEASURED}
        columns = {name: values or [math.nan] * count for name, values in columns.items()}
        numbers = zip(*columns.values(), strict=True)
        return cls(
            run=run,
            predictions=_predictions(row["predictions"]),
            rows=[Measurement(**dict(zip(columns, each, strict=True))) for each in numbers],
            provenance={name: row[name] for name in PROVENANCE},
        )


@dataclass(frozen=True, kw_only=True)
class Record:
    """Record of an experiment.

    Attributes:
        folder: its folder.
        runs: its runs, those of a cell together and in the order of their seeds' indices.
        frozen: digest of everything that was frozen last; None if nothing was.
        frozen_cells: what was frozen of each cell; none if nothing was.
    """

    folder: Path
    runs: tuple[RecordedRun, ...]
    frozen: str | None
    frozen_cells: Mapping[CellKey, FrozenCell]

    @cached_property
    def cells(self) -> dict[CellKey, list[RecordedRun]]:
        """Runs by cell."""
        cells: dict[CellKey, list[RecordedRun]] = {}
        for run in self.runs:
            cells.setdefault(run.cell, []).append(run)
        return cells

    @property
    def train(self) -> tuple[int, ...]:
        """Training scales, ascending."""
        return self.runs[0].run.train

    @property
    def criteria(self) -> Criteria:
        """Main criteria: those by which `lengthgen conjecture` judges."""
        first = self.runs[0]
        forecast = any(its is not None and its.forecast for its in first.predictions.values())
        return Criteria(
            threshold=first.run.evaluation.threshold,
            size=str(first.run.model),
            rule="forecast" if forecast else "coverage",
        )

    def evidence(self) -> list[CellEvidence]:
        """Return the evidence of each cell, in order."""
        return [
            CellEvidence(
                key=key,
                predictions=runs[0].predictions,
                runs=[(each.run, each.rows) for each in runs],
                predicted_before_training=key in self.frozen_cells,
                frozen_rules=self.frozen_cells[key].answered if key in self.frozen_cells else frozenset(),
            )
            for key, runs in self.cells.items()
        ]

    def judged(self) -> list[JudgedCell]:
        """Return the cells of the main size, judged by the main criteria."""
        return judge(self.evidence(), self.criteria)

    @cached_property
    def trial(self) -> dict[str, Any]:
        """Content of conjecture.json, as today's rules judge the runs.

        Where the table lacks checkpoints, `best_on_test` is None and no other checkpoint is among the sensitivities.
        """
        trial: dict[str, Any] = json.loads(json.dumps(as_json(self.evidence(), self.criteria, self.frozen)))
        if not all(each.complete for each in self.runs):
            for cell in trial["cells"]:
                cell["best_on_test"] = None
            other = [str(checkpoint) for checkpoint in Checkpoint if checkpoint is not Checkpoint.LAST]
            trial["sensitivity"] = [its for its in trial["sensitivity"] if its["setting"]["checkpoint"] not in other]
        return trial


@lru_cache(maxsize=1024)
def table_start(encoding: str) -> float | None:
    """Standard deviation with which the tables of an encoding start; None if it has none, or is a module of the user's.

    Raises:
        EncodingError: the encoding is unknown, or the user's file fails.
    """
    spec = parse_encoding(encoding)
    if spec.is_own and spec.record.module is None:  # a relation, with a vector for each label
        return float(LABEL_START["start"].default)
    start = dict(spec.options).get("start")
    return None if start is None else float(start)


def is_record(folder: Path) -> bool:
    """True if a folder has the table of a record."""
    return (folder / TABLE).is_file()


def record_folders(root: Path) -> list[Path]:
    """Folders of all records in a folder, at any depth, in alphabetical order."""
    return sorted(path.parent for path in root.rglob(TABLE))


def write_record(folder: Path, runs: Iterable[RecordedRun], frozen: Path) -> None:
    """Write a record.

    Args:
        folder: its folder.
        runs: runs, those of a cell together and in the order of their seeds' indices.
        frozen: file with what was frozen before them; it need not exist.

    Raises:
        DamagedFile: what was frozen has changed since it was written.
        OSError: a file cannot be read or written.
    """
    if frozen.is_file():
        write_sealed_json(folder / FILE, read_sealed_json(frozen))
    rows = [run.as_row() for run in runs]
    columns = dict.fromkeys(name for row in rows for name in row)
    write_rows(folder / TABLE, [{name: row.get(name) for name in columns} for row in rows])


def read_record(folder: Path) -> Record:
    """Read a record and check it as the module's docstring says.

    Raises:
        RecordError: a file is missing or damaged, a run is not one that was frozen, or predictions were changed.
    """
    path = folder / TABLE
    try:
        runs = tuple(map(RecordedRun.from_row, read_rows(path)))
        frozen = frozen_records(folder / FILE)
    except (TableError, DamagedFile) as error:
        raise RecordError(f"{error}: git checkout {folder}") from error
    except (LengthgenError, KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{path} holds no runs ({error}): git checkout {folder}") from error
    if not runs:
        raise RecordError(f"{path} holds no runs: git checkout {folder}")
    record = Record(folder=folder, runs=runs, frozen=frozen[-1].digest if frozen else None, frozen_cells={})
    _require_equal_runs(record)
    if not frozen:
        _require_plain_seeds(record)
        return record
    frozen_cells = [cell for each in reversed(frozen) for cell in each.cells]
    return Record(
        folder=folder,
        runs=runs,
        frozen=record.frozen,
        frozen_cells={key: _frozen_cell(folder, key, own, frozen_cells) for key, own in record.cells.items()},
    )


def _require_equal_runs(record: Record) -> None:
    """Raise RecordError unless the runs of each cell differ in their seed alone, and share their predictions."""
    for key, [first, *others] in record.cells.items():
        for other in others:
            if replace(other.run, seed=first.run.seed) != first.run or other.predictions != first.predictions:
                raise RecordError(f"{record.folder / TABLE}: {other.run.id} differs from other runs of {key}")


def _require_plain_seeds(record: Record) -> None:
    """Raise RecordError unless the seeds of each cell are 0, 1, ..., as before answers were frozen."""
    for key, runs in record.cells.items():
        if [each.run.seed for each in runs] != [*range(len(runs))]:
            raise RecordError(f"{record.folder / TABLE}: the runs of {key} have not the seeds 0, 1, ...")


def _frozen_cell(
    folder: Path, key: CellKey, runs: Sequence[RecordedRun], frozen_cells: Sequence[FrozenCell]
) -> FrozenCell:
    """Return what was frozen of a cell: the one from which all its seeds derive.

    Raises:
        RecordError: there is none, or the predictions of the table give other answers than those frozen.
    """
    seeds = [each.run.seed for each in runs]
    for cell in frozen_cells:
        if _describes(cell, runs[0].run) and seeds == [cell.seed(index) for index in range(len(seeds))]:
            present = answers(runs[0].predictions)
            prefixes = tuple(rule_name(mode, "") for mode in runs[0].predictions)
            changed = [
                rule for rule, answer in cell.rules.items() if rule.startswith(prefixes) and present.get(rule) != answer
            ]
            if changed:
                raise RecordError(f"{folder / TABLE}: {key} was frozen with another answer of {changed[0]}")
            return cell
    raise RecordError(f"{folder / TABLE}: the seeds of {key} do not derive from what {folder / FILE} froze")


def _describes(cell: FrozenCell, run: Run) -> bool:
    """True if a frozen cell is that of a run: the same task, encoding, model, samples, scales and training."""
    config, fixed = run.config, cell.preregistration
    return (
        all(cell.cell[name] == config[name] for name in ("task", "base", "format", "encoding", "digest"))
        and cell.cell["model"] == str(run.model)
        and all(fixed[name] == config[name] for name in ("train", "test", "training", "evaluation"))
    )


def _all_seen(seen_steps: Sequence[float] | None) -> bool:
    """True if all steps of all samples of a run were seen in training; False if it is not known."""
    return seen_steps is not None and {*seen_steps} == {1.0}


@lru_cache(maxsize=1024)  # the runs of a cell share one text
def _predictions(text: str) -> Modes:
    """Predictions by operator mode, from the JSON of a row."""
    content = json.loads(text)
    _PREDICTIONS(content, "predictions")
    return {mode: its and Prediction.from_json(its) for mode, its in content.items()}


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
