"""Training of the text protocol: the models of each encoding by one process; an interrupted training begins anew."""

from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from circuits.encodings import EncodingSpec, NoRelation, parse_encoding
from empirical.model.backend import Backend
from empirical.runs.environment import environment
from empirical.text.corpus import corpus
from empirical.text.run import TextRun
from empirical.training.sweep import workers
from theory.encodings.catalogue import ENCODINGS
from theory.system.errors import LengthgenError
from theory.system.files import locked, write_sealed_json
from theory.system.processes import interrupts_left, pool
from theory.system.userfile import user_code

TRAINED_ROTATION = "rope"
STRETCHED = ("interpolation[scale={scale:g}]", "ntk[scale={scale:g}]", "dynamic-ntk", "yarn[scale={scale:g}]")
"""Encodings under which models trained with RoPE are tested as well, without training, for a length `scale` times the
trained one.
"""


def usual_encodings() -> list[str]:
    """Return the names of the registered encodings that need no task.

    Left out are those whose relation is that of a task's circuit, and those that see later tokens.
    """
    from empirical.encodings.catalogue import label_relation

    names = []
    for name in ENCODINGS:
        try:
            label_relation(EncodingSpec(name=name), None)
        except NoRelation:
            continue
        if ENCODINGS[name].causal:
            names.append(name)
    return names


def train_all(runs: Sequence[TextRun], out: Path, backend: Backend, on_done: Callable[[TextRun], None]) -> list[str]:
    """Train the runs without a stored result; return the error message of each that failed.

    Raises:
        BackendError: this machine lacks the backend.
        LengthgenError: a process was killed.
    """
    backend.require()
    missing = [run for run in runs if run.result(out) is None]
    failures: list[str] = []
    if not missing:
        return failures
    with pool(min(workers(backend), len(missing))) as processes:
        with interrupts_left():
            futures = {processes.submit(_train, run, out, backend): run for run in missing}
        try:
            for future in as_completed(futures):
                if error := future.result():
                    failures.append(error)
                on_done(futures[future])
        except BrokenProcessPool as error:
            raise LengthgenError(
                "a training process was killed (out of memory?): run the same command again to go on"
            ) from error
    return failures


def _train(run: TextRun, out: Path, backend: Backend) -> str | None:
    """Train one run in this process and store its result; return the error message of a failure."""
    try:
        with (
            user_code(run.encoding, error=LengthgenError, expected=(LengthgenError, OSError)),
            locked(run.path(out).with_suffix(".lock")),
        ):
            if run.result(out) is None:
                write_sealed_json(run.path(out), trained(run, backend))
    except (LengthgenError, OSError) as error:  # the other encodings continue
        return str(error)
    return None


def trained(run: TextRun, backend: Backend) -> dict[str, Any]:
    """Train and measure the models of a run; return the result as JSON.

    On one machine and backend the numbers are the same each time: on a CPU one thread computes.

    Raises:
        TextError: a loss is not finite.
        EncodingError, RelationError, ProfileError: there is no such model.
    """
    import torch

    from empirical.text.language_model import LanguageModels

    torch.set_num_threads(1)
    started = monotonic()
    spec, profile = parse_encoding(run.encoding), run.profile
    models = LanguageModels(spec, profile, corpus(), backend)
    losses = [values.tolist() for values in models.train()]
    tests = {run.encoding: [asdict(models.measure(length)) for length in profile.lengths]}
    if run.encoding == TRAINED_ROTATION:
        for text in STRETCHED:
            tests[text.partition("[")[0]] = [
                asdict(models.measure(length, under=other) if length > profile.length else models.measure(length))
                for length in profile.lengths
                for other in [parse_encoding(text.format(scale=length / profile.length))]
            ]
    return {
        **run.config,
        "losses": [losses[step] for step in _shown(len(losses))],
        "steps_shown": _shown(len(losses)),
        "tests": tests,
        "seconds": round(monotonic() - started, 1),
        "environment": environment(backend.device),
    }


def _shown(steps: int) -> list[int]:
    """Steps, from 0, whose training losses are stored: about 100, the last one included."""
    return sorted({*range(0, steps, max(1, steps // 100)), steps - 1})
