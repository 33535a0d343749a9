"""Progress with time left: one line on stderr for each finished piece of work."""

from time import monotonic

from theory.system.messages import tell


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
