"""Breaking scale of several runs: the median of the scales at which they first fail."""

from collections.abc import Iterable
from math import inf, isinf
from statistics import median


def breaking_scale(first_failures: Iterable[int | None]) -> float | None:
    """Return the scale at which the runs of a cell break, by which half of them have failed; None if half never do.

    The median of the first failures of all runs that fit, where a run that never fails counts as infinite: the runs
    that fail do not speak for the others, and a cell breaks exactly if most of its runs do. Of two middle runs it is
    the mean, as the lower one would favour theories that predict early failures: 6 and 7 give 6.5, which equals no
    predicted scale.

    Args:
        first_failures: first scale at which each run that fits fails; None if it never does. May be empty.
    """
    failures = [inf if failure is None else failure for failure in first_failures]
    middle = median(failures) if failures else inf
    return None if isinf(middle) else middle
