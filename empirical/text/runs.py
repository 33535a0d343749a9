"""Runs of the text protocol: one stored result for each encoding, trained by processes of this machine.

    OUT/text/PROFILE/ENCODING-HASH.json

A result appears complete or not at all, and is sealed.  The hash is that of everything the numbers depend on except the
code itself, which FORMAT_VERSION stands for.  An encoding whose training was interrupted begins anew.
"""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from circuits.encodings import EncodingSpec, NoRelation, parse_encoding
from empirical.model.backend import Backend
from empirical.runs.environment import environment
from empirical.text.corpus import corpus
from empirical.text.profile import TextProfile, digest
from empirical.training.sweep import workers
from theory.encodings.catalogue import ENCODINGS
from theory.system.errors import LengthgenError
from theory.system.files import locked, read_bytes, read_sealed_json, write_sealed_json
from theory.system.processes import interrupts_left, pool
from theory.system.userfile import split_file, user_code

FORMAT_VERSION = 1
"""Version of training and results; raised with each change of either, so that old results are not reused."""
TRAINED_ROTATION = "rope"
STRETCHED = ("interpolation[scale={scale:g}]", "ntk[scale={scale:g}]", "dynamic-ntk", "yarn[scale={scale:g}]")
"""Encodings under which models trained with RoPE are tested as well, without training, for a length `scale` times the
trained one.
"""


@dataclass(frozen=True, kw_only=True)
class TextRun:
    """Models of one encoding under one profile.

    Raises:
        OSError: the file of the user's own encoding cannot be read; raised when `config` is computed.
    """

    encoding: str
    profile_name: str
    profile: TextProfile

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return everything that the numbers depend on."""
        own = split_file(self.encoding)
        return {
            "encoding": self.encoding,
            "file": hashlib.sha256(read_bytes(Path(own[0]))).hexdigest() if own else None,
            "profile": self.profile.as_json(),
            "corpus": corpus().as_json(),
            "version": FORMAT_VERSION,
        }

    def path(self, out: Path) -> Path:
        """Return the file of the result."""
        name = "".join(character if character.isalnum() or character in "-=." else "_" for character in self.encoding)
        return out / "text" / self.profile_name / f"{name[:80]}-{digest(self.config)}.json"

    def result(self, out: Path) -> dict[str, Any] | None:
        """Return the stored result; None if there is none.

        Raises:
            DamagedFile: the file has changed since it was written.
        """
        path = self.path(out)
        return read_sealed_json(path) if path.exists() else None


def usual_encodings() -> list[str]:
    """Return the names of all registered encodings, but those whose relation is that of a task's circuit."""
    from empirical.encodings.catalogue import label_relation

    names = []
    for name in ENCODINGS:
        try:
            label_relation(EncodingSpec(name=name), None)
        except NoRelation:
            continue
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
