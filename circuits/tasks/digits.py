"""Tasks over digits: token numbers below the base are the digits, and the task's other symbols follow."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.task import Reference, Step, Task, TaskError, Tokens

Numbers = NDArray[np.uint16]
"""Digits of many inputs, [positions, inputs].

16 bits hold a number of two digits, and the product of two digits plus a third: each is less than
base**2 <= 252**2 < 2**16.
"""
Integers = NDArray[np.integer[Any]]
"""Results of arithmetic on digits, [positions, inputs]."""


def digits_of(name: str, base: int, marks: str) -> tuple[str, ...]:
    """Return the digits below a base as symbols, for a task whose other symbols are `marks` and '$'.

    Raise TaskError if the base is below 2, or needs more symbols than there are token numbers.
    """
    if not 2 <= base <= MAX_SYMBOLS - len(marks) - 1:
        raise TaskError(f"task '{name}': the base must be 2 to {MAX_SYMBOLS - len(marks) - 1}, not {base}")
    return tuple(map(str, range(base)))


def one_operand(n: int, digits: tuple[str, ...]) -> list[Sequence[str]]:
    """Return the choices of the prompt `x1 .. xn =`."""
    return [*[digits] * n, "="]


def digit_task(
    *,
    name: str,
    base: int,
    marks: str = "=",
    prompt: Callable[[int, tuple[str, ...]], Sequence[Sequence[str] | EllipsisType]] = one_operand,
    vectorised: Callable[[Numbers], Integers],
    arity: int = 0,
    steps: Callable[[int], Sequence[Step]] | None = None,
    apply: Callable[[str, tuple[str, ...]], str] | None = None,
    **more: Any,
) -> Task:
    """Return a task whose output is computed by arithmetic on the digits of its prompt, and ends with '$'.

    Args:
        name: name of the task.
        base: digits are 0..base - 1.
        marks: the prompt's symbols besides digits, one character each.
        prompt: function from n and the digits to the choices at each position; by default `x1 .. xn =`.
        vectorised: function from the digits of many prompts, marks left out, uint16 [digits, inputs], to the digits of
            their outputs, integers [output digits, inputs]. An output ends at the token number of '$', if it has it.
        arity: slots of the reference circuit's operators (`Reference`).
        steps: steps of the reference circuit; None if no bounded arity is enough.
        apply: operators of the reference circuit.
        more: further fields of the `Task`.

    Raises:
        TaskError: the base is below 2, or needs more symbols than there are token numbers.
    """
    digits = digits_of(name, base, marks)
    alphabet = (*digits, *marks, "$")

    def generate(symbols: tuple[str, ...]) -> list[str]:
        numbers = [int(symbol) for symbol in symbols if symbol not in marks]
        output = [alphabet[number] for number in vectorised(np.array([numbers], dtype=np.uint16).T)[:, 0]]
        return [*takewhile("$".__ne__, output), "$"]

    def fast(prompts: Tokens) -> Integers:
        # All prompts of a scale have their marks at the same positions.
        output = vectorised(prompts.T[prompts[0] < base].astype(np.uint16))
        return np.concatenate([output, np.full((1, len(prompts)), len(alphabet) - 1, dtype=np.uint16)]).T

    if steps is not None and apply is not None:
        more["reference"] = Reference(arity=arity, steps=steps, apply=apply)
    return Task(
        name=name, alphabet=alphabet, prompt=lambda n: prompt(n, digits), generate=generate, vectorised=fast, **more
    )
