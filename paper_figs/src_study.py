"""SRC by scale of every built-in task, for the table of `lengthgen.paper_figs.src_by_scale`."""

from dataclasses import dataclass
from functools import lru_cache
from math import isinf

from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tasks import TASKS, TaskSpec

LARGEST = 6
"""Largest scale at which SRC is computed."""
HARD = ("addition-high-first", "multiplication-nn", "unaligned-addition")
"""Tasks whose search grows too fast: they use base 2 and scales up to 4."""
HARD_BASE, HARD_LARGEST = 2, 4


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """SRC of one task by scale, in the unaligned format.

    Attributes:
        name: title of the task, with its base if that is not the default.
        arity: least arity that determines every step of the first half of the scales.
        bounds: map from scale to (lower, upper) bound.
        status: status as in `lengthgen.circuits.src.SRCResult`.
    """

    name: str
    arity: int
    bounds: dict[int, tuple[float, float]]
    status: str

    @property
    def course(self) -> str:
        """Trend of SRC over the scales, in words: constant, grows, infinite from a scale, or not decided."""
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
    """Compute SRC of all built-in tasks, in their order."""
    return tuple(_complexity(task) for task in TASKS)


def _complexity(task: str) -> Complexity:
    hard = task in HARD
    largest = HARD_LARGEST if hard else LARGEST
    spec = TaskSpec(name=task, base=HARD_BASE if hard else None)
    loaded, name = spec.plain(), spec.title
    traces = traces_up_to(loaded, largest)
    # If later scales need a larger arity than the first half, no fixed arity is enough.
    arity = minimal_arity(traces[: (len(traces) + 1) // 2])
    assert arity is not None, "tasks of the project begin with steps of few arguments"
    if loaded.right is not None:
        result = choice_src(loaded, largest, arity)
    else:
        result = src(loaded, traces, arity, largest=largest)
    if result.failed:
        raise SolverFailed(f"task '{name}': {result.stopped}")
    return Complexity(name=name, arity=arity, bounds=dict(result.bounds), status=result.status)
