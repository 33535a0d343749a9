"""What a run is: one task, format, encoding, model and seed under one protocol, and the identity that follows."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from circuits.encodings import parse_encoding
from circuits.formats import in_format
from circuits.task import Task
from circuits.tasks import load
from empirical.data import TEST, examples
from empirical.profile import Evaluation, Model, Training, read
from empirical.protocol import Cell, Protocol

FORMAT_VERSION = 2
"""Raised when what a run's folder holds, or how a run is trained, changes: older runs are then not taken for it."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: everything its numbers depend on but the code itself (FORMAT_VERSION stands for that).

    Attributes:
        task: name, or path/to/file.py:name; `base` its digits, if not its default.
        encoding: as `circuits.encodings` writes it.
        digest: hash of samples of what the task generates at the scales in use, and of the encoding's file if it is
            the user's own: what changes there is another run.
        train, test: the scales, ascending.
    """

    task: str
    base: int | None
    format: str
    encoding: str
    digest: str
    train: tuple[int, ...]
    test: tuple[int, ...]
    seed: int
    model: Model
    training: Training
    evaluation: Evaluation
    version: int = FORMAT_VERSION

    @cached_property
    def id(self) -> str:
        """Readable and unique: task, format, encoding, model, seed and a hash of the whole."""
        return f"{self._name()}-seed{self.seed}-{_hash(self.config)}"

    @cached_property
    def group(self) -> str:
        """Common to runs that differ in their seed alone: these can be trained as one ensemble."""
        return f"{self._name()}-{_hash(self.config | {'seed': None})}"

    @cached_property
    def config(self) -> dict[str, Any]:
        """The run as JSON holds it."""
        config: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """What `config` gave.

        Raises:
            ProfileError: it is none of a run.
        """
        run: Self = read(cls, config, "config")
        return run

    def load_task(self) -> Task:
        """The task in the run's format."""
        plain = load(self.task, base=self.base)
        return in_format(plain, self.format, largest_scale=max(*self.train, *self.test))

    def _name(self) -> str:
        task = self.task.rpartition(":")[2] + ("" if self.base is None else f"-base{self.base}")
        encoding = self.encoding.rpartition(":")[2].replace("[", "-").replace("=", "").replace(",", "-").rstrip("]")
        return f"{task}-{self.format}-{encoding}-{self.model}"


def plan(protocol: Protocol) -> dict[tuple[Cell, Model], list[Run]]:
    """Every run of a protocol, by cell and model.

    Raises:
        TaskError: a task cannot be loaded or breaks its contract at some scale, or an encoding is unknown.
    """
    return {
        (cell, model): [one_run(protocol, cell, model, seed) for seed in range(protocol.profile.seeds)]
        for cell in protocol.cells
        for model in protocol.profile.models
    }


def one_run(protocol: Protocol, cell: Cell, model: Model, seed: int) -> Run:
    """One run of a protocol. Raises as `plan` does."""
    run = Run(
        task=cell.task,
        base=cell.base,
        format=cell.format,
        encoding=str(parse_encoding(cell.encoding)),
        digest="",
        train=protocol.train,
        test=protocol.test,
        seed=seed,
        model=model,
        training=protocol.profile.training,
        evaluation=protocol.profile.evaluation,
    )
    encoding = _own_file(run.encoding)
    drawn = _drawn(run.task, _own_file(run.task), run.base, run.format, *run.train, *run.test)
    return replace(run, digest=_hash([drawn, encoding]))


def _own_file(spec: str) -> str:
    """The text of the user's file that a task or an encoding stands in; none if it is a built-in one."""
    path = Path(spec.rpartition(":")[0])
    return path.read_text() if path.suffix == ".py" and path.is_file() else ""


@lru_cache(maxsize=256)
def _drawn(task: str, text: str, base: int | None, form: str, *scales: int) -> str:
    """Hash of the alphabet and of samples at all scales; `text` is that of the task's file, for the cache to know."""
    laid_out = in_format(load(task, base=base), form, largest_scale=max(scales))
    samples = [
        examples(laid_out, [scale], 8, split=TEST, seed=0).tokens.tobytes().hex() for scale in sorted(set(scales))
    ]
    return _hash([laid_out.alphabet, samples])


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]
