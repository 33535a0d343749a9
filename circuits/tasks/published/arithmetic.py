"""Arithmetic, sorting and chains of signs of arXiv 2305.19466: the answer at once, and with steps as a reading.

The figure whose numbers are used (`appendix_showcase_1.pdf`) seems to have models without a scratchpad [F]: the program
of the paper's main figure takes such models for addition and summation, and beyond the lengths of training summation
falls to one in ten, the chance to guess a digit.  Words of the instruction are left out, and '=' stands for the
separator.  Bases are smaller than the paper's ten, so that all prompts of small scales can be tried [F].  Tasks with
steps write running results and nothing else; the paper's scratchpads are longer [F].

LEGO is a chain of signs, `a = + 1, b = - a, c = + b. What is the value of b?` A clause is three tokens here: the
variable, the sign, and what the sign is put before. The words between are left out, and the clauses stand in the order
of the chain [F].
"""

import random
from dataclasses import replace
from itertools import accumulate
from string import ascii_lowercase

import numpy as np

from lengthgen.circuits.task import Reference, Step, Task, TaskError
from lengthgen.circuits.tasks.addition import addition_carry
from lengthgen.circuits.tasks.counter import parity as running_parity
from lengthgen.circuits.tasks.counter import parity_direct, sum_modulo
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task
from lengthgen.circuits.tasks.sorting import sort_direct


def addition(base: int = 2) -> Task:
    """`a1 .. an + b1 .. bn = c1 .. ck $`: the sum, high digit first, without leading zeros, at once.

    The paper has operands of different lengths too; the larger one is its scale. Both have n digits here, since a
    `Task` has one layout at each scale [F].
    """
    digits = tuple(map(str, range(base)))

    def number(symbols: tuple[str, ...]) -> int:
        return int("".join(symbols), base)

    def generate(prompt: tuple[str, ...]) -> list[str]:
        n = len(prompt) // 2 - 1
        total = number(prompt[:n]) + number(prompt[n + 1 : -1])
        return [*np.base_repr(total, base), "$"]

    def prompt(n: int) -> list[tuple[str, ...]]:
        operand = [digits if n == 1 else digits[1:], *[digits] * (n - 1)]
        return [*operand, ("+",), *operand, ("=",)]

    return Task(
        name="published-addition-steps",
        alphabet=(*digits, "+", "=", "$"),
        prompt=prompt,
        generate=generate,
        end="$",
    )


def addition_with_states(base: int = 2) -> Task:
    """`a1 .. an + b1 .. bn = c1 k1 .. cn kn $`, low digit first, with the carry k after each digit c."""
    return replace(addition_carry(base), name="published-addition-steps-with-states")


def summation(base: int = 3) -> Task:
    """`x1 + .. + xn = y $`: the sum of digits of 1 to base - 1, modulo the base, at once."""
    return digit_task(
        name="published-summation",
        base=base,
        marks="+=",
        prompt=_terms,
        vectorised=lambda x: x.sum(axis=0, keepdims=True) % base,
    )


def summation_with_states(base: int = 3) -> Task:
    """`x1 + .. + xn = y1 .. yn $`: y_t is the sum of the first t digits, modulo the base.

    Unit operator: y_t = y_(t-1) + x_t, where '=' as y counts 0 and '=' as x gives '$'. The arity is 2.
    """
    return digit_task(
        name="published-summation-with-states",
        base=base,
        marks="+=",
        prompt=_terms,
        vectorised=lambda x: np.cumsum(x, axis=0) % base,
        arity=2,
        steps=lambda n: [("sum", (min(2 * t - 1, 2 * n), 2 * n + t - 1)) for t in range(1, n + 2)],
        apply=sum_modulo(base),
    )


def _terms(n: int, digits: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the prompt `x1 + .. + xn =` over positive digits."""
    return [digits[1:], *[("+",), digits[1:]] * (n - 1), ("=",)]


def parity() -> Task:
    """`x1 .. xn = y $`: y = 0 for an even number of ones ("Yes" in the paper) and 1 for an odd one, at once."""
    return replace(parity_direct(), name="published-parity-steps")


def parity_with_states() -> Task:
    """`x1 .. xn = y1 .. yn $`: the parity of each prefix."""
    return replace(running_parity(), name="published-parity-steps-with-states")


def sorting_single(base: int = 3) -> Task:
    """`x1 .. xn = y1 .. yn $`: symbols in ascending order, at once. The paper has 50 symbols."""
    return replace(sort_direct(base), name="published-sorting-single")


def sorting_multi(base: int = 2) -> Task:
    """`x1 x1' , x2 x2' .. = y1 y1' , y2 y2' .. $`: numbers in ascending order, at once, high digit first.

    Every number has two digits; those of the paper have 2 to 4 decimal ones.
    """

    def numbers(prompt: tuple[str, ...]) -> list[str]:
        return "".join(prompt[:-1]).split(",")

    digits = tuple(map(str, range(base)))
    return Task(
        name="published-sorting-multi",
        alphabet=(*digits, ",", "=", "$"),
        prompt=lambda n: [digits, digits, *[",", digits, digits] * (n - 1), "="],
        generate=lambda prompt: [*",".join(sorted(numbers(prompt))), "$"],
    )


def polynomial(base: int = 3) -> Task:
    """`x c1 d1 .. cn dn = y $`: y = c1 x^d1 + .. + cn x^dn modulo the base, at once.

    All numbers are digits below the base. The paper has coefficients of -3 to 3, degrees up to 3, x of -2 to 2, the
    modulus 10, and signs between the numbers.
    """
    return digit_task(
        name="published-polynomial",
        base=base,
        prompt=lambda n, digits: [*[digits] * (2 * n + 1), "="],
        vectorised=lambda x: np.cumsum(_powers(x, base), axis=0)[-1:] % base,
    )


def polynomial_with_states(base: int = 3) -> Task:
    """`x c1 d1 .. cn dn = y1 .. yn $`: y_t is the sum of the first t terms, modulo the base.

    Unit operator: y_t = y_(t-1) + c_t x^d_t, where '=' as y counts 0 and '=' as c gives '$'. The arity is 4.
    """

    def steps(n: int) -> list[Step]:
        terms = [("term", (1, 2 * t, 2 * t + 1, 2 * n + 1 + t)) for t in range(1, n + 1)]
        return [*terms, ("term", (1, 2 * n + 2, 2 * n + 2, 3 * n + 2))]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        x, coefficient, degree, before = symbols
        if coefficient == "=":
            return "$"
        return str(((0 if before == "=" else int(before)) + int(coefficient) * int(x) ** int(degree)) % base)

    return digit_task(
        name="published-polynomial-with-states",
        base=base,
        prompt=lambda n, digits: [*[digits] * (2 * n + 1), "="],
        vectorised=lambda x: np.cumsum(_powers(x, base), axis=0) % base,
        arity=4,
        steps=steps,
        apply=apply,
    )


def _powers(x: Numbers, base: int) -> Integers:
    """Return the terms of many `x c1 d1 ..`, modulo the base: uint16 [digits, inputs] -> integers [terms, inputs]."""
    power = np.array([[pow(value, degree, base) for degree in range(base)] for value in range(base)])
    terms: Integers = x[1::2] * power[x[0], x[2::2]] % base
    return terms


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

    def steps(n: int) -> list[Step]:
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
