"""How two ways of doing the same thing are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Median seconds of ours and of the alternative, measured in turn."""

    question: str
    ours: float
    alternative: str
    theirs: float

    def __str__(self) -> str:
        return (
            f"{self.question}: {self.theirs / self.ours:.2f}x the speed of {self.alternative} "
            f"({1000 * self.ours:.1f} ms against {1000 * self.theirs:.1f} ms)"
        )


def compare(
    question: str, ours: Callable[[], object], alternative: str, theirs: Callable[[], object], *, rounds: int = 7
) -> Comparison:
    """Runs both once to warm up, then in turn, so that a slow moment of the machine meets both."""
    ours()
    theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for function, seconds in zip((ours, theirs), times, strict=True):
            start = perf_counter()
            function()
            seconds.append(perf_counter() - start)
    return Comparison(question=question, ours=median(times[0]), alternative=alternative, theirs=median(times[1]))
