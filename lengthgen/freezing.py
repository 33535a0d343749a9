"""Predictions for the cells of an experiment, in every operator mode, stored and frozen before anything is trained."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encodings import HintNeeded, parse_encoding
from lengthgen.circuits.forecast.ask import with_forecast
from lengthgen.circuits.modes import Mode
from lengthgen.circuits.other_circuits import SeveralCircuits
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.protocol import Cell, Protocol
from lengthgen.empirical.experiment.run import plan
from lengthgen.empirical.trial.frozen import FILE, STORED_PREDICTION, Frozen, frozen_tasks
from lengthgen.experiment import Experiment
from lengthgen.infrastructure.cache import Cached
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.infrastructure.shapes import one_for_each
from lengthgen.infrastructure.userfile import split_file
from lengthgen.paper_figs.report.relations import explored, pool_labels
from lengthgen.paper_figs.report.trial_circuits import CIRCUITS
from lengthgen.paper_figs.stored import POOLED
from lengthgen.progress import Progress

MODE_STEPS = 120_000_000_000
"""Limit in counted steps (circuits/clock.py) for circuits of operator modes whose predictions are only compared."""
Predictions = Mapping[Cell, Mapping[str, Prediction | None]]
"""Prediction by cell and operator mode; None if there is none."""


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
            analysis = _analysis(protocol, task, mode)
            answers = _predictions_of_mode(protocol, cells, analysis)
            records += [
                {"cell": cell.as_json(), "mode": mode.value, "prediction": answer} for cell, answer in answers.items()
            ]
            if mode is Mode.FREE and analysis:
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


def _predictions_of_mode(
    protocol: Protocol, cells: Sequence[Cell], analysis: Analysis | None
) -> dict[Cell, dict[str, Any] | None]:
    """Return the predictions for cells of one task and format; None without an analysis."""
    if analysis is None:
        return dict.fromkeys(cells)
    several = SeveralCircuits(analysis, protocol.train, protocol.test) if analysis.mode == Mode.FREE else None
    return {cell: _prediction(analysis, several, cell, protocol) for cell in cells}


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
    """Return the predictions, frozen before anything is trained, and say their hash.

    Raises:
        ProfileError: the folder of the results has those of a task of the same name in another file.
    """
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
