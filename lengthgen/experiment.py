"""Experiment: the cells of a protocol, predicted, trained and judged, in one folder.

OUT/runs/                                          runs of all experiments
OUT/PROTOCOL/predictions.json, conjecture.json     predictions and verdicts of one protocol
OUT/PROTOCOL/frozen.json                           answers from which the seeds of its runs derive
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from circuits.analysis import Analysis, SearchStopped, analyse
from circuits.clock import Clock
from circuits.encodings import EncodingSpec, HintNeeded, parse_encoding, parse_encodings
from circuits.modes import Mode
from circuits.prediction import predict
from circuits.prediction_record import Prediction
from circuits.task import TaskError
from circuits.tasks import TaskSpec
from empirical.model.backend import Backend
from empirical.runs.limits import SCALE
from empirical.runs.profile import Model, ProfileError, load_profile
from empirical.runs.protocol import Cell, Protocol, checked_protocol, load_protocol
from empirical.runs.protocol import names as protocol_names
from empirical.runs.run import Run, one_run, plan, saturations
from empirical.runs.store import RunStore
from empirical.training.cluster import ray
from empirical.training.sweep import Engine, local, staying, train_all
from empirical.trial.conjecture import FEWEST, CellEvidence, CellKey, Criteria, judge
from empirical.trial.frozen import FILE as FROZEN
from empirical.trial.frozen import Frozen
from empirical.trial.outcomes import History, outcome
from empirical.trial.trial import as_json
from lengthgen.announcement import announce_runs, offer
from lengthgen.curves import write_curves
from lengthgen.defaults import usual_encodings
from lengthgen.progress import Progress
from lengthgen.scales import parse_scales
from lengthgen.watching import watching
from theory.system.cache import cached
from theory.system.digests import source_digest
from theory.system.errors import in_any_case
from theory.system.files import write_sealed_json
from theory.system.messages import tell

MODE_STEPS = 120_000_000_000
"""Limit in counted steps (`circuits.clock`) for circuits of operator modes whose predictions are only compared."""
ENGINES = {"local": local, "ray": ray}
"""Engines that train the runs of a sweep."""
Predictions = Mapping[Cell, Mapping[str, Prediction | None]]
"""Prediction by cell and operator mode; None if there is none."""
Cells = Mapping[tuple[Cell, Model], Sequence[Run]]
"""Runs by cell and model size."""


ROUND, MOST = 4, 30
"""Runs that an undecided cell gets in one round, and usual largest number of its runs."""
GIVE_UP = 6
"""Number of runs after which a cell with fewer than FEWEST fitting ones gets no more."""


@dataclass(frozen=True, kw_only=True)
class UntilDecided:
    """End of the rounds in which undecided cells get more runs.

    Attributes:
        seconds: time in all; no round begins that would exceed it at the pace of the round before.
        most: largest number of runs of a cell.
    """

    seconds: float
    most: int


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


def stored_predictions(experiment: Experiment) -> Predictions:
    """Return the predictions for every cell, computed and stored before anything is trained."""
    protocol = experiment.protocol

    def compute() -> list[dict[str, Any]]:
        task_specs = list(dict.fromkeys(cell.task for cell in protocol.cells))
        progress = Progress("predictions", len(task_specs), "tasks")
        records = []
        for task in task_specs:
            cells = [cell for cell in protocol.cells if cell.task == task]
            for mode in Mode:
                records += [
                    {"cell": cell.as_json(), "mode": mode.value, "prediction": answer}
                    for cell, answer in _predictions_of_mode(protocol, cells, mode)
                ]
            progress.step(f"{task.words}, {task.format}")
        return records

    digests = [run.digest for [run] in plan(protocol, count=1).values()]
    cells_json = [cell.as_json() for cell in protocol.cells]
    key = [source_digest("theory", "circuits"), cells_json, protocol.train, protocol.test, digests]
    answer = cached(experiment.folder / "predictions.json", key, compute)
    predictions: dict[Cell, dict[str, Prediction | None]] = {cell: {} for cell in protocol.cells}
    for record in answer:
        content = record["prediction"]
        predictions[Cell.from_json(record["cell"])][record["mode"]] = (
            None if content is None else Prediction.from_json(content)
        )
    return predictions


def _predictions_of_mode(
    protocol: Protocol, cells: Sequence[Cell], mode: Mode
) -> list[tuple[Cell, dict[str, Any] | None]]:
    """Return the predictions for cells of one task and format; None if a mode does not apply to the task."""
    task, steps = cells[0].task, None if mode is Mode.FREE else MODE_STEPS
    try:
        analysis = analyse(task.plain(), task.format, protocol.test[-1], mode=mode, clock=Clock(steps=steps))
    except TaskError as error:
        if mode is Mode.FREE:
            raise
        if isinstance(error, SearchStopped):
            tell(f"predictions of mode {mode} are left out: {error}")
        return [(cell, None) for cell in cells]
    return [(cell, _prediction(analysis, cell, protocol)) for cell in cells]


def _prediction(analysis: Analysis, cell: Cell, protocol: Protocol) -> dict[str, Any] | None:
    """Return one prediction as JSON.

    None if the circuit of a mode that is only compared has no ideal relation without scale hint.
    """
    try:
        prediction = predict(analysis, parse_encoding(cell.encoding), train=protocol.train, test=protocol.test)
    except HintNeeded:
        if analysis.mode == Mode.FREE:
            raise
        return None
    return prediction.as_json()


def frozen_predictions(experiment: Experiment) -> tuple[Predictions, Frozen]:
    """Return the predictions, frozen before anything is trained, and say their hash."""
    predictions = stored_predictions(experiment)
    frozen = Frozen.of(experiment.protocol, predictions, experiment.folder / FROZEN)
    tell(f"frozen predictions: {frozen.digest}; publish it before training")
    return predictions, frozen


def sweep_all(experiment: Experiment, backend: Backend, engine: str) -> list[Run]:
    """Freeze predictions, then train every unfinished run and show the progress; return all runs.

    Raises:
        SweepError: as for `train_all`.
    """
    predictions, frozen = frozen_predictions(experiment)
    cells = frozen.runs()
    _announce(experiment, predictions, cells, backend, engine)
    _train(experiment, predictions, cells, backend, ENGINES[engine])
    return [run for cell_runs in cells.values() for run in cell_runs]


def _announce(experiment: Experiment, predictions: Predictions, cells: Cells, backend: Backend, engine: str) -> bool:
    """Say what is about to be trained, and return True if something is."""
    runs = [run for cell_runs in cells.values() for run in cell_runs]
    missing = [run for run in runs if not experiment.store.finished(run)]
    if missing:
        predicted = sum(p is not None and p.generalizes is not None for p in _free_mode(predictions))
        seeds = experiment.protocol.profile.seeds
        announce_runs(missing, seeds=seeds, predicted=predicted, backend=backend, engine=engine)
        for warning in saturations(runs):
            tell(warning)
    return bool(missing)


def _train(experiment: Experiment, predictions: Predictions, cells: Cells, backend: Backend, engine: Engine) -> None:
    """Train every unfinished run of the cells and show the progress. Raise as `train_all` does."""
    runs = [run for cell_runs in cells.values() for run in cell_runs]
    provenance = {run.id: _digests(predictions[cell]) for (cell, _), cell_runs in cells.items() for run in cell_runs}
    with watching(experiment.store, runs) as on_done:
        train_all(runs, experiment.store, backend=backend, provenance=provenance, engine=engine, on_done=on_done)


def _free_mode(predictions: Predictions) -> Iterator[Prediction | None]:
    """Yield the predictions of mode free."""
    return (by_mode.get(Mode.FREE) for by_mode in predictions.values())


def run_conjecture(
    experiment: Experiment, backend: Backend, engine: str = "local", *, until_decided: UntilDecided | None = None
) -> dict[str, Any]:
    """Freeze predictions, train unfinished runs, judge, and store conjecture.json; return its content.

    Runs that were added to a cell by an earlier call are judged too. With `until_decided`, undecided cells of the first
    model size get more runs, in rounds, until none is left or as `UntilDecided` says.
    """
    begun, profile = monotonic(), experiment.protocol.profile
    predictions, frozen = frozen_predictions(experiment)
    cells = {key: frozen.cells[key].with_added(runs, experiment.store) for key, runs in frozen.runs().items()}
    criteria = Criteria(threshold=profile.evaluation.threshold, size=str(profile.models[0]))
    if _announce(experiment, predictions, cells, backend, engine) and until_decided is None:
        offer(experiment.protocol.cli_name, MOST, ROUND)
    with _engine_of_rounds(engine, backend, experiment.store.root) as train_groups:
        while True:
            missing = sum(not experiment.store.finished(run) for runs in cells.values() for run in runs)
            round_begun = monotonic()
            _train(experiment, predictions, cells, backend, train_groups)
            evidence = [_evidence(experiment, frozen, key, runs, predictions[key[0]]) for key, runs in cells.items()]
            if until_decided is None:
                break
            now = monotonic()
            pace = (now - round_begun) / missing if missing else 0.0
            more = _more_runs(dict(zip(cells, evidence, strict=True)), criteria, until_decided, frozen)
            new = sum(map(len, more.values())) - sum(len(cells[key]) for key in more)
            if not more or now - begun + pace * new > until_decided.seconds:
                if more:
                    tell(f"the budget ends with {len(more)} undecided cells: run the same command again to add runs")
                break
            tell(f"{len(more)} cells are undecided: {new} more runs")
            cells |= more
    trial = as_json(evidence, criteria, frozen.digest)
    write_sealed_json(experiment.folder / "conjecture.json", trial)
    return trial


def _engine_of_rounds(name: str, backend: Backend, root: Path) -> AbstractContextManager[Engine]:
    """Return a context manager for the engine of this name; processes of this machine stay for all rounds."""
    engine = ENGINES[name]
    return staying(backend, root) if engine is local else nullcontext(engine)


def _more_runs(
    evidence: Mapping[tuple[Cell, Model], CellEvidence], criteria: Criteria, until: UntilDecided, frozen: Frozen
) -> dict[tuple[Cell, Model], list[Run]]:
    """Return all runs, with those of one more round, of each cell that is predicted, undecided and not given up."""
    chosen = [key for key in evidence if evidence[key].key.size == criteria.size]
    judged = dict(zip(chosen, judge([evidence[key] for key in chosen], criteria), strict=True))
    more = {}
    for key, cell in judged.items():
        runs, fitting = len(cell.outcomes), cell.fit.successes
        given_up = runs >= until.most or (runs >= GIVE_UP and fitting < FEWEST)
        if cell.predicted is not None and not cell.decided and not given_up:
            any_run = evidence[key].runs[0][0]
            more[key] = frozen.cells[key].runs(any_run, min(runs + ROUND, until.most))
    return more


def _digests(predictions: Mapping[str, Prediction | None]) -> dict[str, str]:
    """Return the digests of predictions, which the provenance of a run records."""
    return {
        f"prediction_sha256_{mode}": prediction.digest
        for mode, prediction in predictions.items()
        if prediction is not None
    }


def _evidence(
    experiment: Experiment,
    frozen: Frozen,
    key: tuple[Cell, Model],
    runs: Sequence[Run],
    predictions: Mapping[str, Prediction | None],
) -> CellEvidence:
    """Return the evidence of one cell: its predictions, its runs, and whether the seeds are those that were frozen."""
    (cell, model), store = key, experiment.store
    for run in runs:
        store.digest(run)  # reads all its files, so that a damaged checkpoint is noticed here
    expected = {mode: p if p and p.generalizes is not None else None for mode, p in predictions.items()}
    return CellEvidence(
        key=CellKey(task=cell.task.words, format=cell.task.format, encoding=cell.encoding, size=str(model)),
        predictions=expected,
        runs=[(run, store.metrics(run)) for run in runs],
        predicted_before_training=all(run.seed == frozen.cells[key].seed(index) for index, run in enumerate(runs)),
        frozen_rules=frozen.cells[key].answered,
        not_frozen=_other_runs(store, runs),
    )


def _other_runs(store: RunStore, runs: Sequence[Run]) -> list[History]:
    """Return the finished runs of a cell that have other seeds than these."""
    planned, begin = {run.id for run in runs}, runs[0].id.partition("-seed")[0]
    names = [name for name in store.finished_names() if name.startswith(begin) and name not in planned]
    found_runs = [stored.run for stored in map(store.look, names) if stored.run is not None]
    return [(run, store.metrics(run)) for run in found_runs if run.group == runs[0].group]


def train_one(experiment: Experiment, seed: int, backend: Backend, *, log: bool = False) -> dict[str, Any]:
    """Train one run of an experiment with one cell and one model, in this process."""
    from empirical.training.train import train

    protocol = experiment.protocol
    run = one_run(protocol, protocol.cells[0], protocol.profile.models[0], seed)
    store = experiment.store
    for warning in saturations([run]):
        tell(warning)
    progress = Progress("training", 0 if store.finished(run) else run.training.epochs, "epochs")
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


def task_experiment(
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
    """Return an experiment on one task, named or in a file, with (format, encoding) pairs.

    Stored under the task's name.

    Raises:
        TaskError: the task does not exist, or does not have this base.
        ProfileError, ScalesError: an option has a wrong value.
    """
    cells = tuple(
        Cell(task=TaskSpec(name=task, base=base, format=format_name), encoding=str(encoding))
        for format_name, encoding in pairs
    )
    cells[0].task.plain()  # a file without this task is reported before anything else
    name = cells[0].task.short_name
    if name.casefold() in protocol_names():
        raise ProfileError(f"task '{task}': the name '{name}' is taken by a protocol of the project: rename the task")
    loaded = load_profile(profile, {} if seeds is None else {"seeds": seeds})
    protocol = checked_protocol(
        name=name,
        cli_name=cells[0].task.name,
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
    """Return the experiment of a protocol's name or file, or else of a task with options.

    Raises:
        ProfileError: options are given beside a protocol, which has its own.
    """
    if in_any_case(name, protocol_names()) in protocol_names() or name.endswith(".toml"):
        set_options = [key for key, value in options.items() if value is not None]
        if set_options:
            raise ProfileError(
                f"protocol '{name}' sets its own {set_options[0]}: leave that option out, or name a task"
            )
        return Experiment(protocol=load_protocol(name, profile), out=out)
    formats = _or_default(options["formats"], "aligned").split(",")
    pairs = [
        (format_name, spec)
        for format_name in formats
        for spec in parse_encodings(_or_default(options["encodings"], usual_encodings(format_name)))
    ]
    return task_experiment(
        name,
        pairs,
        base=options["base"],
        train=_or_default(options["train"], "1-5"),
        test=_or_default(options["test"], "1-20"),
        seeds=options["seeds"],
        profile=profile,
        out=out,
    )


def _or_default(option: str | None, usual: str) -> str:
    """Return the value of an option, or its usual value if it is not set."""
    return usual if option is None else option
