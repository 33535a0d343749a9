"""SRC by scale of every task that comes with the project, as a table and a figure show it."""

from dataclasses import dataclass
from functools import lru_cache
from math import isinf

from circuits.sat import SolverFailed
from circuits.src import minimal_arity, src, traces_up_to
from circuits.tasks import TASKS, TaskSpec

LARGEST = 6
"""Scale up to which SRC is computed."""
HARD = ("addition-high-first", "multiplication-nn", "unaligned-addition")
"""Tasks whose search grows too fast for that: with two digits, and up to scale 4."""
HARD_BASE, HARD_LARGEST = 2, 4


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """SRC of one task, unaligned.

    Attributes:
        name: with its digits if they are not the usual ones.
        arity: the least that determines every step of the first half of the scales.
        bounds: scale -> (lower, upper).
        status: as in `circuits.src.SRCResult`.
    """

    name: str
    arity: int
    bounds: dict[int, tuple[float, float]]
    status: str

    @property
    def course(self) -> str:
        """Course of SRC over the scales looked at, in words."""
        if not all(low == high for low, high in self.bounds.values()):
            return "not decided"
        values = {scale: low for scale, (low, _) in self.bounds.items()}
        infinite = [scale for scale, value in values.items() if isinf(value)]
        if infinite:
            return f"infinite from {infinite[0]}"
        last = max(values)
        since = min(scale for scale in values if all(values[later] == values[last] for later in range(scale, last + 1)))
        if since == 1:
            return "constant"
        return "grows" if since == last else f"constant from {since}"


@lru_cache(maxsize=1)
def complexities() -> tuple[Complexity, ...]:
    """SRC of all tasks, in their order."""
    return tuple(_complexity(task) for task in TASKS)


def _complexity(task: str) -> Complexity:
    hard = task in HARD
    largest = HARD_LARGEST if hard else LARGEST
    spec = TaskSpec(name=task, base=HARD_BASE if hard else None)
    loaded, name = spec.plain(), spec.title
    traces = traces_up_to(loaded, largest)
    # Where later scales need more than the first half does, no fixed arity is enough.
    arity = minimal_arity(traces[: (len(traces) + 1) // 2])
    assert arity is not None, "tasks of the project begin with steps of few arguments"
    result = src(loaded, traces, arity, largest=largest)
    if result.failed:
        raise SolverFailed(f"task '{name}': {result.stopped}")
    return Complexity(name=name, arity=arity, bounds=dict(result.bounds), status=result.status)
