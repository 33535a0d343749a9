"""Is padding an attention sink, which models miss where long operands leave none? Lines of three tables.

PYTHONPATH=. python docs/results/verdict/sink.py EXPERIMENT, at the root of the project: trains runs of random tasks
under ideal encodings on padded operands, writes sink-EXPERIMENT.parquet, and prints the lines. Ended after any piece,
it goes on from there. Experiments:

changed     the runs of the record again (a few seconds a run), tested on samples that are changed as CHANGES says.
wider       a run of each cell with operands padded to WIDE places, a test at all scales to WIDE, and another seed.
off-by-one  as changed, but trained and tested with a sink that never ends, a key without a value that all queries see.

Ideal labels say which keys a step needs and nothing else about a place. So keys that no step needs can be added and
left out, and neither the right answers nor the labels of other keys change.
"""

import copy
import runpy
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.formats import PAD
from lengthgen.circuits.roles import IRRELEVANT
from lengthgen.empirical.encodings.relations import Relational
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.samples import TEST, Examples
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.verdict.frozen import FrozenCell, load_frozen
from lengthgen.empirical.verdict.preregistration import load_preregistration
from lengthgen.empirical.verdict.runs import CellRun, SeenCell, load_runs, pieces, run_from, run_of, train_piece
from lengthgen.empirical.verdict.tables import read_rows, write_rows
from lengthgen.empirical.verdict.training import train_models

Piece = list[tuple[FrozenCell, int]]
"""Runs that are trained together: cells and indices."""
RECORD = Path(__file__).parent
NAME = "random-tasks"
HALF = "judgement"
"""Half of the tasks; the changes and the predictions were thought of on the other one."""
REGISTERED = load_preregistration(NAME)
SHORT, LONG = REGISTERED.train[1], REGISTERED.test[1]
"""Largest scales of training and of the test."""
WIDE = 40
"""Places to which operands are padded in the second experiment, and its largest scale."""
WIDER = replace(REGISTERED, test=(1, WIDE))
SAMPLES = 500
ADDED = 16
"""Number of keys that are added; a sample of scale SHORT has 16 or 17 PADs that no step needs."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """How samples are changed.

    Attributes:
        scale: scale of the samples.
        pads: True if the PADs that no step needs stay, False if they are left out.
        added: number of keys that are added.
        symbols: True if they are random symbols, False if they are PADs.
    """

    scale: int
    pads: bool = True
    added: int = 0
    symbols: bool = False


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
PREDICTED_OFF_BY_ONE = ("long", "short, PADs left out")
"""Changes; predicted is that of most tasks on which they differ more runs solve them with a sink that never ends."""


def cells() -> list[SeenCell]:
    """Return the padded cells under ideal encodings to which "distractors" says yes."""
    languages = runpy.run_path(str(RECORD / "languages.py"))
    return [
        cell
        for cell in languages["with_majority"](NAME)
        if cell.cell.half == HALF
        and cell.cell.encoding in languages["IDEAL"]
        and cell.cell.format == "aligned"
        and cell.cell.says("distractors")
    ]


def changed(geometry: Geometry, data: Examples, change: Change, circuit: Circuit) -> tuple[Geometry, Examples]:
    """Return labels and samples with keys added after the last PAD that no step needs, and with such PADs left out.

    If steps need all PADs, the keys come after the last one.

    Args:
        geometry: labels of the run.
        data: samples of the change's scale.
        change: what is changed.
        circuit: which keys the steps need.
    """
    is_pad = (data.tokens == circuit.task.alphabet.index(PAD)).all(axis=0)
    is_needed = np.zeros_like(is_pad)
    is_needed[[position - 1 for wiring in circuit.wirings[change.scale] for position in wiring.arguments]] = True
    unneeded_pads = is_pad & ~is_needed
    last = int(np.flatnonzero(unneeded_pads if unneeded_pads.any() else is_pad)[-1])
    kept = np.flatnonzero(~unneeded_pads | change.pads)
    before = np.count_nonzero(kept <= last)
    places = np.insert(kept, before, [last] * change.added)
    added = np.zeros_like(places, dtype=np.bool_)
    added[before : before + change.added] = True
    labels, after = rearranged(geometry, data, places, added)
    if change.symbols:
        symbols = np.unique(data.tokens[:, 0])
        after.tokens[:, added] = np.random.default_rng(0).choice(symbols, size=(len(data.tokens), change.added))
    return labels, after


def rearranged(
    geometry: Geometry, data: Examples, places: NDArray[np.int64], added: NDArray[np.bool_]
) -> tuple[Geometry, Examples]:
    """Return labels and samples with copies of keys at some places, in this order.

    Args:
        geometry: labels of the run.
        data: samples.
        places: places of the keys that are copied, from 0.
        added: True for a copy that no step needs, whatever its original is for.
    """
    labels = copy.copy(geometry)
    assert geometry.labels_MSJI is not None
    labels.labels_MSJI = geometry.labels_MSJI[:, :, places[:-1]][..., places[:-1]]  # the last token is not read
    labels.labels_MSJI[..., torch.from_numpy(added[:-1])] = IRRELEVANT
    return labels, replace(data, tokens=data.tokens[:, places], is_step=data.is_step[:, places])


def tested(decoder: Decoder, geometry: Geometry, setup: Setup) -> dict[str, float]:
    """Return change -> share of samples that a trained model generates without an error."""
    shares = {}
    for name, change in CHANGES.items():
        data = setup.examples([change.scale], SAMPLES, split=TEST, seed=0)
        (right,) = teacher_forced(decoder, *changed(geometry, data, change, setup.analysis.circuit))
        shares[name] = float(right.all(axis=1).mean())
    return shares


def train(experiment: str) -> None:
    """Train the runs of an experiment that are not stored yet, and store them after each piece."""
    path, trained_rows = stored_in(experiment), EXPERIMENTS[experiment]
    rows = read_rows(path) if path.exists() else []
    done = {(row["cell"], row["index"]) for row in rows}
    wanted = [(cell, run.index) for cell, run in recorded() if experiment != "wider" or run.index == 0]
    for piece in pieces([(cell, index) for cell, index in wanted if (cell.name, index) not in done]):
        rows += trained_rows(piece)
        write_rows(path, rows)
        print(f"{len(rows)} of {len(wanted)} runs", flush=True)


@cache
def recorded() -> tuple[tuple[FrozenCell, CellRun], ...]:
    """Return the recorded runs of the cells that fit."""
    by_cell = load_runs(load_frozen(REGISTERED, RECORD / NAME), RECORD / NAME)
    return tuple((cell.cell, run) for cell in cells() for run in by_cell[cell.cell.name] if run.fits(REGISTERED))


def trained_and_changed(piece: Piece) -> list[dict[str, Any]]:
    """Train runs again, and return a row for each, with the shares of `tested`."""
    runs = [run_of(REGISTERED, cell, index) for cell, index in piece]
    trained = train_models(runs, [Setup.of(run, "cpu") for run in runs], REGISTERED.check)
    return [
        {"cell": cell.name, "task": cell.task, "index": index}
        | tested(*trained.held(np.array([model])), trained.setups[model])
        for model, (cell, index) in enumerate(piece)
    ]


def off_by_one(_: Relational, logits_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Attention weights exp(l_i) / (1 + sum over j of exp(l_j)), as if a further key had logit 0 and value 0."""
    sink_BHJ1 = logits_BHJI.new_zeros(*logits_BHJI.shape[:-1], 1)
    return torch.cat([logits_BHJI, sink_BHJ1], dim=-1).softmax(-1)[..., :-1]


def trained_off_by_one(piece: Piece) -> list[dict[str, Any]]:
    """Return the rows of `trained_and_changed` for models with the weights of `off_by_one`."""
    with patch.object(Relational, "normalise", off_by_one):
        return trained_and_changed(piece)


def trained_wider(piece: Piece) -> list[dict[str, Any]]:
    """Return the rows of runs under WIDER, from which their seeds derive."""
    return train_piece(WIDER, [(replace(cell, registered=WIDER.digest), index) for cell, index in piece])


EXPERIMENTS: Mapping[str, Callable[[Piece], list[dict[str, Any]]]] = {
    "changed": trained_and_changed,
    "wider": trained_wider,
    "off-by-one": trained_off_by_one,
}


def stored_in(experiment: str) -> Path:
    """Return the file of an experiment."""
    return RECORD / f"sink-{experiment}.parquet"


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


def changed_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of `change_lines`, and one for each prediction: both changes, and what `compared` gives."""
    return change_lines(rows) + [
        f"| {first} | {second} | {compared((row['task'], solves(row, first), solves(row, second)) for row in rows)} |"
        for first, second in PREDICTED
    ]


def off_by_one_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of `change_lines`, and one for each prediction: the change, and what `compared` gives."""
    twins = {(row["cell"], row["index"]): row for row in read_rows(stored_in("changed"))}
    both = [(row, twins[row["cell"], row["index"]]) for row in rows]
    return change_lines(rows) + [
        f"| {name} | {compared((row['task'], solves(row, name), solves(twin, name)) for row, twin in both)} |"
        for name in PREDICTED_OFF_BY_ONE
    ]


def compared(pairs: Iterable[tuple[str, bool, bool]]) -> str:
    """Count runs, (task, solved in the first way, in the second): alone in one way, tasks on each side, e-value."""
    alone: Counter[bool] = Counter()
    by_task: dict[str, int] = defaultdict(int)
    for task, first, second in pairs:
        by_task[task] += first - second
        if first != second:
            alone[first] += 1
    for_it, against = (sum(sign * more > 0 for more in by_task.values()) for sign in (1, -1))
    evidence = Estimand.MAJORITY.evidence(for_it, for_it + against)
    return f"{alone[True]} | {alone[False]} | {for_it} | {against} | {evidence.above:.3g}"


def wider_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each number of places: runs, how many fail first at which scales, and how many nowhere.

    The last line is what `compared` gives for wide operands against the others, at scales 1-20.
    """
    wide = {run.cell: run.first_failure(WIDER) for run in map(run_from, rows)}
    narrow = {cell.name: (cell.task, run.first_failure(REGISTERED)) for cell, run in recorded() if run.index == 0}
    both = [(task, wide[name], before) for name, (task, before) in narrow.items()]
    lines = []
    for places, failures in ((LONG, [before for _, _, before in both]), (WIDE, [after for _, after, _ in both])):
        counts = [
            str(sum(failure in scales for failure in failures)) if scales[-1] <= places else ""
            for scales in (range(1, 6), range(6, 16), range(16, 21), range(21, 36), range(36, 41))
        ]
        solved = sum(failure > places for failure in failures)
        lines.append(f"| {places} | {len(failures)} | {' | '.join(counts)} | {solved} |")
    return [*lines, f"| {compared((task, after > LONG, before > LONG) for task, after, before in both)} |"]


LINES: Mapping[str, Callable[[list[dict[str, Any]]], list[str]]] = {
    "changed": changed_lines,
    "wider": wider_lines,
    "off-by-one": off_by_one_lines,
}


if __name__ == "__main__":
    train(sys.argv[1])
    stored = read_rows(stored_in(sys.argv[1]))
    print("\n".join(LINES[sys.argv[1]](stored)))
