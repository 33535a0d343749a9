"""Selection of one digit of the operand: the first, the middle, the last, or any."""

from collections.abc import Callable
from dataclasses import replace

from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks.digits import digit_task


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
        marks="=",
        prompt=lambda n, digits: [*[digits] * n, "="],
        generate=lambda x: [x[place(len(x)) - 1]],
        vectorised=lambda x: x[[place(len(x)) - 1]],
        reference=Reference(
            arity=1,
            steps=lambda n: [("identity", (place(n),)), ("identity", (n + 1,))],
            apply=lambda _, symbols: "$" if symbols == ("=",) else str(int(symbols[0])),
        ),
    )
