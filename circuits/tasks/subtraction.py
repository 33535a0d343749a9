"""Subtraction of two numbers of which the first is not smaller: some pairs of operands only are prompts."""

import numpy as np

from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks.digits import Numbers, digit_task


def subtraction(base: int = 2) -> Task:
    """`a1 .. an - b1 .. bn = c1 .. cn $`, low digit first, where a >= b.

    Unit operator on a_t, b_t, a_(t-1), b_(t-1), c_(t-1): the borrow out of t - 1 is recovered from the last three. '-'
    and '=' as digits before the first count 0; '-' as a_t gives '$'. The arity is 5.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        minus, equals = n + 1, 2 * n + 2
        return [
            (
                "difference",
                (t, minus + t, *((t - 1, minus + t - 1) if t > 1 else (equals, equals)), equals + t - 1),
            )
            for t in range(1, n + 2)
        ]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, a_before, b_before, c_before = symbols
        if a == "-":
            return "$"
        borrow = 0
        if a_before != "=":
            last = int(a_before) - int(b_before)
            old = (last - int(c_before)) % base
            if old > 1:
                raise ValueError("no such difference")
            borrow = int(last - old < 0)
        return str((int(a) - int(b) - borrow) % base)

    def generate(x: list[int]) -> list[int]:
        borrow, digits = 0, []
        for a, b in zip(x[: len(x) // 2], x[len(x) // 2 :], strict=True):
            borrow, digit = divmod(a - b - borrow, base)
            borrow = -borrow
            digits.append(digit)
        return digits

    def vectorised(x: Numbers) -> Numbers:
        n = len(x) // 2
        digits = np.empty((n, x.shape[1]), dtype=np.int64)
        borrow = np.zeros(x.shape[1], dtype=np.int64)
        for place in range(n):
            difference = x[place].astype(np.int64) - x[n + place] - borrow
            digits[place], borrow = difference % base, difference < 0
        return digits.astype(np.uint16)

    def valid(symbols: tuple[str, ...]) -> bool:
        n = len(symbols) // 2 - 1
        a, b = symbols[:n], symbols[n + 1 : -1]
        return [int(digit) for digit in reversed(a)] >= [int(digit) for digit in reversed(b)]

    return digit_task(
        name="subtraction",
        base=base,
        marks="-=",
        prompt=lambda n, digits: [*[digits] * n, "-", *[digits] * n, "="],
        generate=generate,
        vectorised=vectorised,
        reference=Reference(arity=5, steps=steps, apply=apply),
        valid=valid,
    )
