"""Limits of values in files and commands, written as annotations of dataclass fields.

Example: `samples: Annotated[int, Range(1, 1000)]`; `lengthgen.empirical.runs.profile.read` checks them.
"""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar


class Limit(Protocol):
    """Limit that `Annotated` holds beside the type of a field."""

    def refusal(self, value: Any) -> str | None:
        """Return the end of the error message, to follow the printed value; None if the value is accepted."""


N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Range(Generic[N]):
    """Finite numbers from `least` to `most`; with `above`, `least` itself is excluded."""

    least: N
    most: N
    above: bool = False

    def refusal(self, value: Any) -> str | None:
        """Reason for refusing the value; see `Limit`."""
        inside = self.least < value <= self.most if self.above else self.least <= value <= self.most
        return None if inside else f"is out of range: {self}"

    def __str__(self) -> str:
        least, most = (
            f"{number:,}" if isinstance(number, int) else f"{number:g}" for number in (self.least, self.most)
        )
        return f"above {least}, at most {most}" if self.above else f"{least} to {most}"


@dataclass(frozen=True)
class Text:
    """Printable texts of at most `longest` characters."""

    longest: int

    def refusal(self, value: str) -> str | None:
        """Reason for refusing the value; see `Limit`."""
        return None if len(value) <= self.longest and value.isprintable() else f"is not {self}"

    def __str__(self) -> str:
        return f"printable text of at most {self.longest:,} characters on one line"


@dataclass(frozen=True)
class Entries:
    """Lists of 1 to `most` entries."""

    most: int

    def refusal(self, value: Sized) -> str | None:
        """Reason for refusing the value; see `Limit`."""
        return None if 1 <= len(value) <= self.most else f"has {len(value):,} entries: it takes 1 to {self.most:,}"


SEED = Range(0, 2**64 - 1)
"""Seeds of runs: one word of the counters from which examples are drawn (lengthgen.empirical.runs.data)."""
SCALE = Range(1, 1_000)
"""Scales at which models are trained and tested."""
SEEDS = Range(1, 1_000)
"""Number of runs of a cell, which differ in their seeds."""
TEST_SAMPLES = Range(1, 100_000)
"""Number of test samples at each scale."""
FLOAT32 = Range(0, 1e38)
"""Positive sizes that fit into a float32."""
AUDITED = Range(1, 256)
"""Number of heads in an audit, and width of each."""
