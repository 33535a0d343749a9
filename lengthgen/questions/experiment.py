"""Experiments: a protocol, or a task with options, the folder of the results, and predictions made before training.

OUT/runs/                                          runs of all experiments
OUT/PROTOCOL/predictions.json, conjecture.json     predictions and verdicts of one protocol
OUT/PROTOCOL/circuits.json                         circuits on which the predictions are based, for the report
OUT/PROTOCOL/frozen.json                           answers from which the seeds of its runs derive
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import EncodingSpec, HintNeeded, parse_encoding, parse_encodings
from lengthgen.circuits.forecast.ask import with_forecast
from lengthgen.circuits.forecast.other_circuits import SeveralCircuits
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.tasks.catalogue import TWO_SCALE_TASKS
from lengthgen.circuits.tasks.families import is_of_family
from lengthgen.circuits.tasks.spec import NAMED
from lengthgen.empirical.experiment.protocol import Cell, Protocol, checked_protocol, load_profile, load_protocol
from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.empirical.experiment.run import plan
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial.frozen import FILE, STORED_PREDICTION, Frozen, frozen_tasks
from lengthgen.infrastructure.cache import Cached
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.errors import in_any_case, nearest
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.infrastructure.shapes import one_for_each
from lengthgen.infrastructure.userfile import split_file
from lengthgen.paper_figs.report.relations import explored, pool_labels
from lengthgen.paper_figs.report.trial_circuits import CIRCUITS
from lengthgen.paper_figs.stored import POOLED
from lengthgen.terminal.options import usual_encodings
from lengthgen.terminal.progress import Progress

MODE_STEPS = 120_000_000_000
"""Limit in counted steps (circuits/clock.py) for circuits of operator modes whose predictions are only compared."""
Predictions = Mapping[Cell, Mapping[str, Prediction | None]]
"""Prediction by cell and operator mode; None if there is none."""


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """Options of an experiment on a task; None for the usual value. A protocol sets its own.

    Attributes:
        encodings: comma-separated; the usual four of the format if None.
        formats: comma-separated; aligned if None.
        base: number of digits of the task.
        train: scales of training; 1 to 5 if None.
        test: scales of the test; 1 to 20 if None.
        seeds: runs of each cell; as many as the profile says if None.
    """

    encodings: str | None = None
    formats: str | None = None
    base: int | None = None
    train: Iterable[int] | None = None
    test: Iterable[int] | None = None
    seeds: int | None = None


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Protocol together with the folder of its results."""

    protocol: Protocol
    out: Path

    @property
    def store(self) -> RunStore:
        """Store of the runs."""
        return RunStore(self.out / "runs")

    @property
    def folder(self) -> Path:
        """Folder of this protocol's own results."""
        return self.out / self.protocol.name


def task_experiment(
    task: str, pairs: Sequence[tuple[str, EncodingSpec]], options: TaskOptions, *, profile: str, out: Path
) -> Experiment:
    """Return an experiment on one task, named or in a file, with (format, encoding) pairs.

    Its results are stored under the task's name.

    Raises:
        ProfileError: an option has a wrong value.
    """
    cells = tuple(
        Cell(task=TaskSpec(name=task, base=options.base, format=format_name), encoding=str(encoding))
        for format_name, encoding in pairs
    )
    cells[0].task.plain()  # a file without this task is reported before anything else
    name = cells[0].task.short_name
    if name.casefold() in protocol_names():
        raise ProfileError(f"task '{task}': the name '{name}' is taken by a protocol of the project: rename the task")
    protocol = checked_protocol(
        name=name,
        cli_name=cells[0].task.name,
        title=f"Encodings on '{name:.200}'",
        source="",
        cells=cells,
        train=tuple(sorted({*(range(1, 6) if options.train is None else options.train)})),
        test=tuple(sorted({*(range(1, 21) if options.test is None else options.test)})),
        profile_name=profile,
        profile=load_profile(profile, {} if options.seeds is None else {"seeds": options.seeds}),
    )
    return Experiment(protocol=protocol, out=out)


def chosen(name: str, options: TaskOptions, *, profile: str, out: Path) -> Experiment:
    """Return the experiment of a protocol's name or file, or else of a task with options.

    Raises:
        ProfileError: there is no such protocol or task, or options are given beside a protocol, which has its own.
    """
    if in_any_case(name, protocol_names()) in protocol_names() or name.endswith(".toml"):
        set_options = [key for key, value in vars(options).items() if value is not None]
        if set_options:
            raise ProfileError(
                f"protocol '{name}' sets its own {set_options[0]}: leave that option out, or name a task"
            )
        return Experiment(protocol=load_protocol(name, profile), out=out)
    if split_file(name) is None and not is_of_family(name):
        protocols_and_tasks = [*protocol_names(), *NAMED, *TWO_SCALE_TASKS]
        if in_any_case(name, protocols_and_tasks) not in protocols_and_tasks:
            listed = "`lengthgen protocols` and `lengthgen tasks` list all; your own: path/to/file.toml or .py:name"
            raise ProfileError(
                f"unknown protocol or task '{name:.60}': {nearest(name, protocols_and_tasks, listed=listed)}"
            )
    formats = ("aligned" if options.formats is None else options.formats).split(",")
    pairs = [
        (format_name, spec)
        for format_name in formats
        for spec in parse_encodings(usual_encodings(format_name) if options.encodings is None else options.encodings)
    ]
    return task_experiment(name, pairs, options, profile=profile, out=out)


def protocols_answer(profile: str) -> dict[str, Any]:
    """Return the protocols of the project under a profile: title, source, tasks, number of cells, scales, runs."""
    protocols = [load_protocol(name, profile) for name in protocol_names()]
    return {
        "profile": profile,
        "protocols": [
            {
                "protocol": protocol.name,
                "title": protocol.title,
                "source": protocol.source,
                "tasks": list(dict.fromkeys(cell.task.words for cell in protocol.cells)),
                "cells": len(protocol.cells),
                "train": [protocol.train[0], protocol.train[-1]],
                "test": [protocol.test[0], protocol.test[-1]],
                "runs": len(protocol.cells) * len(protocol.profile.models) * protocol.profile.seeds,
            }
            for protocol in protocols
        ],
    }


def stored_predictions(experiment: Experiment) -> Predictions:
    """Return the predictions for every cell, computed and stored before anything is trained.

    The circuits are stored beside them, so that the report page shows those of a user's task without its file.
    """
    protocol = experiment.protocol
    digests = [run.digest for [run] in plan(protocol, count=1).values()]
    cells_json = [cell.as_json() for cell in protocol.cells]
    code, inputs = source_digest("theory", "circuits"), [cells_json, protocol.train, protocol.test, digests]
    in_predictions, in_circuits = (
        Cached(path=experiment.folder / name, code=code, inputs=inputs) for name in ("predictions.json", CIRCUITS)
    )
    answer = in_predictions.recalled(one_for_each(product(protocol.cells, Mode), _cell_and_mode, STORED_PREDICTION))
    if answer is None or in_circuits.recalled(POOLED) is None:
        answer, circuits = _computed_predictions(protocol)
        explorations, pool = pool_labels(circuits)
        in_circuits.keep({"explorations": explorations, "pool": pool})
        in_predictions.keep(answer)
    predictions: dict[Cell, dict[str, Prediction | None]] = {cell: {} for cell in protocol.cells}
    for entry in answer:
        content = entry["prediction"]
        cell, mode = _cell_and_mode(entry)
        predictions[cell][mode] = None if content is None else Prediction.from_json(content)
    return predictions


def _cell_and_mode(entry: Mapping[str, Any]) -> tuple[Cell, str]:
    """Return the cell and the operator mode of a stored prediction."""
    return Cell.from_json(entry["cell"]), entry["mode"]


def _computed_predictions(protocol: Protocol) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the predictions of every cell in every mode, and the circuit of each task and format for the report."""
    task_specs = list(dict.fromkeys(cell.task for cell in protocol.cells))
    progress = Progress("predictions", len(task_specs), "tasks")
    records, circuits = [], []
    for task in task_specs:
        cells = [cell for cell in protocol.cells if cell.task == task]
        for mode in Mode:
            analysis, several = _analysis(protocol, task, mode), None
            if analysis and mode is Mode.FREE:
                several = SeveralCircuits(analysis, protocol.train, protocol.test)
            answers = {cell: _prediction(analysis, several, cell, protocol) if analysis else None for cell in cells}
            records += [
                {"cell": cell.as_json(), "mode": mode.value, "prediction": answer} for cell, answer in answers.items()
            ]
            if analysis and mode is Mode.FREE:
                by_encoding = {cell.encoding: answer for cell, answer in answers.items()}
                circuits.append(explored(task, analysis, by_encoding, protocol.train))
        progress.step(f"{task.words}, {task.format}")
    return records, circuits


def _analysis(protocol: Protocol, task: TaskSpec, mode: Mode) -> Analysis | None:
    """Return the analysis of a task up to the largest scale; None if a mode that is only compared does not apply."""
    steps = None if mode is Mode.FREE else MODE_STEPS
    try:
        return analyse(task.plain(), task.format, protocol.test[-1], mode=mode, clock=Clock(steps=steps))
    except TaskError as error:
        if mode is Mode.FREE:
            raise
        if isinstance(error, SearchStopped):
            tell(f"predictions of mode {mode} are left out: {error}")
        return None


def _prediction(
    analysis: Analysis, several: SeveralCircuits | None, cell: Cell, protocol: Protocol
) -> dict[str, Any] | None:
    """Return one prediction as JSON; with several circuits, the forecast is among it.

    None if the circuit of a mode that is only compared has no ideal relation without scale hint.
    """
    spec = parse_encoding(cell.encoding)
    try:
        prediction = predict(analysis, spec, train=protocol.train, test=protocol.test)
    except HintNeeded:
        if analysis.mode == Mode.FREE:
            raise
        return None
    if several:
        prediction = with_forecast(several, spec, prediction, task=cell.task)
    return prediction.as_json()


def frozen_predictions(experiment: Experiment) -> tuple[Predictions, Frozen]:
    """Return the predictions, frozen before anything is trained, and say their hash."""
    _require_no_namesake(experiment)
    predictions = stored_predictions(experiment)
    frozen = Frozen.of(experiment.protocol, predictions, experiment.folder / FILE)
    tell(f"frozen predictions: {frozen.digest}; publish it before training")
    return predictions, frozen


def _require_no_namesake(experiment: Experiment) -> None:
    """Raise ProfileError if the folder is that of a task of the same name in another file, which is still there.

    If that file is gone, it was perhaps moved to where the task is now.
    """
    own = split_file(experiment.protocol.cli_name)
    for task in frozen_tasks(experiment.folder / FILE) if own else []:
        other = split_file(task)
        if own and other and Path(other[0]).is_file() and not Path(other[0]).samefile(own[0]):
            raise ProfileError(
                f"{experiment.folder} holds the results of '{task}', and '{experiment.protocol.cli_name}' has the same "
                "name: give another --out, or rename the task"
            )
