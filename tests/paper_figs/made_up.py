"""Folder of runs with made-up numbers, judged like real runs, for tests of the figures that read runs."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from lengthgen.circuits.prediction_record import RULES, Prediction
from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.run import Run, plan
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial.conjecture import CellEvidence, CellKey, Criteria
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.paper_figs.sources import Sources

PROTOCOL = """
title = "Made up"
source = "none"
train = [1, 2]
test = [1, 6]

[[cells]]
tasks = ["copy", "parity"]
formats = ["aligned"]
encodings = ["ipe", "rpe", "ape"]

[smoke]
seeds = 5
training.evaluate_every = 2
"""
EPOCHS = (2, 4)
Score = Callable[[Run, int, int], float]
"""Function (run, epoch, scale) -> exact match."""


def score(run: Run, epoch: int, scale: int) -> float:
    """Return a made-up exact match by run, checkpoint and scale; IPE solves all, others fail beyond training.

    For every other seed the earlier checkpoint is the better one.
    """
    if run.encoding == "ipe" or scale <= 2:
        return 1.0
    better = epoch == EPOCHS[run.seed % 2]
    return round((sum(run.task.name.encode()) % 7 + run.seed + 10 * better) / (20 * scale), 6)


def seen(run: Run, epoch: int, scale: int) -> float:
    """Share of steps that training showed: it rises from checkpoint to checkpoint, and is least at scale 1."""
    share = {1: 0.25, 2: 1.0}.get(scale, 1 - (scale + run.seed) / 40)
    return round(share * epoch / EPOCHS[-1], 6)


def rows_of(run: Run, scores: Score = score) -> list[Measurement]:
    of_no_matter = {field.name: 1.0 for field in fields(Measurement)}
    return [
        Measurement(
            **of_no_matter
            | {
                "epoch": epoch,
                "scale": scale,
                "exact_match": scores(run, epoch, scale),
                "seen_steps": seen(run, epoch, scale),
            }
        )
        for epoch in EPOCHS
        for scale in run.test
    ]


def protocol_file(folder: Path, text: str = PROTOCOL) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "made-up.toml"
    path.write_text(text)
    return path


def fill(store: RunStore, run: Run, scores: Score = score) -> None:
    store.finish(run, metrics=rows_of(run, scores), checkpoint=b"none", environment={})


def prediction(encoding: str) -> Prediction | None:
    """Made-up prediction: IPE and RPE are expected to generalize, APE to break at 3."""
    breaks_at = 3 if encoding == "ape" else None
    return Prediction(
        encoding=encoding, relation=encoding, scale_hint=False, complexity_train=1.0,
        complexity_test=2.0 if breaks_at else 1.0, labels_covered=not breaks_at, entries_covered=True,
        unseen_distractors=0, breaks_at=breaks_at, why="made up",
    )  # fmt: skip


def sources(folder: Path, text: str = PROTOCOL, *, scores: Score = score, width: float = 7.0) -> tuple[Sources, str]:
    """Make a folder with all runs of the protocol and its trial; return its sources and the name of the protocol."""
    path = protocol_file(folder, text)
    made = Sources(out=folder / "out", profile="smoke", width=width)
    protocol = load_protocol(str(path), "smoke")
    evidence = []
    for (cell, model), runs in plan(protocol).items():
        for run in runs:
            fill(made.store, run, scores)
        evidence.append(
            CellEvidence(
                key=CellKey(task=cell.task.key, format=cell.task.format, encoding=cell.encoding, size=str(model)),
                predictions={"free": prediction(cell.encoding)},
                runs=[(run, rows_of(run, scores)) for run in runs],
                predicted_before_training=True,
                frozen_rules=frozenset(("free", rule) for rule in RULES),
            )
        )
    evaluation = protocol.profile.evaluation
    trial = as_json(evidence, Criteria(threshold=evaluation.threshold, size=str(protocol.profile.models[0])))
    write_sealed_json(made.out / "made-up" / "conjecture.json", trial)
    return made, str(path)
