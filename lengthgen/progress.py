"""Progress with time left: one line for each piece of work that ends, on stderr."""

import sys
from time import monotonic


class Progress:
    """Counts the pieces of one piece of long work; time left is judged from those done here."""

    def __init__(self, what: str, total: int) -> None:
        """Says what begins, unless there is nothing to do."""
        self.what, self.total, self.done, self.started = what, total, 0, monotonic()
        if total:
            self._say(f"{what}: {total} to do")

    def step(self, name: str) -> None:
        """One more piece is done."""
        self.done += 1
        elapsed = monotonic() - self.started
        left = elapsed / self.done * (self.total - self.done)
        self._say(f"{self.what}: {self.done}/{self.total} {name} ({elapsed:.0f} s, about {left:.0f} s left)")

    @staticmethod
    def _say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)
