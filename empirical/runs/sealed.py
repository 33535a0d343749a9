"""Sealed results: a run of a protocol with one result file, where it is stored, and how it is read.

    OUT/PROTOCOL/PROFILE/NAME-HASH.json

A result appears complete or not at all, and is sealed.  The hash is that of everything the numbers depend on except the
code itself, which the protocol's format version stands for.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from lengthgen.infrastructure.shapes import Shape, WrongShape, both, read_stored, record

MEND = "remove it, and its models are trained again"
"""What to do about a result that cannot be used."""


class SealedRun(ABC):
    """Models that one process trains and measures, with their result in one sealed file.

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

    def path(self, out: Path) -> Path:
        """Return the file of the result."""
        name = "".join(character if character.isalnum() or character in "-=." else "_" for character in self.name)
        return out / self.protocol / self.profile_name / f"{name[:80]}-{digest(self.config)}.json"

    def result(self, out: Path) -> dict[str, Any] | None:
        """Return the stored result; None if there is none.

        Raises:
            DamagedFile: the file has changed since it was written, or does not hold the result of this run.
        """
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


def digest(content: Any) -> str:
    """Return the first 10 digits of the SHA-256 of JSON content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]
