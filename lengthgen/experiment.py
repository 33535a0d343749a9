"""One experiment: the cells of a protocol, predicted, trained and judged, under one folder.

OUT/runs/                     the runs of all experiments
OUT/PROTOCOL/predictions.json, conjecture.json
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from circuits.encodings import EncodingSpec, HintNeeded, parse_encoding, parse_encodings
from circuits.modes import Mode
from circuits.prediction import Analysis, Prediction, SearchStopped, analyse, predict
from circuits.task import TaskError
from circuits.tasks import TaskSpec
from empirical.model.backend import Backend
from empirical.runs.limits import SCALE
from empirical.runs.profile import Model, ProfileError, load_profile
from empirical.runs.protocol import Cell, Protocol, checked_protocol, load_protocol
from empirical.runs.protocol import names as protocol_names
from empirical.runs.run import Run, one_run, plan
from empirical.runs.store import RunStore
from empirical.training.cluster import ray
from empirical.training.sweep import local, train_all
from empirical.trial.conjecture import CellEvidence, CellKey, Criteria
from empirical.trial.outcomes import outcome
from empirical.trial.statistics import ALPHA, runs_needed
from empirical.trial.trial import as_json
from lengthgen.commands.options import usual_encodings
from lengthgen.curves import write_curves
from lengthgen.progress import Progress
from lengthgen.scales import parse_scales
from lengthgen.watching import watching
from theory.system.cache import cached
from theory.system.digests import source_digest
from theory.system.files import write_sealed_json
from theory.system.messages import tell

MODE_STEPS = 120_000_000_000
"""Counted steps (`circuits.clock`) for the circuit of an operator mode with which predictions are only compared."""
ENGINES = {"local": local, "ray": ray}
"""Where the runs of a sweep are trained."""
Predictions = Mapping[Cell, Mapping[str, Prediction | None]]
"""By cell and operator mode; None where there is none."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A protocol, and where it keeps everything."""

    protocol: Protocol
    out: Path

    @property
    def store(self) -> RunStore:
        """The runs."""
        return RunStore(self.out / "runs")

    @property
    def folder(self) -> Path:
        """What is this protocol's alone."""
        return self.out / self.protocol.name

    def runs(self) -> dict[tuple[Cell, Model], list[Run]]:
        """Every run of every cell and model. Raises as `plan` does."""
        return plan(self.protocol)


def stored_predictions(experiment: Experiment) -> Predictions:
    """Predictions for every cell, computed and stored before anything is trained."""
    protocol = experiment.protocol

    def compute() -> list[dict[str, Any]]:
        laid_out = list(dict.fromkeys(cell.task for cell in protocol.cells))
        progress = Progress("predictions", len(laid_out))
        found = []
        for task in laid_out:
            cells = [cell for cell in protocol.cells if cell.task == task]
            for mode in Mode:
                found += [
                    {"cell": cell.as_json(), "mode": mode.value, "prediction": answer}
                    for cell, answer in _of_mode(protocol, cells, mode)
                ]
            progress.step(f"{task.words}, {task.format}")
        return found

    digests = [runs[0].digest for runs in experiment.runs().values()]
    named = [cell.as_json() for cell in protocol.cells]
    key = [source_digest("theory", "circuits"), named, protocol.train, protocol.test, digests]
    answer = cached(experiment.folder / "predictions.json", key, compute)
    found: dict[Cell, dict[str, Prediction | None]] = {cell: {} for cell in protocol.cells}
    for one in answer:
        content = one["prediction"]
        found[Cell.from_json(one["cell"])][one["mode"]] = None if content is None else Prediction.from_json(content)
    return found


def _of_mode(protocol: Protocol, cells: Sequence[Cell], mode: Mode) -> list[tuple[Cell, dict[str, Any] | None]]:
    """Cells of one task and format; none where a mode does not apply to the task."""
    task, steps = cells[0].task, None if mode is Mode.FREE else MODE_STEPS
    try:
        analysis = analyse(task.plain(), task.format, protocol.test[-1], mode=mode, steps=steps)
    except TaskError as error:
        if mode is Mode.FREE:
            raise
        if isinstance(error, SearchStopped):
            tell(f"predictions of mode {mode} are left out: {error}")
        return [(cell, None) for cell in cells]
    return [(cell, _prediction(analysis, cell, protocol)) for cell in cells]


def _prediction(analysis: Analysis, cell: Cell, protocol: Protocol) -> dict[str, Any] | None:
    """One prediction; none where the circuit of a mode that is only compared has no ideal relation without a hint."""
    try:
        found = predict(analysis, parse_encoding(cell.encoding), train=protocol.train, test=protocol.test)
    except HintNeeded:
        if analysis.mode == Mode.FREE:
            raise
        return None
    return found.as_json()


def sweep_all(experiment: Experiment, backend: Backend, engine: str) -> Predictions:
    """Stores predictions, then trains every run that is not finished, and shows how far they are.

    Raises:
        SweepError: as `train_all`.
    """
    predictions = stored_predictions(experiment)
    cells = experiment.runs()
    runs = [run for same in cells.values() for run in same]
    predicted = sum(one is not None and one.generalizes is not None for one in _of_free(predictions))
    warning = too_few_seeds(experiment.protocol.profile.seeds, predicted)
    if warning and not all(experiment.store.finished(run) for run in runs):
        tell(warning)
    provenance = {run.id: _named(predictions[cell]) for (cell, _), same in cells.items() for run in same}
    with watching(experiment.store, runs) as on_done:
        train_all(
            runs, experiment.store, backend=backend, provenance=provenance, engine=ENGINES[engine], on_done=on_done
        )
    return predictions


def _of_free(predictions: Predictions) -> Iterator[Prediction | None]:
    return (by_mode.get(Mode.FREE) for by_mode in predictions.values())


def too_few_seeds(seeds: int, cells: int) -> str | None:
    """A line to be told where so few runs a cell cannot give a verdict, if all cells with a prediction are learnt.

    With n agreeing runs a cell has p = 2^-n at best, and Holm multiplies the smallest p by the number of cells that
    are tested: those with a prediction and a run that fits. So none is decided unless at most ALPHA 2^n are tested.
    """
    needed, most = runs_needed(cells), int(ALPHA * 2**seeds)
    if seeds >= needed:
        return None
    unless = f", unless at most {most} of them {'has' if most == 1 else 'have'} a run that fits" if most else ""
    return (
        f"{seeds} runs a cell can decide none of {cells} cells{unless}: {needed} that agree (seeds = {needed}) decide "
        "one whatever the others do; the 2x2 table counts every cell all the same"
    )


def log_curves(experiment: Experiment) -> None:
    """Writes the curves of all runs. Raises as `write_curves` does."""
    runs = [run for same in experiment.runs().values() for run in same]
    write_curves(runs, experiment.store, experiment.out / "tensorboard")


def run_conjecture(experiment: Experiment, backend: Backend, engine: str = "local") -> dict[str, Any]:
    """Predicts, trains what is not trained yet, judges, and stores conjecture.json; returns its content."""
    predictions = sweep_all(experiment, backend, engine)
    profile = experiment.protocol.profile
    evidence = [
        _evidence(experiment, cell, model, runs, predictions[cell]) for (cell, model), runs in experiment.runs().items()
    ]
    trial = as_json(evidence, Criteria(threshold=profile.evaluation.threshold, size=str(profile.models[0])))
    write_sealed_json(experiment.folder / "conjecture.json", trial)
    return trial


def _named(predictions: Mapping[str, Prediction | None]) -> dict[str, str]:
    """What a run's provenance says of its predictions."""
    return {f"prediction_sha256_{mode}": one.digest for mode, one in predictions.items() if one is not None}


def _evidence(
    experiment: Experiment, cell: Cell, model: Model, runs: Sequence[Run], predictions: Mapping[str, Prediction | None]
) -> CellEvidence:
    store, named = experiment.store, _named(predictions)
    for run in runs:
        store.digest(run)  # reads all its files: a damaged checkpoint is noticed, of which nothing here is shown
    expected = {mode: one if one and one.generalizes is not None else None for mode, one in predictions.items()}
    return CellEvidence(
        key=CellKey(task=cell.task.words, format=cell.task.format, encoding=cell.encoding, size=str(model)),
        predictions=expected,
        runs=[(run, store.metrics(run)) for run in runs],
        predicted_before_training=all(named.items() <= store.environment(run).items() for run in runs),
    )


def train_one(experiment: Experiment, seed: int, backend: Backend, *, log: bool = False) -> dict[str, Any]:
    """Trains one run of an experiment of one cell and model, in this process."""
    from empirical.training.train import train

    protocol = experiment.protocol
    run = one_run(protocol, protocol.cells[0], protocol.profile.models[0], seed)
    store = experiment.store
    progress = Progress("training", 0 if store.finished(run) else run.training.epochs)
    train([run], store, backend=backend, progress=lambda done, total: progress.step(f"epoch {done}"))
    if log:
        write_curves([run], store, experiment.out / "tensorboard")
    threshold = run.evaluation.threshold
    result = outcome((run, store.metrics(run)), threshold=threshold)
    return {
        "run": run.id,
        "folder": str(store.folder(run)),
        "accuracy": {str(scale): value for scale, value in store.final_exact_match(run).items()},
        "fits": result.fits,
        "generalizes": result.generalizes,
        "threshold": threshold,
    }


def of_task(
    task: str,
    pairs: Sequence[tuple[str, EncodingSpec]],
    *,
    base: int | None,
    train: str,
    test: str,
    profile: str,
    out: Path,
    seeds: int | None = None,
) -> Experiment:
    """An experiment on one task, of any name or file, with (format, encoding) pairs; stored under the task's name.

    Raises:
        TaskError: no such task, or it has no such base.
        ProfileError, ScalesError: as their options say.
    """
    cells = tuple(
        Cell(task=TaskSpec(name=task, base=base, format=form), encoding=str(encoding)) for form, encoding in pairs
    )
    cells[0].task.plain()  # a file that defines no such task is told before anything else is
    name = cells[0].task.short_name
    if name.casefold() in protocol_names():
        raise ProfileError(f"task '{task}': the name '{name}' is taken by a protocol of the project: rename the task")
    loaded = load_profile(profile, {} if seeds is None else {"seeds": seeds})
    protocol = checked_protocol(
        name=name,
        cli_name=task,
        title=f"Encodings on '{task:.200}'",
        source="",
        cells=cells,
        train=tuple(parse_scales(train, largest=SCALE.most)),
        test=tuple(parse_scales(test, largest=SCALE.most)),
        profile_name=profile,
        profile=loaded,
    )
    return Experiment(protocol=protocol, out=out)


def chosen(name: str, *, profile: str, out: Path, **options: Any) -> Experiment:
    """The experiment of a protocol's name or file, or else of a task with options.

    Raises:
        ProfileError: options beside a protocol, which has its own.
    """
    if name in protocol_names() or name.endswith(".toml"):
        given = [key for key, value in options.items() if value is not None]
        if given:
            raise ProfileError(f"protocol '{name}' says itself what its {given[0]} are: leave that out, or name a task")
        return Experiment(protocol=load_protocol(name, profile), out=out)
    formats = _given(options["formats"], "aligned").split(",")
    pairs = [
        (form, one) for form in formats for one in parse_encodings(_given(options["encodings"], usual_encodings(form)))
    ]
    return of_task(
        name,
        pairs,
        base=options["base"],
        train=_given(options["train"], "1-5"),
        test=_given(options["test"], "1-20"),
        seeds=options["seeds"],
        profile=profile,
        out=out,
    )


def _given(option: str | None, usual: str) -> str:
    return usual if option is None else option
