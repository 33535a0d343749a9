"""Do runs of filled addition fail because steps of long samples see fewer keys than any in training? Lines of tables.

At the root of the project, PYTHONPATH=. python docs/results/filled-addition/keys.py, followed by

    train OUT    train the runs of base-four.toml thrice more, in OUT/staggered, OUT/shifted and OUT/varied
    ask OUT      test the finished runs, those of filled and staggered samples also changed, and write keys.parquet
    nothing      print the lines

In the filled format all samples are equally long, so that training shows steps at the last places alone, where the most
keys are before them. Steps of long samples come earlier. Three things change this, one in long samples for a trained
model (`late`), two in the samples of training (`staggered`, `shifted`). Another (`varied`) changes what filler is too.
None changes the right answers, or the labels of the keys that were there before. The settings `prompts_as_filler` and
`leave_out` of training came after these runs, and draw other filler.
"""

import copy
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from lengthgen.circuits.formats import FilledTask, filled
from lengthgen.circuits.roles import IRRELEVANT
from lengthgen.circuits.task import Task
from lengthgen.empirical.experiment.ensemble import Setup
from lengthgen.empirical.experiment.evaluation import load_trained, teacher_forced
from lengthgen.empirical.experiment.judge import Estimand
from lengthgen.empirical.experiment.outcome import outcome
from lengthgen.empirical.experiment.protocol import Training, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST, TRAIN, Examples
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import Group, group_job, groups
from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.empirical.verdict.tables import read_rows, write_rows
from lengthgen.infrastructure.processes import pool

RECORD = Path(__file__).parent
STORED = RECORD / "keys.parquet"
PROTOCOL = load_protocol(str(RECORD / "base-four.toml"), "quick")
SHORT, LONG = PROTOCOL.train[-1], PROTOCOL.test[-1]
"""Largest scales of training and of the test."""
SAMPLES = 500
DIGITS = "0123"
BEFORE = {1: 0, 2: 3, 3: 6, 4: 10}
"""Scale -> number of fillers before a staggered sample; the filled format has LONG less the scale.

A sample of scale n has n + 2 steps, so that between them staggered samples of scales 1-5 show a step at every place
where LONG has one.
"""
CHANGES = ("long", "long, late", "long, late by digits", "short", "short, early")
"""Samples that models of filled and of staggered samples are asked."""
ENCODINGS = ("ipe", "rpe")
CPUS = os.cpu_count() or 1
EXAMPLES, LEFT_OUT = Setup.examples, "lengthgen.empirical.experiment.ensemble.left_out"
PROMPTS = 500
"""Prompts of each scale in the text that varied filler is cut out of."""
KINDS: Mapping[str, str] = {"filled": "runs", "staggered": "staggered", "shifted": "shifted", "varied": "varied"}
"""Samples of training -> folder of the runs."""
ASKED = ("filled", "staggered")


def staggered(task: Task, largest_scale: int) -> FilledTask:
    """Return a task in the filled format, with less filler before the prompt at the smallest scales, as BEFORE says.

    Labels are those of the filled format: a step comes where one of a longer sample does there, with its arguments as
    far before it.
    """
    laid_out = filled(task, largest_scale)

    def left_out(scale: int) -> int:
        return largest_scale - scale - BEFORE[scale] if scale in BEFORE else 0

    unchanged = {field.name: getattr(laid_out, field.name) for field in fields(laid_out)}
    changed = {
        "name": f"{laid_out.name}-staggered",
        "prompt": lambda scale: laid_out.prompt(scale)[left_out(scale) :],
        "place": lambda scale, position: laid_out.place(scale, position) - left_out(scale),
        "is_filler": lambda scale: laid_out.is_filler(scale)[left_out(scale) :],
        "reference": None,  # it names the places of the filled format
    }
    return FilledTask(**(unchanged | changed))


def shifted(_: Training, step: int) -> int:
    """Return how many first fillers a training step leaves out, 0 to LONG - SHORT, drawn by its number.

    So each step of each scale comes at many places. It stands for `lengthgen.empirical.experiment.samples.left_out`.
    """
    return int(np.random.default_rng(step).integers(LONG - SHORT + 1))


def varied(self: Setup, scales: Sequence[int], count: int, *, split: int, seed: int) -> Examples:
    """Return samples whose filler is, in half of those for training, cut out of prompts of all scales put in a row.

    So operands longer than those of training, and what comes before and after them, are filler; steps are not. It
    stands for `Setup.examples`.
    """
    data = EXAMPLES(self, scales, count, split=split, seed=seed)
    if split != TRAIN:
        return data
    task = self.task
    assert isinstance(task, FilledTask)
    rng = np.random.default_rng([seed, count])
    prompts = [row for scale in range(1, LONG + 1) for row in task.core.sample_prompts(scale, PROMPTS, rng)]
    text = np.concatenate([prompts[index] for index in rng.permutation(len(prompts))])
    tokens = data.tokens.copy()
    for scale in scales:
        places = np.flatnonzero(task.is_filler(scale))
        rows = np.flatnonzero((data.scales == scale) & (rng.random(count) < 0.5))
        cuts = rng.integers(len(text) - len(places), size=len(rows))[:, None] + np.arange(len(places))
        tokens[rows[:, None], places] = text[cuts]
    return replace(data, tokens=tokens)


@contextmanager
def varied_and_shifted() -> Iterator[None]:
    """Train on varied samples, shifted as well."""
    with patch.object(Setup, "examples", varied), patch(LEFT_OUT, shifted):
        yield


def train(out: Path) -> None:
    """Train the runs of the protocol that are not trained on samples of each other kind yet."""
    for kind in TRAININGS:
        store = store_of(out, kind)
        runs = [run for run in planned(out) if not store.finished(run)]
        small = groups(runs, store, 2 * CPUS)  # what is finished counts if the training is stopped
        with pool(CPUS) as processes:
            for failure in processes.map(partial(train_changed, kind=kind, root=store.root), small):
                print(failure or f"a group of {kind} runs is trained", flush=True)


def train_changed(group: Group, kind: str, root: Path) -> str | None:
    """Train runs on samples of a kind; return the message of a failure."""
    with TRAININGS[kind]():
        return group_job(group, root, {}).failure(Backend("cpu"))


TRAININGS: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "staggered": lambda: patch("lengthgen.circuits.formats.filled", staggered),
    "shifted": lambda: patch(LEFT_OUT, shifted),
    "varied": varied_and_shifted,
}
"""Samples of training -> context in which they are those."""


def planned(out: Path) -> list[Run]:
    """Return the runs whose seeds derive from what was frozen in a folder."""
    return [run for runs in stored_runs(PROTOCOL, out).values() for run in runs]


def asked(out: Path) -> list[dict[str, Any]]:
    """Return a row for each finished run."""
    finished = [
        (kind, run) for kind, folder in KINDS.items() for run in planned(out) if store_of(out, kind).finished(run)
    ]
    with pool(CPUS) as processes:
        return list(processes.map(partial(row_of, out), *zip(*finished, strict=True)))


def row_of(out: Path, kind: str, run: Run) -> dict[str, Any]:
    """Return the row of a run.

    It has the run's name and encoding, the samples of its training, the first scale that is not solved (one more than
    the last one, if all are), the mean share of wrong samples at the scales of training, and the share of right samples
    after each change, or None where that is not asked.
    """
    store = store_of(out, kind)
    measured = outcome((run, store.metrics(run)), threshold=run.evaluation.threshold)
    return {
        "run": run.id,
        "encoding": run.encoding,
        "kind": kind,
        "first_failure": measured.first_failure or LONG + 1,
        "wrong_in_training": 1 - float(np.mean([measured.exact_match[scale] for scale in run.train])),
    } | (changed(run, store) if kind in ASKED else dict.fromkeys(CHANGES))


def changed(run: Run, store: RunStore) -> dict[str, float]:
    """Return the share of right samples after each change."""
    torch.set_num_threads(1)  # each process has a core
    setup, decoder = load_trained(run, store, run.test, "cpu")
    return {
        "long": as_is(decoder, setup, LONG),
        "long, late": late(decoder, setup, setup.task.alphabet),
        "long, late by digits": late(decoder, setup, DIGITS),
        "short": as_is(decoder, setup, SHORT),
        "short, early": as_is(decoder, setup, SHORT, left_out=LONG - SHORT),
    }


def store_of(out: Path, kind: str) -> RunStore:
    """Return where runs of a kind are stored."""
    return RunStore(out / KINDS[kind])


def as_is(decoder: Decoder, setup: Setup, scale: int, *, left_out: int = 0) -> float:
    """Return the share of right samples of a scale, without their first fillers if some are left out."""
    data = setup.examples([scale], SAMPLES, split=TEST, seed=0)
    data = replace(data, tokens=data.tokens[:, left_out:], is_step=data.is_step[:, left_out:])
    (right,) = teacher_forced(decoder, setup.geometry, data)
    return float(right.all(axis=1).mean())


def late(decoder: Decoder, setup: Setup, symbols: Sequence[str]) -> float:
    """Return the share of right samples of LONG, with each step as late as the last digit of the samples of training.

    Filler before the sample, drawn from some symbols, moves it there. The two steps after the last digit, which come
    later, stay.
    """
    filler = np.array([setup.task.alphabet.index(symbol) for symbol in symbols], dtype=np.uint8)
    data = setup.examples([LONG], SAMPLES, split=TEST, seed=0)
    steps = np.flatnonzero(data.is_step[0])
    last_digit = int(steps[LONG - 1])
    right = np.ones(SAMPLES, dtype=np.bool_)
    for step in steps.tolist():
        added = max(0, last_digit - step)
        before = filler[np.random.default_rng(step).integers(len(filler), size=(SAMPLES, added), dtype=np.uint8)]
        tokens = np.concatenate([before, data.tokens[:, : step + 1]], axis=1)
        is_step = np.zeros(tokens.shape, dtype=np.bool_)
        is_step[:, -1] = True
        geometry = with_keys_before(setup, added)
        (of_step,) = teacher_forced(decoder, geometry, replace(data, tokens=tokens, is_step=is_step))
        right &= of_step[:, 0]
    return float(right.mean())


def with_keys_before(setup: Setup, added: int) -> Geometry:
    """Return labels of sequences with keys added before them: irrelevant ones, or those of their distances.

    Labels of distances stay as they are, since they depend on nothing else.
    """
    geometry = copy.copy(setup.geometry)
    labels = geometry.labels_MSJI
    assert labels is not None
    if setup.run.encoding == "ipe":
        geometry.labels_MSJI = torch.nn.functional.pad(labels, (added, 0, added, 0), value=IRRELEVANT)
        geometry.length += added
    return geometry


def solves(row: Mapping[str, Any], change: str) -> bool:
    """True if a run solves samples."""
    return bool(row[change] >= PROTOCOL.profile.evaluation.threshold)


def compared(pairs: Iterable[tuple[bool, bool]]) -> str:
    """Return how many of the pairs hold only first, only second, and the e-value for most of these only first."""
    each = list(pairs)
    for_it, against = each.count((True, False)), each.count((False, True))
    return f"{for_it} | {against} | {Estimand.MAJORITY.evidence(for_it, for_it + against).above:.3g}"


def change_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each encoding and kind: how many runs solve which samples, and the mean share of right ones."""
    lines = []
    for encoding, kind in product(ENCODINGS, ASKED):
        own = [row for row in rows if (row["encoding"], row["kind"]) == (encoding, kind)]
        cells = [
            f"{sum(solves(row, change) for row in own)} of {len(own)}, {fmean(row[change] for row in own):.2f}"
            for change in CHANGES
        ]
        lines.append(f"| {encoding} | {kind} | {' | '.join(cells)} |")
    return lines


def predicted_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each prediction but those of single encodings: runs for it, against it, and the e-value."""
    usual = [row for row in rows if row["kind"] == "filled"]
    failing = [row for row in usual if fits(row) and not wins(row)]
    unerring, erring = ([row for row in failing if (row["wrong_in_training"] > 0) == some] for some in (False, True))
    fitting = {kind: {row["run"]: row for row in rows if row["kind"] == kind and fits(row)} for kind in KINDS}

    def won(kind: str, other: str) -> str:
        """Compare runs of two kinds with the same seeds, where both fit: only the first solves all, or only other."""
        both = fitting[kind].keys() & fitting[other].keys()
        return compared((wins(fitting[kind][run]), wins(fitting[other][run])) for run in both)

    return [
        f"| 1 | {compared((solves(row, 'long, late'), solves(row, 'long')) for row in usual)} |",
        f"| 2 | {compared((solves(row, 'long, late'), not solves(row, 'long, late')) for row in unerring)} |",
        f"| 3 | {compared((not solves(row, 'long, late'), solves(row, 'long, late')) for row in erring)} |",
        f"| 4 | {won('staggered', 'filled')} |",
        f"| 7 | {won('shifted', 'filled')} |",
        f"| 8 | {won('shifted', 'staggered')} |",
        f"| 12 | {won('varied', 'filled')} |",
        f"| 13 | {won('varied', 'shifted')} |",
    ]


def fits(row: Mapping[str, Any]) -> bool:
    """True if a run solves the scales of its training."""
    return bool(row["first_failure"] > SHORT)


def wins(row: Mapping[str, Any]) -> bool:
    """True if a run solves all scales."""
    return bool(row["first_failure"] > LONG)


def generalization_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each encoding and kind: fitting runs that solve all scales, e-value, first failing scales."""
    lines = []
    for encoding, kind in product(ENCODINGS, KINDS):
        own = [row for row in rows if (row["encoding"], row["kind"]) == (encoding, kind) and fits(row)]
        solved = sum(map(wins, own))
        evidence = Estimand.MAJORITY.evidence(solved, len(own))
        scales = ", ".join(
            str(row["first_failure"]) for row in sorted(own, key=itemgetter("first_failure")) if not wins(row)
        )
        lines.append(f"| {encoding} | {kind} | {solved} of {len(own)} | {evidence.above:.3g} | {scales or 'none'} |")
    return lines


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["train", out]:
            train(Path(out))
        case ["ask", out]:
            write_rows(STORED, asked(Path(out)))
        case []:
            rows = read_rows(STORED)
            for table in (change_lines(rows), predicted_lines(rows), generalization_lines(rows)):
                print("\n".join([*table, ""]))
        case _:
            sys.exit("usage: keys.py, keys.py train OUT, or keys.py ask OUT")
