"""Division of a number by one digit, high digit first, with or without remainder tokens."""

import numpy as np

from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks.digits import Numbers, digit_task


def division(base: int = 10) -> Task:
    """`b1 .. bn / a = q1 .. qn $`, high digit first, a one digit but 0.

    Unit operator on a, b_t, b_(t-1), q_(t-1): the remainder before t is (b_(t-1) - a q_(t-1)) mod base. '=' as b_(t-1)
    means remainder 0, and '/' as b_t gives '$'. The arity is 4.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
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
        generate=lambda x: [quotient for quotient, _ in _long_division(x, base)],
        vectorised=lambda x: _long_divisions(x, base)[0],
        reference=Reference(arity=4, steps=steps, apply=apply),
    )


def division_remainder(base: int = 10) -> Task:
    """`b1 .. bn / a = q1 r1 .. qn rn $`, high digit first, a one digit but 0, r_t the remainder after place t.

    Unit operators on r_(t-1), b_t, a: quotient and remainder of base r_(t-1) + b_t by a, where '=' counts 0; '/' as b_t
    gives '$'. The arity is 3.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
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
        generate=lambda x: [token for pair in _long_division(x, base) for token in pair],
        vectorised=lambda x: np.stack(_long_divisions(x, base), axis=1).reshape(-1, x.shape[1]),
        reference=Reference(arity=3, steps=steps, apply=apply),
    )


def _divide_place(remainder: int, digit: int, divisor: int, base: int) -> tuple[int, int]:
    """Return quotient digit and remainder of one place of a long division.

    Raise ValueError if the place cannot occur.
    """
    if remainder >= divisor:
        raise ValueError("a remainder is less than the divisor")
    return divmod(base * remainder + digit, divisor)


def _long_division(x: list[int], base: int) -> list[tuple[int, int]]:
    """Return quotient and remainder at each place: all digits of x but the last, divided by the last."""
    remainder, places = 0, []
    for digit in x[:-1]:
        quotient, remainder = divmod(base * remainder + digit, x[-1])
        places.append((quotient, remainder))
    return places


def _long_divisions(x: Numbers, base: int) -> tuple[Numbers, Numbers]:
    """Return quotients and remainders of many long divisions at once (`_long_division`)."""
    quotients, remainders = np.empty((2, len(x) - 1, x.shape[1]), dtype=np.uint16)
    remainder = np.zeros_like(x[0])
    for place, digit in enumerate(x[:-1]):
        quotients[place], remainder = np.divmod(base * remainder + digit, x[-1])
        remainders[place] = remainder
    return quotients, remainders
