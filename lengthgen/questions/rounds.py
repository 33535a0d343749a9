"""Training of experiments whose predictions are frozen, and trials; undecided cells get more runs, in rounds."""

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.experiment.cluster import ray
from lengthgen.empirical.experiment.outcome import History, outcome
from lengthgen.empirical.experiment.protocol import SEED, Cell, Model
from lengthgen.empirical.experiment.run import Run, one_run, saturations
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import Engine, local, staying, train_all, workers
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.trial.conjecture import (
    FEWEST,
    CellEvidence,
    CellKey,
    Criteria,
    JudgedCell,
    judge,
    unanimous_runs,
)
from lengthgen.empirical.trial.frozen import Frozen
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_sealed_json, write_sealed_json
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.questions.experiment import (
    Experiment,
    Predictions,
    TaskOptions,
    chosen,
    frozen_predictions,
    task_experiment,
)
from lengthgen.questions.runs import OUTCOMES
from lengthgen.terminal.answers import Answer
from lengthgen.terminal.options import ideal_encoding
from lengthgen.terminal.preconditions import require_ready
from lengthgen.terminal.progress import Progress
from lengthgen.terminal.watching import watching

ENGINES: dict[str, Engine] = {"local": local, "ray": ray}
"""Engines that train the runs of a sweep."""
Key = tuple[Cell, Model]
"""Cell and model size."""
Cells = Mapping[Key, Sequence[Run]]
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


def sweep_all(experiment: Experiment, backend: Backend, engine: str) -> list[Run]:
    """Freeze predictions, then train every unfinished run and show the progress; return all runs."""
    predictions, frozen = frozen_predictions(experiment)
    cells = frozen.runs()
    _announced(experiment, predictions, cells, backend, engine)
    _train(experiment, predictions, cells, backend, ENGINES[engine])
    return [run for cell_runs in cells.values() for run in cell_runs]


def _announced(experiment: Experiment, predictions: Predictions, cells: Cells, backend: Backend, engine: str) -> bool:
    """Say what is about to be trained: runs, their cost, and if they can decide; return True if anything is."""
    runs = [run for cell_runs in cells.values() for run in cell_runs]
    missing = [run for run in runs if not experiment.store.finished(run)]
    if missing:
        seeds = experiment.protocol.profile.seeds
        tell(
            f"{len(missing)} runs to train, {seeds} of each cell{_cost(missing, backend) if engine == 'local' else ''}"
        )
        free = [by_mode.get(Mode.FREE) for by_mode in predictions.values()]
        if predicted := sum(prediction is not None and prediction.forecast is not None for prediction in free):
            tell(_deciding(seeds, predicted))
        for warning in saturations(runs):
            tell(warning)
    return bool(missing)


def _cost(runs: Sequence[Run], backend: Backend) -> str:
    """Return the estimated cost of the runs as text; nothing if it cannot be estimated."""
    from lengthgen.empirical.experiment.cost import seconds_of_runs

    try:
        minutes = max(seconds_of_runs(runs, backend) / 60, 0.1)
    except LengthgenError:  # the training says what is wrong, and trains the other cells
        return ""
    if backend.is_cuda:
        return f": about {minutes:.1f} GPU-minutes, by a few timed steps"
    cores = workers(backend)
    ending = ", less where runs end early" if runs[0].training.stop_when_solved else ""
    return f": about {minutes:.1f} core-minutes ({minutes / cores:.1f} on {cores} cores), by a few timed steps{ending}"


def _deciding(seeds: int, cells: int) -> str:
    """Return how many runs decide a cell, and whether the planned ones can."""
    least, most = unanimous_runs(), unanimous_runs(cells)
    enough = "" if seeds >= least else f"{seeds} runs a cell decide nothing: "
    unlike = "" if most == least else f", and {most} whatever the others do"
    if cells == 1:
        needed = f"{least} fitting runs that agree decide the cell"
    else:
        needed = f"{least} fitting runs that agree decide a cell if all {cells} cells are like it{unlike}"
    return f"{enough}{needed}; the 2x2 table counts every cell with {FEWEST} fitting runs anyway"


def announce_replacement(path: Path, digest: str) -> None:
    """Say that the trial in a file is replaced by one of other cells or predictions, whose hash is given."""
    try:
        stored = read_sealed_json(path)["frozen"]
    except (OSError, LengthgenError, KeyError, TypeError):
        return  # none, or a damaged one: nothing that could be kept
    if stored != digest:
        tell(
            f"{path} holds a trial of other cells or predictions, and is replaced; its runs stay, and its own command "
            "gives it again: use another --out to keep both"
        )


def _train(experiment: Experiment, predictions: Predictions, cells: Cells, backend: Backend, engine: Engine) -> None:
    """Train every unfinished run of the cells and show the progress. Raise as `train_all` does."""
    runs = [run for cell_runs in cells.values() for run in cell_runs]
    provenance = {
        run.id: {f"prediction_sha256_{mode}": its.digest for mode, its in predictions[cell].items() if its is not None}
        for (cell, _), cell_runs in cells.items()
        for run in cell_runs
    }
    with watching(experiment.store, runs) as on_done:
        train_all(runs, experiment.store, backend=backend, provenance=provenance, engine=engine, on_done=on_done)


def run_conjecture(
    experiment: Experiment, backend: Backend, engine: str = "local", *, until_decided: UntilDecided | None = None
) -> dict[str, Any]:
    """Freeze predictions, train unfinished runs, judge, and store conjecture.json; return its content.

    Runs that were added to a cell by an earlier call are judged too. With `until_decided`, undecided cells of the first
    model size get more runs, in rounds, until none is left or as `UntilDecided` says.
    """
    begun, profile = monotonic(), experiment.protocol.profile
    predictions, frozen = frozen_predictions(experiment)
    cells = {key: frozen.cells[key].with_added(runs, experiment.store.finished) for key, runs in frozen.runs().items()}
    criteria = Criteria(threshold=profile.evaluation.threshold, size=str(profile.models[0]), rule="forecast")
    announce_replacement(experiment.folder / "conjecture.json", frozen.digest)
    if _announced(experiment, predictions, cells, backend, engine) and until_decided is None:
        tell(
            f"cells that stay undecided get more runs, {ROUND} at a time and at most {MOST} a cell, by the same "
            "command with --until-decided --budget 1h"
        )
    # Processes of this machine stay for all rounds.
    engine_of_rounds = staying(backend, experiment.store) if ENGINES[engine] is local else nullcontext(ENGINES[engine])
    with engine_of_rounds as train_groups:
        while True:
            missing = sum(not experiment.store.finished(run) for runs in cells.values() for run in runs)
            round_begun = monotonic()
            _train(experiment, predictions, cells, backend, train_groups)
            evidence = {
                key: _evidence(experiment.store, frozen, key, runs, predictions[key[0]]) for key, runs in cells.items()
            }
            if until_decided is None:
                break
            now = monotonic()
            pace = (now - round_begun) / missing if missing else 0.0
            judged = _judged(evidence, criteria)
            more = _more_runs(evidence, judged, until_decided, frozen)
            new = sum(map(len, more.values())) - sum(len(cells[key]) for key in more)
            if not more or now - begun + pace * new > until_decided.seconds:
                if more:
                    tell(f"the budget ends with {_open_in_words(judged, more)}: run the same command again to add runs")
                break
            tell(f"{new} more runs for {_open_in_words(judged, more)}")
            cells |= more
    trial = as_json(list(evidence.values()), criteria, frozen.digest)
    write_sealed_json(experiment.folder / "conjecture.json", trial)
    return trial


def _judged(evidence: Mapping[Key, CellEvidence], criteria: Criteria) -> dict[Key, JudgedCell]:
    """Return the judged cells of the model size that is judged."""
    chosen = [key for key in evidence if evidence[key].key.size == criteria.size]
    return dict(zip(chosen, judge([evidence[key] for key in chosen], criteria), strict=True))


def _open_in_words(judged: Mapping[Key, JudgedCell], more: Collection[Key]) -> str:
    """Return how many cells get more runs, and how many cells the table has under each verdict that decides nothing."""
    counts = []
    for verdict, word in (("undecided (power)", "undecided"), ("mixed", "mixed"), ("not learnt", "not learnt")):
        keys = [key for key, cell in judged.items() if cell.verdict == verdict]
        given_up = len(set(keys) - set(more))
        if keys:
            counts.append(f"{len(keys)} {word}{f', of which {given_up} given up' if given_up else ''}")
    return f"{len(more)} open {'cell' if len(more) == 1 else 'cells'} ({'; '.join(counts)})"


def _more_runs(
    evidence: Mapping[Key, CellEvidence],
    judged: Mapping[Key, JudgedCell],
    until: UntilDecided,
    frozen: Frozen,
) -> dict[Key, list[Run]]:
    """Return all runs, with those of one more round, of each cell that is predicted, undecided and not given up."""
    more = {}
    for key, cell in judged.items():
        runs, fitting = cell.outcome.runs, cell.outcome.fit
        given_up = runs >= until.most or (runs >= GIVE_UP and fitting < FEWEST)
        if cell.predicted is not None and not cell.decided and not given_up:
            any_run = evidence[key].runs[0][0]
            more[key] = frozen.cells[key].runs(any_run, min(runs + ROUND, until.most))
    return more


def _evidence(
    store: RunStore,
    frozen: Frozen,
    key: Key,
    runs: Sequence[Run],
    predictions: Mapping[str, Prediction | None],
) -> CellEvidence:
    """Return the evidence of one cell: its predictions, its runs, and whether the seeds are those that were frozen."""
    cell, model = key
    for run in runs:
        store.digest(run)  # reads all its files, so that a damaged checkpoint is noticed here
    expected = {mode: p if p and (p.forecast or p.generalizes is not None) else None for mode, p in predictions.items()}
    return CellEvidence(
        key=CellKey(task=cell.task.key, format=cell.task.format, encoding=cell.encoding, size=str(model)),
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


def train(
    task: str,
    encoding: str | None = None,
    *,
    train: Iterable[int] = range(1, 6),
    test: Iterable[int] = range(1, 21),
    format: str = "aligned",
    base: int | None = None,
    seed: int = 0,
    profile: str = "quick",
    out: str | Path = "out",
    device: str = "cpu",
    compile: bool = False,
    log: bool = False,
) -> Answer:
    """Train one model and test it at every scale; a finished run is not trained again.

        train("parity", "rope", train=range(1, 6), test=range(1, 21))["accuracy"]

    Returns:
        run (name), folder, accuracy (scale as text -> exact match), fits, generalizes (None if it does not fit), and
        threshold, from which on a scale counts as solved.
    """
    from lengthgen.empirical.experiment.train import train as train_runs

    if refusal := SEED.refusal(seed):
        raise ProfileError(f"seed = {seed} {refusal}")
    backend, out = Backend(device, compile), Path(out)
    pair = format, parse_encoding(ideal_encoding(format) if encoding is None else encoding)
    options = TaskOptions(base=base, train=train, test=test)
    experiment = task_experiment(task, [pair], options, profile=profile, out=out)
    require_ready(out, backend, log=log)
    protocol, store = experiment.protocol, experiment.store
    run = one_run(protocol, protocol.cells[0], protocol.profile.models[0], seed)
    for warning in saturations([run]):
        tell(warning)
    progress = Progress("training", 0 if store.finished(run) else run.training.epochs, "epochs")
    train_runs([run], store, backend=backend, progress=lambda done, total: progress.step(f"epoch {done}"))
    if log:
        write_curves([run], store, out / "tensorboard")
    threshold = run.evaluation.threshold
    result = outcome((run, store.metrics(run)), threshold=threshold)
    accuracy = {str(scale): value for scale, value in store.final_exact_match(run).items()}
    last = [*accuracy][-1]
    answer = {
        "run": run.id,
        "folder": str(store.folder(run)),
        "accuracy": accuracy,
        "fits": result.fits,
        "generalizes": result.generalizes,
        "threshold": threshold,
    }
    says = f"{run.id} {OUTCOMES[result.generalizes]}; exact match at scale {last}: {accuracy[last]:.3f}"
    return Answer(answer, says)


def conjecture(
    name: str,
    encodings: str | None = None,
    *,
    format: str | None = None,
    base: int | None = None,
    train: Iterable[int] | None = None,
    test: Iterable[int] | None = None,
    seeds: int | None = None,
    profile: str = "quick",
    out: str | Path = "out",
    budget: float | None = None,
    max_seeds: int = MOST,
    device: str = "cpu",
    compile: bool = False,
    engine: str = "local",
) -> Answer:
    """Store predictions, train every cell over several seeds, and judge each prediction.

        conjecture("my_task.py:running_or", "rpe,alibi", seeds=5)["cells"]

    Args:
        name: a protocol (fig1, path/to/file.toml), which sets its own cells and scales; or a task, as in `train`.
        encodings: for a task: encodings, comma-separated; the usual four if None.
        format: for a task: formats, comma-separated; aligned if None.
        base: for a task: number of its digits.
        train: for a task: scales of training; 1 to 5 if None.
        test: for a task: scales of the test; 1 to 20 if None.
        seeds: for a task: runs of each cell; as many as the profile says if None.
        profile: size of the models and of the training: smoke, quick or paper.
        out: folder of all stored results.
        budget: time in all, in seconds, in which undecided cells get more runs; no more runs if None.
        max_seeds: largest number of runs of a cell that gets more.
        device: cpu or cuda.
        compile: compile the training step.
        engine: local (processes of this machine), or ray.

    Returns:
        The content of OUT/NAME/conjecture.json: cells, each with its prediction, runs and verdict, and what follows
        from all of them.
    """
    if engine not in ENGINES:
        raise ProfileError(f"unknown engine '{engine:.60}': choose one of {', '.join(ENGINES)}")
    options = TaskOptions(encodings=encodings, formats=format, base=base, train=train, test=test, seeds=seeds)
    until = None if budget is None else UntilDecided(seconds=budget, most=max_seeds)
    backend, out = Backend(device, compile), Path(out)
    experiment = chosen(name, options, profile=profile, out=out)
    require_ready(out, backend, engine=engine)
    trial = run_conjecture(experiment, backend, engine, until_decided=until)
    verdicts = Counter(cell["verdict"] for cell in trial["cells"])
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    return Answer(trial, f"{len(trial['cells'])} cells: {counts}; stored in {experiment.folder}")


def write_curves(runs: list[Run], store: RunStore, folder: Path) -> None:
    """Write every finished run's checkpoints as event files under `folder`, in place of those written before."""
    from torch.utils.tensorboard import SummaryWriter

    for run in runs:
        shutil.rmtree(folder / run.id, ignore_errors=True)  # TensorBoard would show the points of both
        losses: dict[int, float] = {}
        with SummaryWriter(str(folder / run.id)) as writer:
            for row in store.metrics(run):
                writer.add_scalar(f"exact match/scale {row.scale:03}", row.exact_match, row.epoch)
                losses[row.epoch] = row.training_loss
            for epoch, loss in losses.items():
                writer.add_scalar("training loss", loss, epoch)
