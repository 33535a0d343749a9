"""Running sums modulo the base, including parity with all intermediate results; and parity without them."""

import numpy as np

from circuits.task import Reference, Task
from circuits.tasks.digits import digit_task


def counter(base: int = 5) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y_t = (y_(t-1) + x_t) mod base, y_0 = 0.

    Unit operator: the sum modulo the base; '=' as y counts 0, and '=' as x gives '$'. The arity is 2.
    """
    return _running_sum("counter", base)


def parity() -> Task:
    """`x1 .. xn = y1 .. yn $` over bits, y_t = x_1 xor .. xor x_t.

    Unit operator: y_t = y_(t-1) xor x_t, where '=' as y counts 0 and '=' as x gives '$'. The arity is 2.
    """
    return _running_sum("parity", 2)


def parity_direct() -> Task:
    """`x1 .. xn = y $` over bits, y = x_1 xor .. xor x_n in one step, which needs n arguments."""
    return digit_task(
        name="parity-direct",
        base=2,
        marks="=",
        prompt=lambda n, digits: [*[digits] * n, "="],
        generate=lambda x: [sum(x) % 2],
        vectorised=lambda x: np.bitwise_xor.reduce(x, axis=0, keepdims=True),
        reference=None,
    )


def _running_sum(name: str, base: int) -> Task:
    """Return the task of running sums modulo the base."""

    def generate(x: list[int]) -> list[int]:
        output: list[int] = []
        for digit in x:
            output.append(((output[-1] if output else 0) + digit) % base)
        return output

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        x, y = symbols
        return "$" if x == "=" else str((int(x) + (0 if y == "=" else int(y))) % base)

    return digit_task(
        name=name,
        base=base,
        marks="=",
        prompt=lambda n, digits: [*[digits] * n, "="],
        generate=generate,
        vectorised=lambda x: np.cumsum(x, axis=0) % base,
        reference=Reference(arity=2, steps=lambda n: [("sum", (t, n + t)) for t in range(1, n + 2)], apply=apply),
    )
