"""Training of an experiment whose predictions are frozen, and its trial; undecided cells get more runs, in rounds."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from lengthgen.announcement import announce_replacement, announce_runs, offer
from lengthgen.circuits.modes import Mode
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.curves import write_curves
from lengthgen.empirical.experiment.cluster import ray
from lengthgen.empirical.experiment.protocol import Cell, Model
from lengthgen.empirical.experiment.run import Run, one_run, saturations
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import Engine, local, staying, train_all
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.trial.conjecture import FEWEST, CellEvidence, CellKey, Criteria, JudgedCell, judge
from lengthgen.empirical.trial.frozen import Frozen
from lengthgen.empirical.trial.outcomes import History, outcome
from lengthgen.empirical.trial.trial import as_json
from lengthgen.experiment import Experiment
from lengthgen.freezing import Predictions, frozen_predictions
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.infrastructure.messages import tell
from lengthgen.progress import Progress
from lengthgen.watching import watching

ENGINES: dict[str, Engine] = {"local": local, "ray": ray}
"""Engines that train the runs of a sweep."""
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
        predicted = sum(p is not None and p.forecast is not None for p in _free_mode(predictions))
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
    criteria = Criteria(threshold=profile.evaluation.threshold, size=str(profile.models[0]), rule="forecast")
    announce_replacement(experiment.folder / "conjecture.json", frozen.digest)
    if _announce(experiment, predictions, cells, backend, engine) and until_decided is None:
        offer(MOST, ROUND)
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
            evidence_of = dict(zip(cells, evidence, strict=True))
            judged = _judged(evidence_of, criteria)
            more = _more_runs(evidence_of, judged, until_decided, frozen)
            new = sum(map(len, more.values())) - sum(len(cells[key]) for key in more)
            if not more or now - begun + pace * new > until_decided.seconds:
                if more:
                    tell(f"the budget ends with {_open_in_words(judged, more)}: run the same command again to add runs")
                break
            tell(f"{new} more runs for {_open_in_words(judged, more)}")
            cells |= more
    trial = as_json(evidence, criteria, frozen.digest)
    write_sealed_json(experiment.folder / "conjecture.json", trial)
    return trial


def _engine_of_rounds(name: str, backend: Backend, root: Path) -> AbstractContextManager[Engine]:
    """Return a context manager for the engine of this name; processes of this machine stay for all rounds."""
    engine = ENGINES[name]
    return staying(backend, root) if engine is local else nullcontext(engine)


def _judged(
    evidence: Mapping[tuple[Cell, Model], CellEvidence], criteria: Criteria
) -> dict[tuple[Cell, Model], JudgedCell]:
    """Return the judged cells of the model size that is judged."""
    chosen = [key for key in evidence if evidence[key].key.size == criteria.size]
    return dict(zip(chosen, judge([evidence[key] for key in chosen], criteria), strict=True))


def _open_in_words(judged: Mapping[tuple[Cell, Model], JudgedCell], more: Collection[tuple[Cell, Model]]) -> str:
    """Return how many cells get more runs, and how many cells the table has under each verdict that decides nothing."""
    counts = []
    for verdict, word in (("undecided (power)", "undecided"), ("mixed", "mixed"), ("not learnt", "not learnt")):
        keys = [key for key, cell in judged.items() if cell.verdict == verdict]
        given_up = len(set(keys) - set(more))
        if keys:
            counts.append(f"{len(keys)} {word}{f', of which {given_up} given up' if given_up else ''}")
    return f"{len(more)} open {'cell' if len(more) == 1 else 'cells'} ({'; '.join(counts)})"


def _more_runs(
    evidence: Mapping[tuple[Cell, Model], CellEvidence],
    judged: Mapping[tuple[Cell, Model], JudgedCell],
    until: UntilDecided,
    frozen: Frozen,
) -> dict[tuple[Cell, Model], list[Run]]:
    """Return all runs, with those of one more round, of each cell that is predicted, undecided and not given up."""
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


def train_one(experiment: Experiment, seed: int, backend: Backend, *, log: bool = False) -> dict[str, Any]:
    """Train one run of an experiment with one cell and one model, in this process."""
    from lengthgen.empirical.experiment.train import train

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
