"""Addition and subtraction of two numbers: low or high digit first, with or without carry tokens, of any lengths."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Reference, Step, Task, Tokens
from lengthgen.circuits.tasks.digits import Integers, Numbers, digit_task, digits_of
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


def _low_first(name: str, base: int, width: Callable[[int], int]) -> Task:
    """Return an addition task, low digit first, with operands of n and width(n) <= n digits."""

    def vectorised(x: Numbers) -> Integers:
        n = next(n for n in range(1, len(x) + 1) if n + width(n) == len(x))  # width never falls: there is one such n
        return _sums(base, x[:n], x[n:])[0]

    return digit_task(
        name=name,
        base=base,
        marks="+=",
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * width(n), "="],
        vectorised=vectorised,
        arity=5,
        steps=lambda n: _sum_steps(n, width(n), before_b=n + 1),
        apply=_sum_of(base),
    )


def addition_mixed(base: int = 10) -> TwoScaleTask:
    """`a1 .. am + b1 .. bn = c1 .. cl $`, low digit first, l = max(m, n) + 1: operands of m and of n digits.

    Unit operator and arity are those of `addition`, but for '+' and '=', which stand for missing digits of a and b.
    """
    digits = digits_of("addition-mixed", base, "+=")

    def generate(symbols: tuple[str, ...]) -> list[str]:
        plus = symbols.index("+")
        a, b = (np.array([operand], dtype=int).T for operand in (symbols[:plus], symbols[plus + 1 : -1]))
        return [*map(str, _sums(base, a, b)[0][:, 0]), "$"]

    return TwoScaleTask(
        name="addition-mixed",
        alphabet=(*digits, "+", "=", "$"),
        prompt=lambda m, n: [*[digits] * m, "+", *[digits] * n, "="],
        generate=generate,
        reference=Reference(arity=5, steps=lambda m, n: _sum_steps(m, n, before_b=m + n + 2), apply=_sum_of(base)),
    )


def _sum_steps(m: int, n: int, *, before_b: int) -> list[Step]:
    """Return the steps of the sum of m and n digits; the digit of b before the first place is read at `before_b`."""
    plus, equals = m + 1, m + n + 2

    def places(t: int) -> tuple[int, int]:
        return (min(t, plus), min(plus + t, equals)) if t else (equals, before_b)

    sums = [("sum", (*places(t), *places(t - 1), equals + t - 1)) for t in range(1, max(m, n) + 2)]
    return [*sums, ("sum", (plus, equals, plus, equals, equals))]


def _sum_of(base: int) -> Callable[[str, tuple[str, ...]], str]:
    """Return the unit operator of `addition`; it raises ValueError for symbols that no sum has."""

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        if symbols[2:4] == ("+", "="):
            return "$"
        a, b, a_before, b_before, c_before = (0 if symbol in "+=" else int(symbol) for symbol in symbols)
        carry_before = (c_before - a_before - b_before) % base
        if carry_before > 1 and symbols[2] != "=":
            raise ValueError("no such sum")
        carry = 0 if symbols[2] == "=" else (a_before + b_before + carry_before) // base
        return str((a + b + carry) % base)

    return apply


def addition_high_first(base: int = 2) -> Task:
    """`a1 .. an + b1 .. bn = c0 c1 .. cn $`, high digit first.

    No arity is enough at all scales, because carries come from any distance.
    """
    return digit_task(
        name="addition-high-first",
        base=base,
        marks="+=",
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * n, "="],
        vectorised=lambda x: _sums(base, *np.split(x[::-1], 2))[0][::-1],
    )


def addition_carry(base: int = 10) -> Task:
    """`a1 .. an + b1 .. bn = c1 k1 .. cn kn $`, low digit first.

    k_t is the carry out of place t; kn is the last digit. Unit operators on a_t, b_t, k_(t-1): digit and carry of the
    sum, where '=' counts 0; '+' as a_t gives '$'. The arity is 3.
    """

    def steps(n: int) -> list[Step]:
        pairs = [(operator, (t, n + 1 + t, 2 * n + 2 * t)) for t in range(1, n + 1) for operator in ("digit", "carry")]
        return [*pairs, ("digit", (n + 1, n + 1, n + 1))]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        a, b, carry_before = symbols
        if a == "+":
            return "$"
        carry = 0 if carry_before == "=" else int(carry_before)
        if carry > 1:
            raise ValueError("a carry is 0 or 1")
        total = int(a) + int(b) + carry
        return str(total % base if operator == "digit" else total // base)

    def vectorised(x: Numbers) -> Integers:
        digits, carries = _sums(base, *np.split(x, 2))
        return np.stack([digits[:-1], carries], axis=1).reshape(-1, x.shape[1])

    return digit_task(
        name="addition-carry",
        base=base,
        marks="+=",
        prompt=lambda n, digits: [*[digits] * n, "+", *[digits] * n, "="],
        vectorised=vectorised,
        arity=3,
        steps=steps,
        apply=apply,
    )


def _sums(base: int, a: Integers, b: Integers) -> tuple[Integers, Integers]:
    """Return the digits of many sums, one more than the longer operand has, and the carries out of each place.

    Operands and digits are integers [places, inputs], low digit first.
    """
    places = max(len(a), len(b))
    totals = np.add(*(np.pad(each, ((0, places - len(each)), (0, 0))) for each in (a, b)))
    carries = np.zeros((places + 1, a.shape[1]), dtype=np.uint16)
    for place in range(places):
        carries[place + 1] = totals[place] + carries[place] >= base
    return np.concatenate([(totals + carries[:-1]) % base, carries[-1:]]), carries[1:]


def subtraction(base: int = 2) -> Task:
    """`a1 .. an - b1 .. bn = c1 .. cn $`, low digit first, where a >= b.

    Unit operator on a_t, b_t, a_(t-1), b_(t-1), c_(t-1): the borrow out of t - 1 is recovered from the last three. '-'
    and '=' as digits before the first count 0; '-' as a_t gives '$'. The arity is 5.
    """

    def steps(n: int) -> list[Step]:
        minus, equals = n + 1, 2 * n + 2
        before = [(equals, equals), *((t, minus + t) for t in range(1, n + 1))]
        return [("difference", (t, minus + t, *before[t - 1], equals + t - 1)) for t in range(1, n + 2)]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        a, b, a_before, b_before, c_before = symbols
        if a == "-":
            return "$"
        borrow = 0
        if a_before != "=":
            difference = int(a_before) - int(b_before)
            borrow_before = (difference - int(c_before)) % base
            if borrow_before > 1:
                raise ValueError("no such difference")
            borrow = int(difference < borrow_before)
        return str((int(a) - int(b) - borrow) % base)

    def vectorised(x: Numbers) -> Integers:
        differences = np.subtract(*np.split(x.astype(np.int64), 2))
        for place in range(len(differences) - 1):
            differences[place + 1] -= differences[place] < 0
        return differences % base

    def valid(symbols: tuple[str, ...]) -> bool:  # a >= b, compared high digit first
        n = len(symbols) // 2 - 1
        return [*map(int, symbols[n - 1 :: -1])] >= [*map(int, symbols[-2:n:-1])]

    def vectorised_valid(prompts: Tokens) -> NDArray[np.bool_]:
        n = prompts.shape[1] // 2 - 1
        a, b = prompts[:, n - 1 :: -1], prompts[:, -2:n:-1]
        rows, highest = np.arange(len(prompts)), np.argmax(a != b, axis=1)
        return np.asarray(a[rows, highest] >= b[rows, highest])

    return digit_task(
        name="subtraction",
        base=base,
        marks="-=",
        prompt=lambda n, digits: [*[digits] * n, "-", *[digits] * n, "="],
        vectorised=vectorised,
        arity=5,
        steps=steps,
        apply=apply,
        valid=valid,
        vectorised_valid=vectorised_valid,
    )
