"""How long a computation may take, and where its time went."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class OutOfTime(Exception):
    """The time limit has passed; what is known so far stands."""


class Clock:
    """A time limit, from the moment it is made, and seconds by phase.

    Attributes:
        seconds: phase -> seconds spent in it; a phase within another counts for itself only.
    """

    def __init__(self, limit: float | None = None) -> None:
        """`limit` is in seconds; None is no limit."""
        self._limit = limit
        self._start = perf_counter()
        self._running: list[str] = []
        self._since = 0.0
        self.seconds: dict[str, float] = {}

    def left(self) -> float | None:
        """Seconds to the limit, at least 0; None where there is none."""
        return None if self._limit is None else max(0.0, self._start + self._limit - perf_counter())

    def used(self) -> float:
        """The share of the limit that has passed; 0 where there is none."""
        if self._limit is None:
            return 0.0
        return (perf_counter() - self._start) / self._limit if self._limit > 0 else 1.0

    def check(self) -> None:
        """Raises OutOfTime where the limit has passed."""
        if self.left() == 0:
            raise OutOfTime

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts the time of its block as this phase's."""
        self._count()
        self._running.append(name)
        try:
            yield
        finally:
            self._count()
            self._running.pop()

    def _count(self) -> None:
        now = perf_counter()
        if self._running:
            self.seconds[self._running[-1]] = self.seconds.get(self._running[-1], 0.0) + now - self._since
        self._since = now
