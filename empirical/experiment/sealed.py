"""Sealed runs: models that one process trains and measures, with their result in one sealed file.

    OUT/PROTOCOL/PROFILE/NAME-HASH.json

A result appears complete or not at all, and an interrupted training begins anew.  The hash is that of everything the
numbers depend on except the code itself, which the protocol's format version stands for.
"""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from lengthgen.empirical.experiment.environment import environment
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.files import seal
from lengthgen.infrastructure.memory import keep_freed_memory
from lengthgen.infrastructure.shapes import Shape, WrongShape, both, read_stored, record

MEND = "remove it, and its models are trained again"
"""What to do about a result that cannot be used."""
Losses = list[list[float]]
"""Training losses by step and model."""


class SealedRun(ABC):
    """Models of several seeds under one profile of a protocol.

    Attributes:
        protocol: name of the protocol, and of the folder of its results.
        profile_name: name of the profile, and of the folder below it.
    """

    protocol: ClassVar[str]
    profile_name: str

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the run among those of its profile, for people."""

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]:
        """Everything that the numbers depend on, as JSON."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Shape of the result, which begins with `config`."""

    @abstractmethod
    def measured(self, out: Path, backend: Backend) -> tuple[Losses, dict[str, Any]]:
        """Train and measure the models; return their losses, and what else the result holds."""

    def path(self, out: Path) -> Path:
        """Return the file of the result."""
        name = "".join(character if character.isalnum() or character in "-=." else "_" for character in self.name)
        return out / self.protocol / self.profile_name / f"{name[:80]}-{seal(self.config)[:10]}.json"

    def result(self, out: Path) -> dict[str, Any] | None:
        """Return the stored result; None if there is none."""
        path = self.path(out)
        if not path.exists():
            return None
        result: dict[str, Any] = read_stored(path, both(self._begins, self.shape), "result", MEND)
        return result

    def _begins(self, value: Any, where: str) -> None:
        """Check that a result is that of this run."""
        record()(value, where)
        if value | json.loads(json.dumps(self.config)) != value:
            raise WrongShape(f"{where} is that of another run")

    def train(self, out: Path, backend: Backend) -> dict[str, Any]:
        """Train and measure the models; return the result as JSON.

        On one machine and backend the numbers are the same each time: on a CPU one thread computes. About 100 of the
        losses are kept, that of the last step included.
        """
        import torch

        torch.set_num_threads(1)
        keep_freed_memory()
        started = monotonic()
        losses, rest = self.measured(out, backend)
        last = len(losses) - 1
        shown = sorted({*range(0, len(losses), max(1, len(losses) // 100)), last})
        return {
            **self.config,
            **rest,
            "losses": [losses[step] for step in shown],
            "steps_shown": shown,
            "seconds": round(monotonic() - started, 1),
            "environment": environment(backend.device),
        }
