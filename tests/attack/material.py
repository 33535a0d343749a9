"""The material to damage: everything the project stores, made once, small, and the commands that read it."""

import errno
import json
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from lengthgen.empirical.experiment.sweep import Group, Job
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.files import locked, write_json
from lengthgen.paper_figs.sources import RECORDS
from tests.attack.watchdog import Ending, call
from tests.lengthgen.settled_here import settled_here

PROTOCOL = """\
title = "Small: for attacks"
source = ""
train = [1, 2]
test = [1, 3]

[[cells]]
tasks = ["parity"]
formats = ["aligned"]
encodings = ["ipe", "lbpe"]

[smoke]
models = [{ width = 8, layers = 1, heads = 1 }]
training.samples = 20
training.batch = 10
training.epochs = 2
evaluation.samples = 10
"""
MANY = PROTOCOL.replace('"ipe", "lbpe"', '"nope"').replace("epochs = 2", "epochs = 1") + "seeds = 8\n"
"""Protocol of runs enough to be trained together."""
CLAIMS = ("alibi-1", "fox-10")
"""Claims proved in a second, so that to run them again costs little."""
TRAIN = ("train", "parity", "--encoding", "rpe", "--train", "1-2", "--test", "1-3", "--seed", "7", "--profile", "smoke")
"""The run that is left unfinished."""
SMOKE = ("--profile", "smoke")
TEXT = ("text", "--encoding", "rope,nope", *SMOKE)
MODULAR = ("modular-addition", "--condition", "described-baseline,described-shift", *SMOKE)
VERDICT = ("verdict", "swapped-arguments", "--out", "verdict")


class NotMade(Exception):
    """The material could not be made: a command failed on what nobody had touched."""


def make_material(folder: Path, *, complete: bool) -> Path:
    """Make the folder once, with `out/`, `cache/`, `small.toml`, `pattern.npy`, `certificate.json`; return it.

    Args:
        folder: a folder for this alone; what was made before, of the same code, is not made again.
        complete: also what `reproduce` makes, which takes minutes.
    """
    done = folder / ("whole" if complete else "small")
    code = source_digest("", "theory", "circuits", "empirical", "proofs_checks", "paper_figs")
    with locked(folder / ".lock", "makes what is attacked"):
        if not done.exists() or done.read_text() != code:
            for name in ("out", "verdict", "whole", "small"):
                shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink(missing_ok=True)
            _make(folder, complete=complete)
            done.write_text(code)
    return folder


def _make(folder: Path, *, complete: bool) -> None:
    (folder / "small.toml").write_text(PROTOCOL)
    np.save(folder / "pattern.npy", np.triu(np.arange(64, dtype=float).reshape(8, 8) % 3 + 1))
    _must(folder, "src", "parity", "--scales", "1-3", "--certificate", "certificate.json")
    name = VERDICT[1]
    shutil.copytree(RECORDS / "verdict" / name, folder / "verdict" / name)
    write_json(folder / "verdict" / name / "deviations.json", ["None was planned."])
    with mock.patch("lengthgen.proofs_checks.ledger._run_in_parallel", settled_here):
        _must(folder, "verify", *CLAIMS)
    if complete:
        _must(folder, "encodings")
        (folder / "many.toml").write_text(MANY, encoding="utf-8")
        _must(folder, "sweep", "many.toml", *SMOKE, "--out", "many")
        shutil.rmtree(folder / "many")
        _must(folder, "sweep", "randomized", *SMOKE)
        _must(folder, *TEXT)
        _must(folder, *MODULAR)
        _must(folder, "reproduce", *SMOKE)
    with trained_here():
        _must(folder, "conjecture", "small.toml", *SMOKE)
    _leave_unfinished(folder)
    _must(folder, "figures", "--protocol", "small.toml", *SMOKE, *small_figures(folder))
    if complete:
        _must(folder, "report", *SMOKE)


def trained_here() -> AbstractContextManager[Any]:
    """Have commands train in their own process: to start others would cost more than so small a training."""
    return mock.patch.dict("lengthgen.questions.rounds.ENGINES", local=_in_the_same_process)


def _in_the_same_process(jobs: Sequence[Job[Group]], backend: Backend) -> Iterator[tuple[Job[Group], str | None]]:
    """Engine that starts no process."""
    for job in jobs:
        yield job, job.failure(backend)


def small_figures(folder: Path) -> list[str]:
    """Names of the figures and tables of the small protocol that can be drawn."""
    listed = json.loads(_must(folder, "figures", "--list", "--protocol", "small.toml", *SMOKE, "--json").out)
    return [entry["name"] for entry in listed["figures"] if entry["name"] in ("accuracy-small", "predicted-small")]


def _leave_unfinished(folder: Path) -> None:
    """Leave a training that was killed after its second epoch."""

    def step(self: Any, name: str) -> None:
        if name == "epoch 2":
            os.kill(os.getpid(), signal.SIGKILL)

    with mock.patch("lengthgen.terminal.progress.Progress.step", step):
        ending = call(TRAIN, folder=folder, cache=folder / "cache")
    if ending.status != -signal.SIGKILL:
        raise NotMade(f"{TRAIN} was not killed: {ending}")


def _must(folder: Path, *arguments: str) -> Ending:
    ending = call(arguments, folder=folder, cache=folder / "cache", seconds=3600)
    if ending.status != 0:
        raise NotMade(f"lengthgen {' '.join(arguments)}: {ending.status}: {ending.err[-2000:]}")
    return ending


def copied(material: Path, to: Path, without: Sequence[str] = ()) -> Path:
    """Make a copy whose files are links to those of the material where both are on one disk.

    A file is replaced, never changed.
    """
    ignored = shutil.ignore_patterns(".lock", ".locks", "*.lock", *without)
    shutil.copytree(material, to, copy_function=_link_or_copy, ignore=ignored)
    return to


def _link_or_copy(source: str, to: str) -> None:
    try:
        os.link(source, to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copy2(source, to)
