"""Progress with time left: one line for each piece of work that ends, on stderr."""

from time import monotonic

from theory.system.messages import tell


class Progress:
    """Counts the pieces of one piece of long work; time left is judged from those done here."""

    def __init__(self, what: str, total: int) -> None:
        """Says what begins, unless there is nothing to do."""
        self.what, self.total, self.done, self.started = what, total, 0, monotonic()
        if total:
            tell(f"{what}: {total} to do")

    def step(self, name: str) -> None:
        """One more piece is done."""
        self.done += 1
        elapsed = monotonic() - self.started
        left = elapsed / self.done * (self.total - self.done)
        tell(f"{self.what}: {self.done}/{self.total} {name} ({elapsed:.0f} s, about {left:.0f} s left)")
