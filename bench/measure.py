"""Timing of two ways to do the same thing, in turn."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True, kw_only=True)
class TimingComparison:
    """Median times of the project and of an alternative, measured in turn.

    Attributes:
        question: the work that is timed.
        ours: seconds of the project.
        alternative: name of the alternative.
        theirs: seconds of the alternative.
    """

    question: str
    ours: float
    alternative: str
    theirs: float

    def __str__(self) -> str:
        """Line with the ratio of the two times."""
        return (
            f"{self.question}: {self.theirs / self.ours:.2f}x the speed of {self.alternative} "
            f"({1000 * self.ours:.1f} ms against {1000 * self.theirs:.1f} ms)"
        )


def compare(
    question: str, ours: Callable[[], object], alternative: str, theirs: Callable[[], object], *, rounds: int = 7
) -> TimingComparison:
    """Time both functions in turn, after one warm-up call each, so that a slow moment of the machine affects both."""
    ours()
    theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for function, seconds in zip((ours, theirs), times, strict=True):
            start = perf_counter()
            function()
            seconds.append(perf_counter() - start)
    return TimingComparison(question=question, ours=median(times[0]), alternative=alternative, theirs=median(times[1]))
