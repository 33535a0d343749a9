"""Sorting: with the trace of a sorting network, and in one step."""

import numpy as np

from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks.digits import Numbers, digit_task


def sort_trace(base: int = 10) -> Task:
    """`x1 .. xn = r1 .. rn $` over digits below `base`, r_k all n digits after round k of odd-even transposition.

    Odd rounds compare the places (1, 2), (3, 4), ..., even rounds (2, 3), (4, 5), ..., and exchange digits that are not
    in order; after n rounds the digits ascend (Knuth, TAOCP 3, 5.3.4). Unit operators: minimum and maximum of two; two
    '=' give '$'. The arity is 2.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        operations = []
        for number in range(n):
            before = number * n + (1 if number else 0)  # offset of the row that the round reads
            operations += [
                (operator, (before + low + 1, before + high + 1)) for operator, low, high in _comparisons(n, number)
            ]
        return [*operations, ("minimum", (n + 1, n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        if symbols == ("=", "="):
            return "$"
        return str((min if operator == "minimum" else max)(map(int, symbols)))

    def generate(x: list[int]) -> list[int]:
        row, output = list(x), []
        for number in range(len(x)):
            for place in range(number % 2, len(x) - 1, 2):
                row[place : place + 2] = sorted(row[place : place + 2])
            output += row
        return output

    def vectorised(x: Numbers) -> Numbers:
        rows = [x]
        for number in range(len(x)):
            row = rows[-1].copy()
            low, high = row[number % 2 : -1 : 2], row[number % 2 + 1 :: 2]
            low[:], high[:] = np.minimum(low, high), np.maximum(low, high)
            rows.append(row)
        return np.concatenate(rows[1:])

    return digit_task(
        name="sort-trace",
        base=base,
        generate=generate,
        vectorised=vectorised,
        reference=Reference(arity=2, steps=steps, apply=apply),
    )


def sort_direct(base: int = 3) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y the digits ascending, in one step: needs n arguments."""
    return digit_task(
        name="sort-direct",
        base=base,
        generate=sorted,
        vectorised=lambda x: np.sort(x, axis=0),
    )


def _comparisons(n: int, number: int) -> list[tuple[str, int, int]]:
    """Return, for each place after a round: minimum or maximum, and the two places compared. All are counted from 0."""
    operations = []
    for place in range(n):
        first = place if (place - number) % 2 == 0 else place - 1
        if 0 <= first < n - 1:
            operations.append(("minimum" if place == first else "maximum", first, first + 1))
        else:
            operations.append(("minimum", place, place))
    return operations
