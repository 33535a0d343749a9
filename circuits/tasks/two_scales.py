"""Tasks of two scales m and n, such as operands of m and of n digits ([F])."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any

from numpy.typing import NDArray

from lengthgen.circuits.task import Reference, Task, TaskError, Tokens

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

        Raise TaskError if a field is not as described in `Task`.
        """
        reference, draw = self.reference, self.draw
        changed: dict[str, Any] = {
            "name": f"{self.name}-{name}",
            "prompt": lambda k: self.prompt(*pairs(k)),
            "reference": replace(reference, steps=lambda k: reference.steps(*pairs(k))) if reference else None,
            "draw": (lambda k, source: draw(*pairs(k), source)) if draw else None,
        }
        return Task(**(vars(self) | changed))

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
