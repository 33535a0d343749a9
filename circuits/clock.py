"""Limits of a computation, in seconds or in counted steps, and the time spent in each of its phases.

A limit in seconds is for a person who waits: the progress of a computation in a second depends on the machine and on
its load. A limit in steps is for results that are stored: steps are counted, so the computation ends at the same place
on every machine. A function that takes a clock raises OutOfTime once its limit has passed, unless it says otherwise.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

LOOK = 10_000
"""Steps counted for a call that reads a table, in addition to its entries."""


class OutOfTime(Exception):
    """Raised when the limit is reached; the results so far stay valid. The message says which limit."""


class Clock:
    """Limit in seconds from the creation of the clock, or in counted steps; and seconds spent by phase.

    Steps are counted in any case. A step is about one table entry read; a core does one or two billion a second.

    Attributes:
        seconds: phase -> seconds spent in it; the time of a nested phase counts for the nested phase only.
        steps: steps counted so far.
    """

    def __init__(self, limit: float | None = None, *, steps: int | None = None) -> None:
        """Start the clock. `limit` is in seconds, `steps` in counted steps; at most one of them is given."""
        self._limit = limit
        self._most = steps
        self._start = perf_counter()
        self._running: list[str] = []
        self._since = 0.0
        self.seconds: dict[str, float] = {}
        self.steps = 0

    def left(self) -> float | None:
        """Return the seconds to the limit, at least 0; None if there is no such limit."""
        return None if self._limit is None else max(0.0, self._start + self._limit - perf_counter())

    def steps_left(self) -> int | None:
        """Return the steps to the limit, at least 0; None if there is no such limit."""
        return None if self._most is None else max(0, self._most - self.steps)

    def used(self) -> float:
        """Return the share of the limit that is used; 0 if there is no limit."""
        return max(_share(perf_counter() - self._start, self._limit), _share(self.steps, self._most))

    def over(self) -> bool:
        """True if the limit is reached."""
        return self.steps_left() == 0 or self.left() == 0

    def reason(self) -> str:
        """Return a sentence that says which limit ended a computation."""
        return "the time limit has passed" if self._most is None else f"the limit of {self._most:,} steps is reached"

    @property
    def running(self) -> str | None:
        """Phase in which the computation is; None if it is in none."""
        last = self._running[-1:]  # at once: another thread may ask
        return last[0] if last else None

    def count(self, steps: int) -> None:
        """Count steps that were or will be taken."""
        self.steps += steps

    def check(self, steps: int) -> None:
        """Count steps; raise OutOfTime if the limit is reached."""
        self.count(steps)
        if self.over():
            raise OutOfTime(self.reason())

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count the time of the `with` block for this phase."""
        self._add_time()
        self._running.append(name)
        try:
            yield
        finally:
            self._add_time()
            self._running.pop()

    def _add_time(self) -> None:
        now = perf_counter()
        if self._running:
            self.seconds[self._running[-1]] = self.seconds.get(self._running[-1], 0.0) + now - self._since
        self._since = now


def _share(used: float, limit: float | None) -> float:
    return 0.0 if limit is None else used / limit if limit > 0 else 1.0
