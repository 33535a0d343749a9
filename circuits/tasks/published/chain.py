"""Chains of signs, the task LEGO of arXiv 2305.19466: `a = + 1, b = - a, c = + b. What is the value of b?`

A clause is three tokens here: the variable, the sign, and what the sign is put before. The words between are left out,
and the clauses stand in the order of the chain [F].
"""

import random
from dataclasses import replace
from itertools import accumulate
from string import ascii_lowercase

from lengthgen.circuits.task import Reference, Task, TaskError

SIGNS = ("+", "-")


def lego() -> Task:
    """`v1 s1 1 v2 s2 v1 .. vn sn v(n-1) ? q = y $`: the value y of the variable q, + for +1 and - for -1, at once.

    Variables are different letters. q is drawn from the second half of the chain, as in the paper.
    """

    def prompt(n: int) -> list[tuple[str, ...]]:
        if n > len(ascii_lowercase):
            raise TaskError(
                f"task 'published-lego': there are {len(ascii_lowercase)} variables; take scales up to that"
            )
        letters = tuple(ascii_lowercase)
        return [letters, SIGNS, ("1",), *[letters, SIGNS, letters] * (n - 1), ("?",), letters, ("=",)]

    def valid(prompt: tuple[str, ...]) -> bool:
        variables, sources, query = prompt[:-3:3], prompt[2:-3:3], prompt[-2]
        chained = len(set(variables)) == len(variables) and sources[1:] == variables[:-1]
        return chained and query in variables[_first_query(len(variables)) :]

    def draw(n: int, source: random.Random) -> list[str]:
        variables = source.sample(ascii_lowercase, n)
        clauses = zip(variables, source.choices(SIGNS, k=n), ["1", *variables[:-1]], strict=True)
        query = source.choice(variables[_first_query(n) :])
        return [*(token for clause in clauses for token in clause), "?", query, "="]

    return Task(
        name="published-lego",
        alphabet=(*ascii_lowercase, *SIGNS, "1", "?", "=", "$"),
        prompt=prompt,
        generate=lambda prompt: [_values_up_to_query(prompt)[-1], "$"],
        valid=valid,
        draw=draw,
    )


def lego_with_states() -> Task:
    """The task `lego` with the values of all variables up to q, in the order of the chain: `.. ? q = y1 .. yk $`.

    Unit operator: y_t = s_t y_(t-1), where '=' as y counts +1, and '$' after the value of q. The arity is 4.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        query, equals = 3 * n + 2, 3 * n + 3
        later = [("step", (min(3 * t + 2, 3 * n - 1), equals + t, 3 * t - 2, query)) for t in range(1, n + 1)]
        return [("step", (2, equals, equals, query)), *later]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        sign, before, variable, query = symbols
        if variable == query:
            return "$"
        return "+" if sign == (before if before in SIGNS else "+") else "-"

    return replace(
        lego(),
        name="published-lego-with-states",
        generate=lambda prompt: [*_values_up_to_query(prompt), "$"],
        end="$",
        reference=Reference(arity=4, steps=steps, apply=apply),
    )


def _first_query(n: int) -> int:
    """Return the first place of a chain of n variables, from 0, whose variable may be asked for."""
    return min(n - 1, (n + 1) // 2)


def _values_up_to_query(prompt: tuple[str, ...]) -> list[str]:
    """Return the values of the variables up to the one that is asked for."""
    values = accumulate(prompt[1:-3:3], lambda before, sign: "+" if before == sign else "-")
    return [value for value, _ in zip(values, range(1 + prompt[:-3:3].index(prompt[-2])), strict=False)]
