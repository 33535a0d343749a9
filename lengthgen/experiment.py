"""One experiment: cells of task, format and encoding, predicted, trained and judged, under one folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from circuits.prediction import ENCODINGS, Prediction, analyse, predict
from circuits.task import TaskError
from circuits.tasks import load
from empirical.conjecture import as_json, judge, outcome
from empirical.files import write_json
from empirical.profile import Profile
from empirical.run import Run, plan
from empirical.store import RunStore
from empirical.sweep import train_all
from lengthgen.cache import cached, source_digest
from lengthgen.progress import Progress

CellKey = tuple[str, str, str]
"""(task, format, encoding)."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The cells, scales and seeds of one experiment, and where it keeps everything."""

    profile: Profile
    out: Path
    tasks: Sequence[str]
    formats: Sequence[str]
    encodings: Sequence[str]
    train: Sequence[int]
    test: Sequence[int]
    seeds: Sequence[int]

    def __post_init__(self) -> None:
        strangers = [name for name in self.encodings if name not in ENCODINGS]
        if strangers:
            raise TaskError(f"unknown encoding '{strangers[0]}': choose among {', '.join(ENCODINGS)}")
        if self.train[-1] >= self.test[-1]:
            raise TaskError(f"the largest test scale ({self.test[-1]}) must exceed the training scales {self.train}")
        if not set(self.train) <= set(self.test):
            raise TaskError("the test scales must include the training scales: fitting is judged on them")

    @property
    def store(self) -> RunStore:
        """The runs."""
        return RunStore(self.out / "runs")

    def runs(self) -> dict[CellKey, list[Run]]:
        """Every run of every cell."""
        return {
            (task, one, encoding): [
                plan(
                    task,
                    format=one,
                    encoding=encoding,
                    train=self.train,
                    test=self.test,
                    seed=seed,
                    profile=self.profile,
                )
                for seed in self.seeds
            ]
            for task in self.tasks
            for one in self.formats
            for encoding in self.encodings
        }


def from_profile(profile: Profile, out: Path) -> Experiment:
    """The experiment that a profile describes."""
    cells = profile.conjecture
    return Experiment(
        profile=profile,
        out=out,
        tasks=cells.tasks,
        formats=cells.formats,
        encodings=cells.encodings,
        train=range(cells.train[0], cells.train[1] + 1),
        test=range(cells.test[0], cells.test[1] + 1),
        seeds=range(cells.seeds),
    )


def stored_predictions(experiment: Experiment) -> dict[CellKey, Prediction]:
    """The predictions of all cells, computed and stored in predictions.json where they are not yet.

    Made before any training: every run that is trained after names the hash of its cell's prediction.
    """
    cells = [(task, one) for task in experiment.tasks for one in experiment.formats]
    train, test = list(experiment.train), list(experiment.test)

    def compute() -> list[dict[str, Any]]:
        progress = Progress("predictions", len(cells))
        found = []
        for task, one in cells:
            analysis = analyse(load(task), one, test[-1])
            for encoding in experiment.encodings:
                prediction = predict(analysis, encoding, train=train, test=test)
                found.append({"task": task, "format": one, "encoding": encoding, "prediction": prediction.as_json()})
            progress.step(f"{task}, {one}")
        return found

    digests = [run.digest for runs in experiment.runs().values() for run in runs]
    key = [source_digest("theory", "circuits"), cells, list(experiment.encodings), train, test, digests]
    answer = cached(experiment.out / "predictions.json", key, compute)
    return {(one["task"], one["format"], one["encoding"]): Prediction.from_json(one["prediction"]) for one in answer}


def run_conjecture(experiment: Experiment, device: str) -> dict[str, Any]:
    """Predicts, trains what is not trained yet, judges, and stores conjecture.json; returns its content."""
    predictions = stored_predictions(experiment)
    cells = experiment.runs()
    waiting = [run for runs in cells.values() for run in runs if not experiment.store.finished(run)]
    progress = Progress("training", len(waiting))
    train_all(
        waiting,
        experiment.store,
        device=device,
        provenance={
            run.id: {"prediction_sha256": predictions[cell].digest} for cell, runs in cells.items() for run in runs
        },
        on_done=lambda run: progress.step(run.id),
    )
    judged = judge(
        predictions,
        {
            cell: [
                (
                    run,
                    experiment.store.metrics(run),
                    experiment.store.environment(run).get("prediction_sha256") == predictions[cell].digest,
                )
                for run in runs
            ]
            for cell, runs in cells.items()
        },
    )
    trial = as_json(judged)
    write_json(experiment.out / "conjecture.json", trial)
    return trial


def train_one(experiment: Experiment, device: str) -> dict[str, Any]:
    """Trains the one run of an experiment of one cell and seed, in this process."""
    from empirical.training import train

    [[run]] = experiment.runs().values()
    progress = Progress("training", 0 if experiment.store.finished(run) else run.training.epochs)
    train(run, experiment.store, device=device, progress=lambda done, total: progress.step(f"epoch {done}"))
    rows = experiment.store.metrics(run)
    result = outcome(run, rows)
    return {
        "run": run.id,
        "folder": str(experiment.store.folder(run)),
        "accuracy": {str(scale): value for scale, value in result.exact_match.items()},
        "fits": result.fits,
        "generalizes": result.generalizes,
        "threshold": run.evaluation.threshold,
    }
