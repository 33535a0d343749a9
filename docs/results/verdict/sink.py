"""Is padding an attention sink, which models miss where long operands leave none? Lines of two tables.

PYTHONPATH=. python docs/results/verdict/sink.py, at the root of the project: trains runs of random tasks under ideal
encodings on padded operands again (a few seconds a run), tests each on samples that are changed as CHANGES says, writes
sink.parquet, and prints the lines. Ended after any piece, it goes on from there.

Ideal labels say which keys a step needs and nothing else about a place. So keys that no step needs can be added and
left out, and neither the right answers nor the labels of other keys change.
"""

import copy
import runpy
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from circuits.formats import PAD
from empirical.model.geometry import Geometry
from empirical.model.setup import Setup
from empirical.runs.data import Examples
from empirical.statistics.e_values import Estimand
from empirical.training.evaluation import teacher_forced
from empirical.verdict.frozen import load_frozen
from empirical.verdict.preregistration import load_preregistration
from empirical.verdict.runs import load_runs, pieces, run_of
from empirical.verdict.seen import SeenCell
from empirical.verdict.tables import read_rows, write_rows
from empirical.verdict.training import TrainedModels, train_models

RECORD = Path(__file__).parent
STORED = RECORD / "sink.parquet"
NAME = "random-tasks"
HALF = "judgement"
"""Half of the tasks; the changes and the predictions were thought of on the other one."""
REGISTERED = load_preregistration(NAME)
SHORT, LONG = REGISTERED.train[1], REGISTERED.test[1]
"""Largest scales of training and of the test."""
SAMPLES = 500
ADDED = 16
"""Number of keys that are added; a sample of scale SHORT has 16 or 17 PADs that no step needs."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """How the samples of a scale are changed: PADs that no step needs stay or are left out, and keys are added."""

    scale: int
    pads: bool = True
    added: int = 0
    symbols: bool = False
    """True if random symbols are added, False if PADs are."""


CHANGES: Mapping[str, Change] = {
    "long": Change(scale=LONG),
    "long, PADs added": Change(scale=LONG, added=ADDED),
    "long, symbols added": Change(scale=LONG, added=ADDED, symbols=True),
    "short": Change(scale=SHORT),
    "short, symbols added": Change(scale=SHORT, added=ADDED, symbols=True),
    "short, symbols in place of PADs": Change(scale=SHORT, pads=False, added=ADDED, symbols=True),
    "short, PADs left out": Change(scale=SHORT, pads=False),
}
PREDICTED = (
    ("long, PADs added", "long"),
    ("long, PADs added", "long, symbols added"),
    ("short, symbols added", "short, symbols in place of PADs"),
)
"""Pairs of changes; predicted is that of most tasks on which they differ more runs solve the first."""


def cells() -> list[SeenCell]:
    """Return the padded cells under ideal encodings to which "distractors" says yes."""
    languages = runpy.run_path(str(RECORD / "languages.py"))
    return [
        cell
        for cell in languages["with_majority"](NAME)
        if cell.cell.half == HALF
        and cell.cell.encoding in languages["IDEAL"]
        and cell.cell.format == "aligned"
        and cell.says("distractors")
    ]


def changed(geometry: Geometry, data: Examples, change: Change, pads: list[int]) -> tuple[Geometry, Examples]:
    """Return labels and samples with keys added after the last unneeded PAD, and with unneeded PADs left out.

    Args:
        geometry: labels of the run.
        data: samples of the change's scale.
        change: what is changed.
        pads: places of the PADs that no step needs, from 0.
    """
    copies = np.ones(data.tokens.shape[1], dtype=np.int64)
    copies[pads] = change.pads
    copies[pads[-1]] += change.added
    places = np.repeat(np.arange(len(copies)), copies)
    tokens = data.tokens[:, places]
    if change.symbols:
        added = np.flatnonzero(places == pads[-1])[-change.added :]
        symbols = np.unique(data.tokens[:, 0])
        tokens[:, added] = np.random.default_rng(0).choice(symbols, size=(len(tokens), len(added)))
    labels = copy.copy(geometry)
    assert geometry.labels_MSJI is not None
    labels.labels_MSJI = geometry.labels_MSJI[:, :, places[:-1]][..., places[:-1]]  # the last token is not read
    return labels, replace(data, tokens=tokens, is_step=data.is_step[:, places])


def tested(trained: TrainedModels, model: int) -> dict[str, float]:
    """Return change -> share of samples that a trained model generates without an error."""
    models, circuit = np.array([model]), trained.setups[model].analysis.circuit
    pad = circuit.task.alphabet.index(PAD)
    shares = {}
    for name, change in CHANGES.items():
        (data,) = trained.examples(models, change.scale, SAMPLES)
        needed = {position - 1 for wiring in circuit.wirings[change.scale] for position in wiring.arguments}
        pads = [at for at in np.flatnonzero((data.tokens == pad).all(axis=0)).tolist() if at not in needed]
        decoder, geometry = trained.held(models)
        right = teacher_forced(decoder, *changed(geometry, data, change, pads))
        shares[name] = float(right[0].all(axis=1).mean())
    return shares


def train() -> None:
    """Train the fitting runs that are not stored yet, test them, and store them after each piece."""
    by_name = {cell.cell.name: cell.cell for cell in cells()}
    rows = read_rows(STORED) if STORED.exists() else []
    done = {(row["cell"], row["index"]) for row in rows}
    recorded = load_runs(load_frozen(REGISTERED, RECORD / NAME), RECORD / NAME)
    wanted = [
        (cell, run.index)
        for name, cell in by_name.items()
        for run in recorded[name]
        if run.fits(REGISTERED) and (name, run.index) not in done
    ]
    for piece in pieces(wanted):
        runs = [run_of(REGISTERED, cell, index) for cell, index in piece]
        trained = train_models(runs, [Setup.of(run, "cpu") for run in runs], REGISTERED.check)
        rows += [
            {"cell": cell.name, "task": cell.task, "index": index} | tested(trained, model)
            for model, (cell, index) in enumerate(piece)
        ]
        write_rows(STORED, rows)
        print(f"{len(rows)} of {len(done) + len(wanted)} runs", flush=True)


def solves(row: Mapping[str, Any], change: str) -> bool:
    """True if a run solves the samples that are changed so."""
    return bool(row[change] >= REGISTERED.testing.threshold)


def change_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each change: runs that solve it, and the mean share of right samples."""
    counts = {name: sum(solves(row, name) for row in rows) for name in CHANGES}
    return [
        f"| {name} | {count} of {len(rows)} | {np.mean([row[name] for row in rows]):.2f} |"
        for name, count in counts.items()
    ]


def predicted_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each prediction: runs that solve one change alone, tasks on each side, and the e-value."""
    lines = []
    for first, second in PREDICTED:
        runs = Counter((solves(row, first), solves(row, second)) for row in rows)
        by_task: dict[str, int] = defaultdict(int)
        for row in rows:
            by_task[row["task"]] += solves(row, first) - solves(row, second)
        for_it, against = (sum(sign * more > 0 for more in by_task.values()) for sign in (1, -1))
        evidence = Estimand.MAJORITY.evidence(for_it, for_it + against)
        lines.append(
            f"| {first} | {second} | {runs[True, False]} | {runs[False, True]} | {for_it} | {against} "
            f"| {evidence.above:.3g} |"
        )
    return lines


if __name__ == "__main__":
    train()
    print("\n".join([*change_lines(read_rows(STORED)), *predicted_lines(read_rows(STORED))]))
