"""Limits of values that files and commands give, written beside the fields of dataclasses.

`samples: Annotated[int, Range(1, 1000)]`; `empirical.runs.profile.read` checks them.
"""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, Protocol


class Limit(Protocol):
    """What `Annotated` holds beside the type of a field."""

    def refusal(self, value: Any) -> str | None:
        """Words that follow the shown value where it is refused; None where it is not."""


@dataclass(frozen=True)
class Range:
    """Finite numbers from `least` to `most`; with `above`, `least` itself is none of them."""

    least: float
    most: float
    above: bool = False

    def refusal(self, value: Any) -> str | None:
        """As `Limit` says."""
        inside = self.least < value <= self.most if self.above else self.least <= value <= self.most
        return None if inside else f"is out of range: {self}"

    def __str__(self) -> str:
        least, most = (f"{one:,}" if isinstance(one, int) else f"{one:g}" for one in (self.least, self.most))
        return f"above {least}, at most {most}" if self.above else f"{least} to {most}"


@dataclass(frozen=True)
class Text:
    """Printable texts of at most `longest` characters."""

    longest: int

    def refusal(self, value: str) -> str | None:
        """As `Limit` says."""
        return None if len(value) <= self.longest and value.isprintable() else f"is not {self}"

    def __str__(self) -> str:
        return f"printable text of at most {self.longest:,} characters on one line"


@dataclass(frozen=True)
class Entries:
    """Lists of 1 to `most` entries."""

    most: int

    def refusal(self, value: Sized) -> str | None:
        """As `Limit` says."""
        return None if 1 <= len(value) <= self.most else f"has {len(value):,} entries: it takes 1 to {self.most:,}"


SEED = Range(0, 2**64 - 1)
"""Seeds of runs: words of the counters by which examples are drawn (empirical.runs.data)."""
SCALE = Range(1, 1_000)
"""Scales at which models are trained and tested."""
SEEDS = Range(1, 1_000)
"""Runs of a cell, which differ in their seeds."""
TEST_SAMPLES = Range(1, 100_000)
"""Samples at each scale of a test."""
FLOAT32 = Range(0, 1e38)
"""Sizes that a float32 can hold."""
AUDITED = Range(1, 256)
"""Heads in an audit, and the width of each."""
