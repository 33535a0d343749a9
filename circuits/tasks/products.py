"""Multiplication by one digit and of two numbers, low digit first; division by one digit, high digit first."""

import numpy as np

from lengthgen.circuits.task import Step, Task
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task


def multiplication(base: int = 10) -> Task:
    """`a * b1 .. bn = c1 .. c(n+1) $`, low digit first, a one digit.

    Unit operator on a, b_t, b_(t-1), c_(t-1): the old carry is (c_(t-1) - a b_(t-1)) mod base, from which the carry
    into t follows. '*' as b_(t-1) means carry 0, '=' as b_t counts 0, and '=' as b_(t-1) gives '$'. The arity is 4.
    """

    def steps(n: int) -> list[Step]:
        equals = n + 3
        products = [("product", (1, 2 + t, 1 + t, equals + t - 1)) for t in range(1, n + 2)]
        return [*products, ("product", (1, equals, equals, equals))]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, b_before, c_before = symbols
        if b_before == "=":
            return "$"
        carry = 0
        if b_before != "*":
            old = (int(c_before) - int(a) * int(b_before)) % base
            if old >= max(int(a), 1):
                raise ValueError("no such product")
            carry = (int(a) * int(b_before) + old) // base
        return str((int(a) * (0 if b == "=" else int(b)) + carry) % base)

    return digit_task(
        name="multiplication",
        base=base,
        marks="*=",
        prompt=lambda n, digits: [digits, "*", *[digits] * n, "="],
        vectorised=lambda x: _carried(np.pad(x[:1] * x[1:], ((0, 1), (0, 0))), base),
        arity=4,
        steps=steps,
        apply=apply,
    )


def multiplication_nn(base: int = 2) -> Task:
    """`a1 .. an * b1 .. bn = c1 .. c(2n) $`, low digit first.

    No arity is enough at all scales, since c_t needs t products.
    """

    def vectorised(x: Numbers) -> Integers:
        # 32 bits hold sums of 60,000 products of two digits.
        a, b = np.split(x.astype(np.uint32), 2)
        columns = np.zeros_like(x, dtype=np.uint32)
        for place, digit in enumerate(a):
            columns[place : place + len(b)] += digit * b
        return _carried(columns, base)

    return digit_task(
        name="multiplication-nn",
        base=base,
        marks="*=",
        prompt=lambda n, digits: [*[digits] * n, "*", *[digits] * n, "="],
        vectorised=vectorised,
    )


def _carried(columns: Integers, base: int) -> Integers:
    """Return the digits of the sum of base**place * column; the carry out of the last place is 0."""
    digits = columns.copy()
    for place in range(len(columns) - 1):
        digits[place + 1] += digits[place] // base
    return digits % base


def division(base: int = 10) -> Task:
    """`b1 .. bn / a = q1 .. qn $`, high digit first, a one digit but 0.

    Unit operator on a, b_t, b_(t-1), q_(t-1): the remainder before t is (b_(t-1) - a q_(t-1)) mod base. '=' as b_(t-1)
    means remainder 0, and '/' as b_t gives '$'. The arity is 4.
    """

    def steps(n: int) -> list[Step]:
        equals = n + 3
        return [("quotient", (n + 2, t, t - 1 or equals, equals + t - 1)) for t in range(1, n + 2)]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, b_before, q_before = symbols
        if b == "/":
            return "$"
        remainder = 0 if b_before == "=" else (int(b_before) - int(a) * int(q_before)) % base
        return str(_divide_place(remainder, int(b), int(a), base)[0])

    return digit_task(
        name="division",
        base=base,
        marks="/=",
        prompt=lambda n, digits: [*[digits] * n, "/", digits[1:], "="],
        vectorised=lambda x: _long_divisions(x, base)[:, 0],
        arity=4,
        steps=steps,
        apply=apply,
    )


def division_remainder(base: int = 10) -> Task:
    """`b1 .. bn / a = q1 r1 .. qn rn $`, high digit first, a one digit but 0, r_t the remainder after place t.

    Unit operators on r_(t-1), b_t, a: quotient and remainder of base r_(t-1) + b_t by a, where '=' counts 0; '/' as b_t
    gives '$'. The arity is 3.
    """

    def steps(n: int) -> list[Step]:
        pairs = [
            (operator, (n + 1 + 2 * t, t, n + 2)) for t in range(1, n + 1) for operator in ("quotient", "remainder")
        ]
        return [*pairs, ("quotient", (3 * n + 3, n + 1, n + 2))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        old_remainder, b, a = symbols
        if b == "/":
            return "$"
        result = _divide_place(0 if old_remainder == "=" else int(old_remainder), int(b), int(a), base)
        return str(result[0] if operator == "quotient" else result[1])

    return digit_task(
        name="division-remainder",
        base=base,
        marks="/=",
        prompt=lambda n, digits: [*[digits] * n, "/", digits[1:], "="],
        vectorised=lambda x: _long_divisions(x, base).reshape(-1, x.shape[1]),
        arity=3,
        steps=steps,
        apply=apply,
    )


def _divide_place(remainder: int, digit: int, divisor: int, base: int) -> tuple[int, int]:
    """Return quotient digit and remainder of one place of a long division; ValueError if it cannot occur."""
    if remainder >= divisor:
        raise ValueError("a remainder is less than the divisor")
    return divmod(base * remainder + digit, divisor)


def _long_divisions(x: Numbers, base: int) -> Numbers:
    """Return quotient and remainder, uint16 [places, 2, inputs], of all digits of x but the last, by the last."""
    places = np.empty((len(x) - 1, 2, x.shape[1]), dtype=np.uint16)
    remainder = np.zeros_like(x[0])
    for place, digit in enumerate(x[:-1]):
        places[place] = np.divmod(base * remainder + digit, x[-1])
        remainder = places[place, 1]
    return places
