"""Timing of two ways to do the same thing, in turn."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np


@dataclass(frozen=True, kw_only=True)
class TimingComparison:
    """Times of the project and of an alternative, measured in turn, a round each.

    Attributes:
        question: the work that is timed.
        ours: seconds of the project in each round.
        alternative: name of the alternative.
        theirs: seconds of the alternative in each round; at least one, and at most as many as those of the project.
    """

    question: str
    ours: tuple[float, ...]
    alternative: str
    theirs: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Speed of the project against that of the alternative, of their median times."""
        return median(self.theirs) / median(self.ours)

    @property
    def spread(self) -> tuple[float, float]:
        """Quartiles of the ratios of single rounds: a slow moment of the machine changes neither."""
        ratios = [theirs / ours for ours, theirs in zip(self.ours, self.theirs, strict=False)]
        low, high = np.percentile(ratios, (25, 75)).tolist()
        return low, high

    def __str__(self) -> str:
        """Line with the ratio of the two times."""
        return (
            f"{self.question}: {self.ratio:.2f}x the speed of {self.alternative} "
            f"({1000 * median(self.ours):.1f} ms against {1000 * median(self.theirs):.1f} ms)"
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
    return TimingComparison(question=question, ours=tuple(times[0]), alternative=alternative, theirs=tuple(times[1]))
