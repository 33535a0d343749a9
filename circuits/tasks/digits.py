"""Tasks over digits: token numbers below the base are the digits, and the task's other symbols follow."""

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.task import Task, TaskError, Tokens

Numbers = NDArray[np.uint16]
"""Digits of many inputs, [positions, inputs].

16 bits hold a number of two digits, and the product of two digits plus a third: each is less than
base**2 <= 252**2 < 2**16.
"""
Integers = NDArray[np.integer[Any]]
"""Results of arithmetic on digits, [positions, inputs]."""


def digits_of(name: str, base: int, marks: str) -> tuple[str, ...]:
    """Return the digits below a base, of a task with some other symbols and '$'.

    Raises:
        TaskError: the base is below 2, or needs more symbols than there are token numbers.
    """
    if not 2 <= base <= MAX_SYMBOLS - len(marks) - 1:
        raise TaskError(f"task '{name}': the base must be 2 to {MAX_SYMBOLS - len(marks) - 1}, not {base}")
    return tuple(str(digit) for digit in range(base))


def one_operand(n: int, digits: tuple[str, ...]) -> list[Sequence[str]]:
    """Return the choices of the prompt `x1 .. xn =`."""
    return [*[digits] * n, "="]


def digit_task(
    *,
    name: str,
    base: int,
    marks: str = "=",
    prompt: Callable[[int, tuple[str, ...]], Sequence[Sequence[str] | EllipsisType]] = one_operand,
    generate: Callable[[list[int]], list[int]],
    vectorised: Callable[[Numbers], Integers],
    **more: Any,
) -> Task:
    """Return a task whose output is computed by arithmetic on the digits of its prompt, and ends with '$'.

    Args:
        name: name of the task.
        base: digits are 0..base - 1.
        marks: the prompt's symbols besides digits, one character each.
        prompt: function from n and the digits to the choices at each position; by default `x1 .. xn =`.
        generate: function from the digits of one prompt, marks left out, to the digits of its output.
        vectorised: the same for many prompts, from uint16 [digits, inputs] to integers [output digits, inputs].
        more: further fields of the `Task`, such as its reference circuit if a bounded arity is enough.

    Raises:
        TaskError: the base is below 2, or needs more symbols than there are token numbers.
    """
    digits = digits_of(name, base, marks)

    def plain(symbols: tuple[str, ...]) -> list[str]:
        return [*(digits[digit] for digit in generate([int(symbol) for symbol in symbols if symbol not in marks])), "$"]

    def fast(prompts: Tokens) -> Integers:
        output = vectorised(prompts.T[prompts[0] < base].astype(np.uint16))
        return np.concatenate([output, np.full((1, len(prompts)), base + len(marks), dtype=np.uint16)]).T

    return Task(
        name=name,
        alphabet=(*digits, *marks, "$"),
        prompt=lambda n: prompt(n, digits),
        generate=plain,
        vectorised=fast,
        **more,
    )
