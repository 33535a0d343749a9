"""Progress on stderr: a line for each finished piece of work, or, where nothing can be counted, for each phase."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

from circuits.clock import Clock
from theory.system.messages import tell

FIRST_LINE, NEXT_LINES = 5.0, 15.0
"""Seconds after which a computation of unknown length says what it does, and between its later lines."""


class Progress:
    """Counter of the pieces of a long computation; time left is estimated from the pieces done so far."""

    def __init__(self, what: str, total: int) -> None:
        """Print the number of pieces, unless it is 0."""
        self.what, self.total, self.done, self.started = what, total, 0, monotonic()
        if total:
            tell(f"{what}: {total} to do")

    def step(self, name: str) -> None:
        """Count one more finished piece and print a line."""
        self.done += 1
        elapsed = monotonic() - self.started
        left = elapsed / self.done * (self.total - self.done)
        tell(f"{self.what}: {self.done}/{self.total} {name} ({elapsed:.0f} s, about {left:.0f} s left)")


@contextmanager
def phases_told(work: str, clock: Clock) -> Iterator[None]:
    """Print the phase that the clock's computation is in, now and then, while the `with` block takes long."""
    ended = Event()
    started = monotonic()

    def report() -> None:
        wait = FIRST_LINE
        while not ended.wait(wait):
            tell(f"{work}: at work for {monotonic() - started:.0f} s; phase: {clock.running or 'start'}")
            wait = NEXT_LINES

    teller = Thread(target=report, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
