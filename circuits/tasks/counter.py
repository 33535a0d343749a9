"""Running sums modulo the base, among them parity, and majorities: with all intermediate results or in one step."""

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lengthgen.circuits.task import Step, Task, TaskError, Tokens
from lengthgen.circuits.tasks.digits import digit_task


def counter(base: int = 5) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y_t = (y_(t-1) + x_t) mod base, y_0 = 0.

    Unit operator: the sum modulo the base; '=' as y counts 0, and '=' as x gives '$'. The arity is 2.
    """
    return digit_task(
        name="counter",
        base=base,
        vectorised=lambda x: np.cumsum(x, axis=0) % base,
        arity=2,
        steps=lambda n: [("sum", (t, n + t)) for t in range(1, n + 2)],
        apply=sum_modulo(base),
    )


def parity() -> Task:
    """`x1 .. xn = y1 .. yn $` over bits, y_t = x_1 xor .. xor x_t.

    Unit operator: y_t = y_(t-1) xor x_t, where '=' as y counts 0 and '=' as x gives '$'. The arity is 2.
    """
    return replace(counter(2), name="parity")


def parity_sparse() -> Task:
    """`x1 .. xn = y1 .. yn $` over bits, y_t = x_1 xor .. xor x_t; each bit is 1 with probability 1/n.

    The task of `parity` with another input distribution: one 1 is expected at every scale, so that long prompts differ
    from short ones in more than their length. SRC is that of `parity`, since the prompts are the same.
    """

    def draw(n: int, source: random.Random) -> list[str]:
        return [*("1" if source.random() * n < 1 else "0" for _ in range(n)), "="]

    def vectorised_draw(n: int, count: int, rng: np.random.Generator) -> Tokens:
        prompts = np.full((n + 1, count), alphabet.index("="), dtype=np.uint8)
        prompts[:n] = rng.random((n, count)) * n < 1
        return prompts.T

    dense = counter(2)
    alphabet = dense.alphabet
    return replace(dense, name="parity-sparse", draw=draw, vectorised_draw=vectorised_draw)


def parity_online() -> Task:
    """`x1 y1 x2 y2 .. xn yn $` over bits, y_t = x_1 xor .. xor x_t: each input comes after the output before it.

    Unit operators: y_1 = x_1, y_t = y_(t-1) xor x_t, and the end, which reads the last position; the arity is 2.
    """

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        x, y = symbols
        return {"first": x, "end": "$"}.get(operator) or str((int(x) + int(y)) % 2)

    return digit_task(
        name="parity-online",
        base=2,
        marks="",
        prompt=lambda n, digits: [digits, ...] * n,
        vectorised=lambda x: np.cumsum(x, axis=0) % 2,
        arity=2,
        steps=lambda n: [
            ("first", (1, 1)),
            *(("sum", (2 * t - 1, 2 * t - 2)) for t in range(2, n + 1)),
            ("end", (2 * n, 2 * n)),
        ],
        apply=apply,
    )


def parity_direct() -> Task:
    """`x1 .. xn = y $` over bits, y = x_1 xor .. xor x_n in one step, which needs n arguments."""
    return digit_task(
        name="parity-direct", base=2, vectorised=lambda x: np.bitwise_xor.reduce(x, axis=0, keepdims=True)
    )


def sum_modulo(base: int) -> Callable[[str, tuple[str, ...]], str]:
    """Return the unit operator of running sums modulo the base, on x and y: '=' as y counts 0, '=' as x gives '$'."""

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        x, y = symbols
        return "$" if x == "=" else str((int(x) + (0 if y == "=" else int(y))) % base)

    return apply


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

    def steps(n: int) -> list[Step]:
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

    return digit_task(
        name="majority-count",
        base=base,
        prompt=prompt,
        vectorised=lambda x: np.concatenate([np.cumsum(x, axis=0), 2 * x.sum(axis=0, keepdims=True) > len(x)]),
        arity=2,
        steps=steps,
        apply=apply,
    )


def majority_direct() -> Task:
    """`x1 .. xn = y $`, x bits, y = 1 iff more than n/2 are ones, in one step, which needs n arguments."""
    return digit_task(
        name="majority-direct",
        base=2,
        vectorised=lambda x: (2 * x.sum(axis=0, keepdims=True) > len(x)).astype(np.uint16),
    )
