"""Majority: are most bits ones? With a running count, whose symbols grow with the scale, and in one step."""

import numpy as np

from lengthgen.circuits.task import Reference, Task, TaskError
from lengthgen.circuits.tasks.digits import digit_task


def majority_count(base: int = 21) -> Task:
    """`x1 .. xn = c1 .. cn y $`, x bits, c_t = x_1 + .. + x_t one token, y = 1 iff more than n/2 are ones.

    Only counts below `base` have a symbol, so the scale must be below `base`. Unit operators: the sum, where '=' as c
    counts 0 and '=' as x gives '$'; and, for each n, the test c > n/2. Tests that agree where both are defined may
    share a table. The arity is 2.
    """

    def prompt(n: int, digits: tuple[str, ...]) -> list[tuple[str, ...]]:
        if n >= base:
            raise TaskError(f"task 'majority-count': base {base} counts to {base - 1}; for scale {n} take {n + 1}")
        return [*[digits[:2]] * n, ("=",)]

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        counts = [("sum", (t, n + t)) for t in range(1, n + 1)]
        return [*counts, (f"more than half of {n}", (2 * n + 1, 2 * n + 1)), ("sum", (n + 1, n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        x, count = symbols
        if operator != "sum":
            return str(int(2 * int(count) > int(operator.rsplit(maxsplit=1)[-1])))
        if x == "=":
            return "$"
        total = int(x) + (0 if count == "=" else int(count))
        if int(x) > 1 or total >= base:
            raise ValueError("not a count")
        return str(total)

    def generate(x: list[int]) -> list[int]:
        return [*(sum(x[: t + 1]) for t in range(len(x))), int(2 * sum(x) > len(x))]

    return digit_task(
        name="majority-count",
        base=base,
        marks="=",
        prompt=prompt,
        generate=generate,
        vectorised=lambda x: np.concatenate([np.cumsum(x, axis=0), 2 * x.sum(axis=0, keepdims=True) > len(x)]),
        reference=Reference(arity=2, steps=steps, apply=apply),
    )


def majority_direct() -> Task:
    """`x1 .. xn = y $`, x bits, y = 1 iff more than n/2 are ones, in one step, which needs n arguments."""
    return digit_task(
        name="majority-direct",
        base=2,
        marks="=",
        prompt=lambda n, digits: [*[digits] * n, "="],
        generate=lambda x: [int(2 * sum(x) > len(x))],
        vectorised=lambda x: (2 * x.sum(axis=0, keepdims=True) > len(x)).astype(np.uint16),
        reference=None,
    )
