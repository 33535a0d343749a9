"""Copies and reversals of arXiv 2305.19466, as the paper's programs write them (`scripts/dataset_builders`).

The words of the instruction ("Copy:", "Reverse:") are left out, '=' stands for the separator and ',' for the token
[NEXT].  The scale is the number of symbols that are to be copied.  Symbols are numbers below 100.
"""

import random
from collections.abc import Callable, Sequence

import numpy as np

from lengthgen.circuits.task import Step, Task
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task

BASE = 100
"""Number of symbols of words of many symbols [P]; the paper has more of them where one symbol is repeated."""

Order = Callable[[int], Sequence[int]]
"""Function from the length of the word to the places of the word that are read, from 1, in order."""


def forward(n: int) -> Sequence[int]:
    """Return the places of a word from the first to the last."""
    return range(1, n + 1)


def backward(n: int) -> Sequence[int]:
    """Return the places of a word from the last to the first."""
    return range(n, 0, -1)


def twice(n: int) -> Sequence[int]:
    """Return the places of a word from the first to the last, two times."""
    return [*forward(n), *forward(n)]


def copied(name: str, *orders: Order, repeated: bool = False) -> Task:
    """`x1 .. xn = y1 .. yk $`, or `x1 .. xn = y1 .. yk , z1 .. zk $`: a word's symbols in one or two orders.

    Unit operator: the identity, where '=' gives ',' if there are two orders, and what comes last gives '$'. The arity
    is 1. With `repeated`, all symbols of a word are equal.
    """
    marks = {"=": "$"} if len(orders) == 1 else {"=": ",", ",": "$"}

    def steps(n: int) -> list[Step]:
        places = [*orders[0](n), n + 1]
        if len(orders) > 1:
            places += [*orders[1](n), n + 1 + len(places)]
        return [("identity", (place,)) for place in places]

    def vectorised(x: Numbers) -> Integers:
        comma = np.full((1, x.shape[1]), BASE, dtype=np.uint16)
        parts = [x[[place - 1 for place in order(len(x))]] for order in orders]
        return np.concatenate([parts[0], *(part for later in parts[1:] for part in (comma, later))])

    return digit_task(
        name=f"published-{name}",
        base=BASE,
        marks=",=",
        vectorised=vectorised,
        arity=1,
        steps=steps,
        apply=lambda _, symbols: marks.get(symbols[0]) or str(int(symbols[0])),
        valid=(lambda prompt: len(set(prompt)) == 2) if repeated else None,
        draw=(lambda n, source: [*[str(source.choice(range(BASE)))] * n, "="]) if repeated else None,
    )


def replaced() -> Task:
    """`a b , a .. a = b .. b $`: the symbol b as often as a stands after the comma; a and b differ.

    The paper writes "Replace a with b in a .. a". Unit operator: the identity, and '=' gives '$'. The arity is 1.
    """

    def draw(n: int, source: random.Random) -> list[str]:
        old, new = map(str, source.sample(range(BASE), 2))
        return [old, new, ",", *[old] * n, "="]

    return digit_task(
        name="published-copy-rdc",
        base=BASE,
        marks=",=",
        prompt=lambda n, digits: [digits, digits, ",", *[digits] * n, "="],
        vectorised=lambda x: x[[1] * (len(x) - 2)],
        arity=1,
        steps=lambda n: [*[("identity", (2,))] * n, ("identity", (n + 4,))],
        apply=lambda _, symbols: "$" if symbols[0] == "=" else str(int(symbols[0])),
        valid=lambda prompt: prompt[0] != prompt[1] and set(prompt[3:-1]) == {prompt[0]},
        draw=draw,
    )
