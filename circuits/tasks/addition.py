"""Addition and subtraction of two numbers: low or high digit first, with or without carry tokens, of any lengths.

Some pairs of operands only are prompts of the subtraction, those of which the first is not smaller.
"""

from collections.abc import Callable

import numpy as np

from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks.digits import Numbers, digit_task, digits_of
from lengthgen.circuits.tasks.two_scales import TwoScaleTask


def addition(base: int = 10) -> Task:
    """`a1 .. an + b1 .. bn = c1 .. c(n+1) $`, low digit first.

    Unit operator on a_t, b_t, a_(t-1), b_(t-1), c_(t-1): the carry into t is recovered from the last three. '+' and '='
    stand for a missing digit and count 0; '+' as a_(t-1) gives '$'. The arity is 5.
    """
    return _low_first("addition", base, lambda n: n)


def unaligned_addition(base: int = 10) -> Task:
    """`a1 .. an + b1 .. bm = c1 .. c(n+1) $`, low digit first, m = ceil(n/2): operands of unequal length.

    This is the predecessor's reversed addition (arXiv 2410.08898); that m follows from n is our choice [F], since a
    scale has one layout. Unit operator and arity are those of `addition`.
    """
    return _low_first("unaligned-addition", base, lambda n: (n + 1) // 2)


def addition_mixed(base: int = 10) -> TwoScaleTask:
    """`a1 .. am + b1 .. bn = c1 .. cl $`, low digit first, l = max(m, n) + 1: operands of m and of n digits.

    Unit operator and arity are those of `addition`, but for '+' and '=', which stand for missing digits of a and b.
    """
    digits = digits_of("addition-mixed", base, "+=")

    def steps(m: int, n: int) -> list[tuple[str, tuple[int, ...]]]:
        plus, equals = m + 1, m + n + 2

        def places(t: int) -> tuple[int, int]:
            """Return the positions of the digits of place t; before the first place, both are '='."""
            return (min(t, plus), min(plus + t, equals)) if t else (equals, equals)

        last = max(m, n) + 1
        sums = [("sum", (*places(t), *places(t - 1), equals + t - 1)) for t in range(1, last + 1)]
        return [*sums, ("sum", (plus, equals, plus, equals, equals))]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, a_before, b_before, c_before = symbols
        if (a_before, b_before) == ("+", "="):
            return "$"

        def value(symbol: str) -> int:
            return 0 if symbol in "+=" else int(symbol)

        carry = 0
        if a_before != "=":
            last = value(a_before) + value(b_before)
            old = (int(c_before) - last) % base
            if old > 1:
                raise ValueError("no such sum")
            carry = (last + old) // base
        return str((value(a) + value(b) + carry) % base)

    def generate(symbols: tuple[str, ...]) -> list[str]:
        plus = symbols.index("+")
        a, b = ([int(symbol) for symbol in operand] for operand in (symbols[:plus], symbols[plus + 1 : -1]))
        width = max(len(a), len(b))
        total, _ = _sum(a + [0] * (width - len(a)), b + [0] * (width - len(b)), base)
        return [*map(str, total), "$"]

    return TwoScaleTask(
        name="addition-mixed",
        alphabet=(*digits, "+", "=", "$"),
        prompt=lambda m, n: [*[digits] * m, "+", *[digits] * n, "="],
        generate=generate,
        reference=Reference(arity=5, steps=steps, apply=apply),
    )


def addition_high_first(base: int = 2) -> Task:
    """`a1 .. an + b1 .. bn = c0 c1 .. cn $`, high digit first.

    No arity is enough at all scales, because carries come from any distance.
    """
    return digit_task(
        name="addition-high-first",
        base=base,
        marks="+=",
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * n, "="],
        generate=lambda x: _sum(x[: len(x) // 2][::-1], x[len(x) // 2 :][::-1], base)[0][::-1],
        vectorised=lambda x: _sums(x[::-1], base)[0][::-1],
    )


def addition_carry(base: int = 10) -> Task:
    """`a1 .. an + b1 .. bn = c1 k1 .. cn kn $`, low digit first.

    k_t is the carry out of place t; kn is the last digit. Unit operators on a_t, b_t, k_(t-1): digit and carry of the
    sum, where '=' counts 0; '+' as a_t gives '$'. The arity is 3.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        equals = 2 * n + 2
        pairs = [
            (operator, (t, n + 1 + t, equals + 2 * t - 2)) for t in range(1, n + 1) for operator in ("digit", "carry")
        ]
        return [*pairs, ("digit", (n + 1, n + 1, n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        a, b, carry = symbols
        if a == "+":
            return "$"
        old = 0 if carry == "=" else int(carry)
        if old > 1:
            raise ValueError("a carry is 0 or 1")
        total = int(a) + int(b) + old
        return str(total % base if operator == "digit" else total // base)

    def generate(x: list[int]) -> list[int]:
        digits, carries = _sum(x[: len(x) // 2], x[len(x) // 2 :], base)
        return [token for pair in zip(digits, carries, strict=False) for token in pair]

    def vectorised(x: Numbers) -> Numbers:
        digits, carries = _sums(x, base)
        return np.stack([digits[:-1], carries], axis=1).reshape(-1, x.shape[1])

    return digit_task(
        name="addition-carry",
        base=base,
        marks="+=",
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * n, "="],
        generate=generate,
        vectorised=vectorised,
        reference=Reference(arity=3, steps=steps, apply=apply),
    )


def _low_first(name: str, base: int, width: Callable[[int], int]) -> Task:
    """Return an addition task, low digit first, with operands of n and width(n) <= n digits."""

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        plus, equals = n + 1, n + width(n) + 2
        sums = []
        for t in range(1, n + 2):
            b_place, b_place_before = (min(plus + place, equals) for place in (t, t - 1))
            sums.append(("sum", (t, b_place, t - 1 if t > 1 else equals, b_place_before, equals + t - 1)))
        return [*sums, ("sum", (plus, equals, plus, equals, equals))]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, a_before, b_before, c_before = symbols
        if a_before == "+":
            return "$"
        carry = 0
        if a_before != "=":
            last = int(a_before) + (0 if b_before == "=" else int(b_before))
            old = (int(c_before) - last) % base
            if old > 1:
                raise ValueError("no such sum")
            carry = (last + old) // base
        return str(((0 if a == "+" else int(a)) + (0 if b == "=" else int(b)) + carry) % base)

    def operand(x: list[int]) -> int:
        return next(n for n in range(1, len(x) + 1) if n + width(n) == len(x))

    def generate(x: list[int]) -> list[int]:
        n = operand(x)
        return _sum(x[:n], [*x[n:], *[0] * (n - width(n))], base)[0]

    def vectorised(x: Numbers) -> Numbers:
        n = operand([0] * len(x))
        return _sums(np.pad(x, ((0, n - width(n)), (0, 0))), base)[0]

    return digit_task(
        name=name,
        base=base,
        marks="+=",
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * width(n), "="],
        generate=generate,
        vectorised=vectorised,
        reference=Reference(arity=5, steps=steps, apply=apply),
    )


def _sum(a: list[int], b: list[int], base: int) -> tuple[list[int], list[int]]:
    """Return the digits of the sum, one more than the operands have, and the carries out of each place.

    The low digit comes first.
    """
    carry, digits, carries = 0, [], []
    for pair in zip(a, b, strict=True):
        carry, digit = divmod(sum(pair) + carry, base)
        digits.append(digit)
        carries.append(carry)
    return [*digits, carry], carries


def _sums(x: Numbers, base: int) -> tuple[Numbers, Numbers]:
    """Return digits and carries of many sums at once (`_sum`).

    The two operands follow each other and have one length.
    """
    n = len(x) // 2
    totals = x[:n] + x[n:]
    carries = np.zeros((n + 1, x.shape[1]), dtype=np.uint16)
    for place in range(n):
        carries[place + 1] = totals[place] + carries[place] >= base
    digits = (totals + carries[:-1]) % base
    return np.concatenate([digits, carries[-1:]]), carries[1:]


def subtraction(base: int = 2) -> Task:
    """`a1 .. an - b1 .. bn = c1 .. cn $`, low digit first, where a >= b.

    Unit operator on a_t, b_t, a_(t-1), b_(t-1), c_(t-1): the borrow out of t - 1 is recovered from the last three. '-'
    and '=' as digits before the first count 0; '-' as a_t gives '$'. The arity is 5.
    """

    def steps(n: int) -> list[tuple[str, tuple[int, ...]]]:
        minus, equals = n + 1, 2 * n + 2
        return [
            (
                "difference",
                (t, minus + t, *((t - 1, minus + t - 1) if t > 1 else (equals, equals)), equals + t - 1),
            )
            for t in range(1, n + 2)
        ]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, a_before, b_before, c_before = symbols
        if a == "-":
            return "$"
        borrow = 0
        if a_before != "=":
            last = int(a_before) - int(b_before)
            old = (last - int(c_before)) % base
            if old > 1:
                raise ValueError("no such difference")
            borrow = int(last - old < 0)
        return str((int(a) - int(b) - borrow) % base)

    def generate(x: list[int]) -> list[int]:
        borrow, digits = 0, []
        for a, b in zip(x[: len(x) // 2], x[len(x) // 2 :], strict=True):
            borrow, digit = divmod(a - b - borrow, base)
            borrow = -borrow
            digits.append(digit)
        return digits

    def vectorised(x: Numbers) -> Numbers:
        n = len(x) // 2
        digits = np.empty((n, x.shape[1]), dtype=np.int64)
        borrow = np.zeros(x.shape[1], dtype=np.int64)
        for place in range(n):
            difference = x[place].astype(np.int64) - x[n + place] - borrow
            digits[place], borrow = difference % base, difference < 0
        return digits.astype(np.uint16)

    def valid(symbols: tuple[str, ...]) -> bool:
        n = len(symbols) // 2 - 1
        a, b = symbols[:n], symbols[n + 1 : -1]
        return [int(digit) for digit in reversed(a)] >= [int(digit) for digit in reversed(b)]

    return digit_task(
        name="subtraction",
        base=base,
        marks="-=",
        prompt=lambda n, digits: [*[digits] * n, "-", *[digits] * n, "="],
        generate=generate,
        vectorised=vectorised,
        reference=Reference(arity=5, steps=steps, apply=apply),
        valid=valid,
    )
