"""Tasks of two scales m and n, such as operands of m and of n digits, and their SRC on a grid ([F]).

SRC(f, m, n) is the fewest unit operators of any circuit of one arity that is right at every pair of scales up to (m, n)
in both. It does not decrease in either scale. A pair at a time, in an order in which smaller pairs come first, the
scales up to (m, n) are the scales 1, 2, ... of an ordinary task, so that all of `lengthgen.circuits.src` applies.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

from numpy.typing import NDArray

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.src import MAX_ARITY, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Reference, Task, TaskError, Tokens

MAX_PAIRS = 100
"""Largest number of pairs of scales of a grid."""

Pair = tuple[int, int]
"""Two scales (m, n), each at least 1."""


@dataclass(frozen=True, kw_only=True)
class TwoScaleTask:
    """Sequential task whose instances have two scales. Its fields are those of `lengthgen.circuits.task.Task`.

    Attributes:
        name, alphabet, generate, vectorised, end, valid, right: as in `Task`.
        prompt: function from m and n to the symbols allowed at each prompt position.
        reference: circuit of the task, whose function `steps` takes m and n; None if there is none.
        draw: function from m, n and a random.Random to one prompt.
    """

    name: str
    alphabet: tuple[str, ...]
    prompt: Callable[[int, int], Sequence[Sequence[str] | EllipsisType]]
    generate: Callable[[tuple[str, ...]], Sequence[str]]
    vectorised: Callable[[Tokens], NDArray[Any]] | None = None
    reference: Reference | None = None
    end: str | None = None
    valid: Callable[[tuple[str, ...]], bool] | None = None
    draw: Callable[[int, int, random.Random], Sequence[str]] | None = None
    right: Callable[[tuple[str, ...]], Sequence[Sequence[str]]] | None = None

    def along(self, pairs: Callable[[int], Pair], name: str) -> Task:
        """Return the ordinary task whose scale k is the pair `pairs(k)`, with "-NAME" added to its name.

        Raises:
            TaskError: a field is not as described in `Task`.
        """
        reference, draw = self.reference, self.draw
        return Task(
            name=f"{self.name}-{name}",
            alphabet=self.alphabet,
            prompt=lambda k: self.prompt(*pairs(k)),
            generate=self.generate,
            vectorised=self.vectorised,
            reference=reference and replace(reference, steps=lambda k: reference.steps(*pairs(k))),
            end=self.end,
            valid=self.valid,
            draw=draw and (lambda k, source: draw(*pairs(k), source)),
            right=self.right,
        )

    def with_first(self, m: int) -> Task:
        """Return the ordinary task of the scales (m, 1), (m, 2), ..."""
        return self.along(lambda n: (m, n), f"first-{m}")

    def with_second(self, n: int) -> Task:
        """Return the ordinary task of the scales (1, n), (2, n), ..."""
        return self.along(lambda m: (m, n), f"second-{n}")

    def up_to(self, m: int, n: int) -> Task:
        """Return the ordinary task whose scales 1 to m * n are the pairs up to (m, n), each after all smaller ones."""
        pairs = sorted(((a, b) for a in range(1, m + 1) for b in range(1, n + 1)), key=lambda pair: (sum(pair), pair))

        def pair(k: int) -> Pair:
            if k > len(pairs):
                raise TaskError(f"task '{self.name}': there are {len(pairs)} pairs of scales up to ({m}, {n})")
            return pairs[k - 1]

        return self.along(pair, f"up-to-{m}-{n}")


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


STATUSES = ("exact", "reference", "sampled", "bounds")
"""Status of a result, the strongest first."""


def grid_src(
    family: TwoScaleTask, m: int, n: int, arity: int | None = None, *, mode: str = "free", clock: Clock | None = None
) -> GridSRC:
    """Return SRC at every pair of scales up to (m, n), at one arity; None for the least that determines every step.

    Raises:
        TaskError: there are more than MAX_PAIRS pairs, the task breaks its contract, or some step needs more than
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
