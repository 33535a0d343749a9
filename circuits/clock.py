"""Limits of a computation, and the time that each of its phases took.

Seconds are for those who wait: how far a computation comes in a second depends on the machine and on its load. Steps
are for answers that are kept: they are counted, so that the computation ends at the same place everywhere.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

LOOK = 10_000
"""Steps of a call that goes through a table, whatever the table's size."""


class OutOfTime(Exception):
    """The limit is reached; what is known so far stands. The message says which limit."""


class Clock:
    """A limit in seconds, from the moment the clock is made, or in counted steps; and seconds by phase.

    Steps are counted in any case. A step is one entry of a table looked at; a core takes one or two billion a second.

    Attributes:
        seconds: phase -> seconds spent in it; a phase within another counts for itself only.
        steps: counted so far.
    """

    def __init__(self, limit: float | None = None, *, steps: int | None = None) -> None:
        """`limit` is in seconds, `steps` in counted steps; None is no limit, and one of them is None."""
        self._limit = limit
        self._most = steps
        self._start = perf_counter()
        self._running: list[str] = []
        self._since = 0.0
        self.seconds: dict[str, float] = {}
        self.steps = 0

    def left(self) -> float | None:
        """Seconds to the limit, at least 0; None where there is none."""
        return None if self._limit is None else max(0.0, self._start + self._limit - perf_counter())

    def steps_left(self) -> int | None:
        """Steps to the limit, at least 0; None where there is none."""
        return None if self._most is None else max(0, self._most - self.steps)

    def used(self) -> float:
        """The share of the limit that is used; 0 where there is none."""
        return max(_share(perf_counter() - self._start, self._limit), _share(self.steps, self._most))

    def over(self) -> bool:
        """Whether the limit is reached."""
        return self.steps_left() == 0 or self.left() == 0

    def reason(self) -> str:
        """Sentence that says which limit ended a computation."""
        return "the time limit has passed" if self._most is None else f"the limit of {self._most:,} steps is reached"

    def count(self, steps: int) -> None:
        """Counts steps that were or will be taken."""
        self.steps += steps

    def check(self, steps: int) -> None:
        """Counts steps; raises OutOfTime where the limit is reached."""
        self.count(steps)
        if self.over():
            raise OutOfTime(self.reason())

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


def _share(used: float, limit: float | None) -> float:
    if limit is None:
        return 0.0
    return used / limit if limit > 0 else 1.0
