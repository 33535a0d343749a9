"""SRC of a task of two scales, on a grid of them ([F]).

SRC(f, m, n) is the fewest unit operators of any circuit of one arity that is right at every pair of scales up to (m, n)
in both. It does not decrease in either scale. A pair at a time, in an order in which smaller pairs come first, the
scales up to (m, n) are the scales 1, 2, ... of an ordinary task, so that all of `lengthgen.circuits.src` applies.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.src import MAX_ARITY, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.two_scales import Pair, TwoScaleTask

MAX_PAIRS = 100
"""Largest number of pairs of scales of a grid."""
STATUSES = ("exact", "reference", "sampled", "bounds")  # the strongest first


@dataclass(frozen=True, kw_only=True)
class GridSRC:
    """SRC of a task of two scales.

    Attributes:
        arity: number of slots of every operator.
        bounds: (m, n) -> (lower, upper) bound of SRC(f, m, n); math.inf if no circuit exists or none is known.
        status: the weakest status of any pair, as in `lengthgen.circuits.src.SRCResult`.
        stopped: reason why the computation ended early; None if it did not.
    """

    arity: int
    bounds: Mapping[Pair, tuple[float, float]]
    status: str
    stopped: str | None


def grid_src(
    family: TwoScaleTask, m: int, n: int, arity: int | None = None, *, mode: str = "free", clock: Clock | None = None
) -> GridSRC:
    """Return SRC at every pair of scales up to (m, n), at one arity; None for the least that determines every step.

    Raise TaskError if there are more than MAX_PAIRS pairs, the task breaks its contract, or some step needs more than
    MAX_ARITY arguments and no arity is given.
    """
    if not 1 <= m * n <= MAX_PAIRS:
        raise TaskError(f"task '{family.name}': 1 to {MAX_PAIRS} pairs of scales at once, not {m} times {n}")
    clock = clock or Clock()
    if arity is None:
        arity = minimal_arity(traces_up_to(family.up_to(m, n), m * n, clock))
    if arity is None:
        raise TaskError(
            f"task '{family.name}': some step up to scales ({m}, {n}) needs more than {MAX_ARITY} arguments; "
            "choose an arity to get SRC = inf"
        )
    bounds: dict[Pair, tuple[float, float]] = {}
    status, stopped = STATUSES[0], None
    for pair in ((a, b) for a in range(1, m + 1) for b in range(1, n + 1)):
        count = math.prod(pair)
        task = family.up_to(*pair)
        result = src(task, traces_up_to(task, count, clock), arity, mode=mode, largest=count, clock=clock)
        smaller = [bounds[below][0] for below in ((pair[0] - 1, pair[1]), (pair[0], pair[1] - 1)) if below in bounds]
        low, high = result.bounds[count]
        bounds[pair] = max([low, *smaller]), high
        status = max(status, result.status, key=STATUSES.index)
        stopped = stopped or result.stopped
    return GridSRC(arity=arity, bounds=bounds, status=status, stopped=stopped)
