"""Sorting: with the trace of a sorting network, and in one step."""

import numpy as np

from lengthgen.circuits.task import Step, Task
from lengthgen.circuits.tasks.digits import Numbers, digit_task


def sort_trace(base: int = 10) -> Task:
    """`x1 .. xn = r1 .. rn $` over digits below `base`, r_k all n digits after round k of odd-even transposition.

    Odd rounds compare the places (1, 2), (3, 4), ..., even rounds (2, 3), (4, 5), ..., and exchange digits that are not
    in order; after n rounds the digits ascend (Knuth, TAOCP 3, 5.3.4). Unit operators: minimum and maximum of two; two
    '=' give '$'. The arity is 2.
    """

    def steps(n: int) -> list[Step]:
        operations: list[Step] = []
        for number in range(n):
            row = number * n + (1 if number else 0)  # offset of the row that the round reads
            for place in range(n):
                first = place if (place - number) % 2 == 0 else place - 1
                if 0 <= first < n - 1:
                    operator = "minimum" if place == first else "maximum"
                    operations.append((operator, (row + first + 1, row + first + 2)))
                else:
                    operations.append(("minimum", (row + place + 1, row + place + 1)))
        return [*operations, ("minimum", (n + 1, n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        if symbols == ("=", "="):
            return "$"
        return str((min if operator == "minimum" else max)(map(int, symbols)))

    def vectorised(x: Numbers) -> Numbers:
        rows = [x]
        for number in range(len(x)):
            row = rows[-1].copy()
            low, high = row[number % 2 : -1 : 2], row[number % 2 + 1 :: 2]
            low[:], high[:] = np.minimum(low, high), np.maximum(low, high)
            rows.append(row)
        return np.concatenate(rows[1:])

    return digit_task(name="sort-trace", base=base, vectorised=vectorised, arity=2, steps=steps, apply=apply)


def sort_direct(base: int = 3) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y the digits ascending, in one step: needs n arguments."""
    return digit_task(name="sort-direct", base=base, vectorised=lambda x: np.sort(x, axis=0))
