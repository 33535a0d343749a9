"""What a run is: one task, format, encoding and seed under one profile, and the identity that follows from it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from circuits.formats import in_format
from circuits.task import Task
from circuits.tasks import load
from empirical.data import TEST, examples
from empirical.profile import Evaluation, Model, Profile, Training

FORMAT_VERSION = 1
"""Raised when what a run's folder holds, or how a run is trained, changes: older runs are then not taken for it."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run: everything its numbers depend on but the code itself (FORMAT_VERSION stands for that).

    Attributes:
        task: name, or path/to/file.py:name.
        digest: hash of samples of what the task generates at the scales in use: a task that changes there is
            another run.
        train, test: the scales, ascending.
    """

    task: str
    digest: str
    format: str
    encoding: str
    train: tuple[int, ...]
    test: tuple[int, ...]
    seed: int
    model: Model
    training: Training
    evaluation: Evaluation
    version: int = FORMAT_VERSION

    @property
    def id(self) -> str:
        """Readable and unique: task, format, encoding, seed and a hash of the whole."""
        name = self.task.rpartition(":")[2]
        digest = hashlib.sha256(json.dumps(self.config(), sort_keys=True).encode()).hexdigest()[:12]
        return f"{name}-{self.format}-{self.encoding}-seed{self.seed}-{digest}"

    def config(self) -> dict[str, Any]:
        """The run as JSON holds it."""
        return json.loads(json.dumps(asdict(self)))

    def load_task(self) -> Task:
        """The task in the run's format."""
        return in_format(load(self.task), self.format, largest_scale=max(*self.train, *self.test))


def plan(
    task: str, *, format: str, encoding: str, train: Sequence[int], test: Sequence[int], seed: int, profile: Profile
) -> Run:
    """The run of one task, format, encoding and seed under a profile.

    Raises:
        TaskError: the task cannot be loaded, or breaks its contract at some scale.
    """
    run = Run(
        task=task,
        digest="",
        format=format,
        encoding=encoding,
        train=tuple(sorted(train)),
        test=tuple(sorted(test)),
        seed=seed,
        model=profile.model,
        training=profile.training,
        evaluation=profile.evaluation,
    )
    return replace(run, digest=_digest(run.load_task(), sorted({*train, *test})))


def _digest(task: Task, scales: Sequence[int]) -> str:
    known = hashlib.sha256("\n".join(task.alphabet).encode())
    for scale in scales:
        known.update(examples(task, [scale], 8, split=TEST, seed=0).tokens.tobytes())
    return known.hexdigest()[:12]
