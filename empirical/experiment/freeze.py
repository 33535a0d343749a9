"""Frozen answers, and the seeds that derive from them, so that a prediction cannot be changed after its runs ([F]).

The seed of a run is part of the SHA-256 of the digest of everything that was frozen, of the cell, and of the run's
index. Whoever rewrites a prediction after training changes the digest, and with it the seeds that the runs must have.
Versions of the code are no part of it: a refactoring changes no seed.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any


def frozen_digest(content: Any) -> str:
    """SHA-256, as 64 hexadecimal digits, of JSON content in canonical form: sorted keys, no spaces, ASCII only."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def derived_seed(digest: str, cell: str, index: int) -> int:
    """Seed of one run: the first 63 bits of the SHA-256 of [digest, cell, index], as an unsigned integer below 2^63."""
    return int(frozen_digest([digest, cell, index])[:16], 16) >> 1


class SeededCell(ABC):
    """Cell with frozen answers, from which the seeds of its runs derive."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the cell in its seeds."""

    @property
    @abstractmethod
    def content(self) -> Any:
        """Everything that the seeds derive from, as JSON: what was registered, the cell, and its answers."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return frozen_digest(self.content)

    def seed(self, index: int) -> int:
        """Seed of the run with this index, from 0."""
        return derived_seed(self.digest, self.name, index)
