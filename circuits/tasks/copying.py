"""Copies of the operand: unchanged, reversed, shifted, up to a zero, after a start token, or one digit of it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task


def copy(base: int = 2) -> Task:
    """`x1 .. xn = x1 .. xn $` over digits below `base`.

    Unit operator: the identity, and '=' gives '$'. The arity is 1.
    """
    return _permuted("copy", base, lambda n: list(range(1, n + 1)))


def reverse(base: int = 2) -> Task:
    """`x1 .. xn = xn .. x1 $` over digits below `base`. Unit operator and arity as in `copy`."""
    return _permuted("reverse", base, lambda n: list(range(n, 0, -1)))


def shift(base: int = 2) -> Task:
    """`x1 .. xn = x2 .. xn x1 $` over digits below `base`. Unit operator and arity as in `copy`."""
    return _permuted("shift", base, lambda n: [*range(2, n + 1), 1])


def unaligned_copy(base: int = 2) -> Task:
    """`> x1 .. xn = x1 .. xn $` over digits below `base`: the predecessor's [BOS] x = x [EOS] (arXiv 2410.08898).

    Unit operator and arity are those of `copy`.
    """
    return _permuted("unaligned-copy", base, lambda n: list(range(1, n + 1)), first=">")


def copy_until_zero(base: int = 2) -> Task:
    """`x1 .. xn = x1 .. xk $` over digits below `base`: the digits before the first 0, or all if there is no 0.

    Unit operator: the identity, where '0' and '=' give '$'. The arity is 1. The output ends early.
    """

    def generate(x: list[int]) -> list[int]:
        return x[: x.index(0)] if 0 in x else x

    def vectorised(x: Numbers) -> Integers:
        return np.where(x == 0, base + 1, x)  # '$' is token base + 1; all that follows the first one is ignored

    return digit_task(
        name="copy-until-zero",
        base=base,
        generate=generate,
        vectorised=vectorised,
        reference=Reference(
            arity=1,
            steps=lambda n: [("identity", (t,)) for t in range(1, n + 2)],
            apply=lambda _, symbols: "$" if symbols[0] in "0=" else str(int(symbols[0])),
        ),
        end="$",
    )


def _permuted(name: str, base: int, order: Callable[[int], list[int]], first: str = "") -> Task:
    """Return a task whose output position t holds the operand's digit order(n)[t - 1]."""

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        return [("identity", (len(first) + read,)) for read in [*order(n), n + 1]]

    return digit_task(
        name=name,
        base=base,
        marks=first + "=",
        prompt=lambda n, digits: [*first, *[digits] * n, "="],
        generate=lambda x: [x[read - 1] for read in order(len(x))],
        vectorised=lambda x: x[[read - 1 for read in order(len(x))]],
        reference=Reference(
            arity=1, steps=steps, apply=lambda _, symbols: {"=": "$"}.get(symbols[0]) or str(int(symbols[0]))
        ),
    )


def select_first(base: int = 10) -> Task:
    """`x1 .. xn = x1 $` over digits below `base`. Unit operator: the identity, and '=' gives '$'; arity 1."""
    return _select_task("select-first", base, lambda n: 1)


def select_middle(base: int = 10) -> Task:
    """`x1 .. xn = xm $` over digits below `base`, m = ceil(n/2). Unit operator and arity as in `select-first`."""
    return _select_task("select-middle", base, lambda n: (n + 1) // 2)


def select_last(base: int = 10) -> Task:
    """`x1 .. xn = xn $` over digits below `base`. Unit operator and arity as in `select-first`."""
    return _select_task("select-last", base, lambda n: n)


def select_any(base: int = 10) -> Task:
    """`x1 .. xn = xt $` over digits below `base`, for any t: each digit of the operand is right.

    Training shows the middle digit, as in `select_middle`. A circuit may choose any, so that SRC is that of
    `select-first`.
    """
    task = select_middle(base)

    def right(prompt: tuple[str, ...]) -> list[list[str]]:
        return [[digit, "$"] for digit in dict.fromkeys(prompt[:-1])]

    return replace(task, name="select-any", right=right)


def _select_task(name: str, base: int, place: Callable[[int], int]) -> Task:
    """Return the task whose output is the operand's digit number place(n), 1-based."""
    return digit_task(
        name=name,
        base=base,
        generate=lambda x: [x[place(len(x)) - 1]],
        vectorised=lambda x: x[[place(len(x)) - 1]],
        reference=Reference(
            arity=1,
            steps=lambda n: [("identity", (place(n),)), ("identity", (n + 1,))],
            apply=lambda _, symbols: "$" if symbols == ("=",) else str(int(symbols[0])),
        ),
    )
