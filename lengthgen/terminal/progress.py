"""Progress on stderr: on a terminal a line for each finished piece of work, elsewhere at most a line a minute.

Where nothing can be counted, the phase is told now and then.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

from lengthgen.circuits.clock import Clock
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.messages import tell
from lengthgen.infrastructure.processes import interrupts_left, pool

Key = TypeVar("Key")
Result = TypeVar("Result")

FIRST_LINE, NEXT_LINES = 5.0, 15.0
"""Seconds after which a computation of unknown length says what it does, and between its later lines."""
EVERY = 60.0
"""Seconds between two lines where nobody watches."""
SHARE, SOON = 0.05, 2.0
"""Part of the work that must be done, or else EVERY seconds, and least time in seconds, before an estimate is told."""


def seconds_left(done: float, total: float, elapsed: float) -> float | None:
    """Estimate the seconds to the end from the work done so far; None while that says too little."""
    if done <= 0 or elapsed < SOON or (done < SHARE * total and elapsed < EVERY):
        return None
    return elapsed / done * (total - done)


def watched() -> bool:
    """True if somebody watches: stderr is a terminal."""
    return sys.stderr.isatty()


class Progress:
    """Counter of the pieces of a long computation."""

    def __init__(self, work: str, total: int, pieces: str) -> None:
        """Print what is computed and the number of pieces ("epochs"), unless it is 0."""
        self.work, self.total, self.pieces, self.done = work, total, pieces, 0
        self.started = self.told = monotonic()
        if total:
            tell(f"{work}: {total:,} {pieces} to do")

    def step(self, name: str) -> None:
        """Count one more finished piece, by its name."""
        self.reach(self.done + 1, name)

    def reach(self, done: int, name: str = "") -> None:
        """Set the number of finished pieces; `name` is the last of them.

        Where nobody watches, one line a minute is printed, and one at the end of work of more than a minute.
        """
        self.done = done
        now = monotonic()
        ended = self.done == self.total and now - self.started >= EVERY
        if not (watched() or ended or now - self.told >= EVERY):
            return
        self.told = now
        elapsed = now - self.started
        left = seconds_left(self.done, self.total, elapsed)
        ending = f", about {left:.0f} s left" if left is not None and self.done < self.total else ""
        last = f", the last {name}" if name else ""
        tell(f"{self.work}: {self.done:,} of {self.total:,} {self.pieces}{last} ({elapsed:.0f} s{ending})")


@contextmanager
def phases_told(work: str, clock: Clock) -> Iterator[None]:
    """Print the phase that the clock's computation is in, now and then, while the `with` block takes long."""
    ended = Event()
    started = monotonic()

    def report() -> None:
        wait = FIRST_LINE
        later = NEXT_LINES if watched() else EVERY
        while not ended.wait(wait):
            tell(f"{work}: at work for {monotonic() - started:.0f} s; phase: {clock.running or 'start'}")
            wait = later

    teller = Thread(target=report, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def as_they_end(
    jobs: Mapping[Key, Callable[[], Result]], processes: int, *, work: str, then: str = "run the command again to go on"
) -> Iterator[tuple[Key, Result]]:
    """Yield key and result of each job as it ends; they are done by parallel processes.

    LengthgenError if a process was ended: a process that WORK ("drew figures") was ended, and what the user does THEN.
    """
    with pool(min(processes, len(jobs))) as workers:
        with interrupts_left():
            futures = {workers.submit(job): key for key, job in jobs.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise LengthgenError(f"a process that {work} was ended, perhaps out of memory: {then}") from None
