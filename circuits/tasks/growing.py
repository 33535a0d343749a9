"""Controls whose SRC must grow: the function of a step depends on the number of the step."""

import math
from functools import lru_cache

import numpy as np

from lengthgen.circuits.task import Step, Task
from lengthgen.circuits.tasks.digits import Numbers, digit_task


def permutation(base: int = 5) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y_t = pi_t(x_t).

    pi_t is the t-th permutation of the digits in lexicographic order, repeated after base! steps. No two of them fit
    one operator of one argument, so SRC(n) = min(n, base!) at arity 1; '=' gives '$' in any of them.
    """

    def law(t: int) -> tuple[int, ...]:
        return _nth_permutation(base, (t - 1) % math.factorial(base))

    def steps(n: int) -> list[Step]:
        names = [f"permutation {(t - 1) % math.factorial(base) + 1}" for t in range(1, n + 1)]
        return [*((name, (t,)) for t, name in enumerate(names, start=1)), (names[0], (n + 1,))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        return "$" if symbols == ("=",) else str(law(int(operator.rsplit(maxsplit=1)[-1]))[int(symbols[0])])

    return digit_task(
        name="permutation",
        base=base,
        vectorised=lambda x: np.stack([np.array(law(t)).take(row) for t, row in enumerate(x, start=1)]),
        arity=1,
        steps=steps,
        apply=apply,
    )


@lru_cache(maxsize=1024)
def _nth_permutation(size: int, index: int) -> tuple[int, ...]:
    """Return the permutation of 0..size-1 with the given index in lexicographic order."""
    unused = list(range(size))
    result = []
    for remaining in range(size - 1, -1, -1):
        place, index = divmod(index, math.factorial(remaining))
        result.append(unused.pop(place))
    return tuple(result)


def log_shift(base: int = 10) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y_t = (x_t + floor(log2 t)) mod base.

    Unit operators: add k, one for every k that occurs; '=' gives '$' in any of them. The arity is 1. SRC(n) is the
    lesser of floor(log2 n) + 1 and the base.
    """

    def shift(t: int) -> int:
        return (t.bit_length() - 1) % base

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        return "$" if symbols == ("=",) else str((int(symbols[0]) + int(operator.rsplit(maxsplit=1)[-1])) % base)

    return digit_task(
        name="log-shift",
        base=base,
        vectorised=lambda x: np.stack([(row + shift(t)) % base for t, row in enumerate(x, start=1)]),
        arity=1,
        steps=lambda n: [*((f"add {shift(t)}", (t,)) for t in range(1, n + 1)), ("add 0", (n + 1,))],
        apply=apply,
    )


def scaled_sum(base: int = 7) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y_t = (x_t + t x_(t-1)) mod base, x_0 = 0.

    Unit operators on x_t, x_(t-1): add k times, 0 < k < base; two '=' give '$' in any of them. The arity is 2. If there
    is nothing to add, at the first step and at multiples of the base, any of them serves with '=' for x_(t-1), which
    counts 0. So SRC(n) is the number of distinct k = t mod base, k > 0, with t = 2..n, but at least 1.
    """

    def steps(n: int) -> list[Step]:
        idle = f"add times {2 if base > 2 else 1}"
        sums = [
            (f"add times {t % base}", (t, t - 1)) if t > 1 and t % base else (idle, (t, n + 1)) for t in range(1, n + 1)
        ]
        return [*sums, (idle, (n + 1, n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        x, before = symbols
        if x == "=":
            return "$"
        return str((int(x) + int(operator.rsplit(maxsplit=1)[-1]) * (0 if before == "=" else int(before))) % base)

    def vectorised(x: Numbers) -> Numbers:
        output = x.copy()
        for t in range(2, len(x) + 1):
            output[t - 1] = (x[t - 1] + t % base * x[t - 2]) % base
        return output

    return digit_task(name="scaled-sum", base=base, vectorised=vectorised, arity=2, steps=steps, apply=apply)
