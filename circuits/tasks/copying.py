"""Copies of the operand: unchanged, reversed, shifted, up to a zero, after a start token, or one digit of it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.digits import digit_task


def copy(base: int = 2) -> Task:
    """`x1 .. xn = x1 .. xn $` over digits below `base`.

    Unit operator: the identity, and '=' gives '$'. The arity is 1.
    """
    return _read("copy", base, lambda n: list(range(1, n + 1)))


def reverse(base: int = 2) -> Task:
    """`x1 .. xn = xn .. x1 $` over digits below `base`. Unit operator and arity as in `copy`."""
    return _read("reverse", base, lambda n: list(range(n, 0, -1)))


def shift(base: int = 2) -> Task:
    """`x1 .. xn = x2 .. xn x1 $` over digits below `base`. Unit operator and arity as in `copy`."""
    return _read("shift", base, lambda n: [*range(2, n + 1), 1])


def unaligned_copy(base: int = 2) -> Task:
    """`> x1 .. xn = x1 .. xn $` over digits below `base`: the predecessor's [BOS] x = x [EOS] (arXiv 2410.08898).

    Unit operator and arity are those of `copy`.
    """
    return _read("unaligned-copy", base, lambda n: list(range(1, n + 1)), first=">")


def copy_until_zero(base: int = 2) -> Task:
    """`x1 .. xn = x1 .. xk $` over digits below `base`: the digits before the first 0, or all if there is no 0.

    Unit operator: the identity, where '0' and '=' give '$'. The arity is 1. The output ends early.
    """
    return digit_task(
        name="copy-until-zero",
        base=base,
        vectorised=lambda x: np.where(x == 0, base + 1, x),  # '$' is token base + 1; all after the first one is ignored
        arity=1,
        steps=lambda n: [("identity", (t,)) for t in range(1, n + 2)],
        apply=lambda _, symbols: "$" if symbols[0] in "0=" else str(int(symbols[0])),
        end="$",
    )


def select_first(base: int = 10) -> Task:
    """`x1 .. xn = x1 $` over digits below `base`. Unit operator: the identity, and '=' gives '$'; arity 1."""
    return _read("select-first", base, lambda n: [1])


def select_middle(base: int = 10) -> Task:
    """`x1 .. xn = xm $` over digits below `base`, m = ceil(n/2). Unit operator and arity as in `select-first`."""
    return _read("select-middle", base, lambda n: [(n + 1) // 2])


def select_last(base: int = 10) -> Task:
    """`x1 .. xn = xn $` over digits below `base`. Unit operator and arity as in `select-first`."""
    return _read("select-last", base, lambda n: [n])


def select_any(base: int = 10) -> Task:
    """`x1 .. xn = xt $` over digits below `base`, for any t: each digit of the operand is right.

    Training shows the middle digit, as in `select_middle`. A circuit may choose any, so that SRC is that of
    `select-first`.
    """

    def right(prompt: tuple[str, ...]) -> list[list[str]]:
        return [[digit, "$"] for digit in dict.fromkeys(prompt[:-1])]

    return replace(select_middle(base), name="select-any", right=right)


def _read(name: str, base: int, order: Callable[[int], list[int]], first: str = "") -> Task:
    """Return a task that writes its operand's digits at the places order(n), from 1; `first` precedes the operand."""
    return digit_task(
        name=name,
        base=base,
        marks=first + "=",
        prompt=lambda n, digits: [*first, *[digits] * n, "="],
        vectorised=lambda x: x[[place - 1 for place in order(len(x))]],
        arity=1,
        steps=lambda n: [("identity", (len(first) + place,)) for place in [*order(n), n + 1]],
        apply=lambda _, symbols: "$" if symbols[0] == "=" else str(int(symbols[0])),
    )
