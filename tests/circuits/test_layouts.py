"""SRC depends on the layout: rows of the published scale table, in published layouts that our tasks do not have.

A first token that counts 0 or ends the prompt is one more key: a step that needs a further operator without it needs
none with it.
"""

from collections.abc import Callable

import pytest

from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load

Symbols = tuple[str, ...]


def _digits(base: int) -> Symbols:
    return tuple(str(digit) for digit in range(base))


def _sums(base: int) -> Callable[[Symbols], list[str]]:
    def generate(terms: Symbols) -> list[str]:
        sums, total = [], 0
        for term in terms:
            total = (total + int(term)) % base
            sums.append(str(total))
        return sums

    return generate


def _parity_without_separator() -> Task:
    return Task(name="bare-parity", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=_sums(2))


def _counter(base: int) -> Task:
    """`x1 .. xn = y1 .. yn`."""
    digits = _digits(base)
    return Task(
        name="counter",
        alphabet=(*digits, "="),
        prompt=lambda n: [*[digits] * n, ("=",)],
        generate=lambda prompt: _sums(base)(prompt[:-1]),
    )


def _addition(base: int, zero: tuple[str, ...]) -> Task:
    """`a1 .. an b1 .. bn (0) c1 k1 .. cn kn`, with a first carry 0 or without."""
    digits = _digits(base)

    def generate(prompt: Symbols) -> list[str]:
        terms = prompt[: len(prompt) - len(zero)]
        carry, output = 0, []
        for a, b in zip(terms[: len(terms) // 2], terms[len(terms) // 2 :], strict=True):
            carry, digit = divmod(int(a) + int(b) + carry, base)
            output += [str(digit), str(carry)]
        return output

    return Task(
        name="addition", alphabet=digits, prompt=lambda n: [*[digits] * (2 * n), *[zero] * len(zero)], generate=generate
    )


def _multiplication(base: int) -> Task:
    """`a b1 .. bn 0 c1 k1 .. cn kn`."""
    digits = _digits(base)

    def generate(prompt: Symbols) -> list[str]:
        carry, output = 0, []
        for digit in prompt[1:-1]:
            carry, low = divmod(int(prompt[0]) * int(digit) + carry, base)
            output += [str(low), str(carry)]
        return output

    return Task(
        name="multiplication", alphabet=digits, prompt=lambda n: [*[digits] * (n + 1), ("0",)], generate=generate
    )


def _division(base: int) -> Task:
    """`a b1 .. bn 0 q1 r1 .. qn rn`."""
    digits = _digits(base)

    def generate(prompt: Symbols) -> list[str]:
        rest, output = 0, []
        for digit in prompt[1:-1]:
            quotient, rest = divmod(rest * base + int(digit), int(prompt[0]))
            output += [str(quotient), str(rest)]
        return output

    return Task(
        name="division",
        alphabet=digits,
        prompt=lambda n: [digits[1:], *[digits] * n, ("0",)],
        generate=generate,
    )


def _scaled_sum(base: int) -> Task:
    """`x1 .. xn y1 .. yn`, y_i = x_i + i x_(i-1)."""
    digits = _digits(base)

    def generate(prompt: Symbols) -> list[str]:
        x = [0, *map(int, prompt)]
        return [str((x[i] + i * x[i - 1]) % base) for i in range(1, len(x))]

    return Task(name="scaled-sum", alphabet=digits, prompt=lambda n: [digits] * n, generate=generate)


def _majority(largest: int) -> Task:
    """`x1 .. xn 0 c1 .. cn y`, counts as tokens."""

    def generate(prompt: Symbols) -> list[str]:
        ones = [prompt[:place].count("1") for place in range(1, len(prompt))]
        return [*map(str, ones), str(int(2 * ones[-1] > len(ones)))]

    return Task(
        name="majority",
        alphabet=_digits(largest + 1),
        prompt=lambda n: [*[("0", "1")] * n, ("0",)],
        generate=generate,
    )


@pytest.mark.parametrize(
    ("task", "arity", "expected"),
    [
        (_parity_without_separator(), 2, {1: 1, 2: 2, 12: 2}),
        (_counter(2), 2, {1: 1, 12: 1}),
        (_addition(2, ("0",)), 3, {1: 1, 2: 2, 6: 2}),
        (_addition(3, ("0",)), 3, {1: 2, 2: 2, 5: 2}),
        (_addition(2, ()), 3, {1: 1, 2: 3, 6: 3}),
        (_multiplication(3), 3, {2: 1, 6: 1}),
        (_division(3), 3, {2: 1, 6: 1}),
        (_division(10), 3, {2: 1, 5: 1}),
        (_scaled_sum(3), 2, {2: 2, 9: 3}),
        (_scaled_sum(7), 2, {2: 2, 12: 7}),
        (_majority(14), 2, {2: 2, 7: 2, 8: 3, 12: 3, 14: 4}),
    ],
    ids=lambda part: getattr(part, "name", None),
)
def test_published_values(task: Task, arity: int, expected: dict[int, float]) -> None:
    traces = traces_up_to(task, max(expected))
    result = src(task, traces, arity)
    assert {scale: result.values[scale] for scale in expected} == expected
    assert result.status == ("exact" if all(trace.exhaustive for trace in traces) else "sampled")


@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
        ("parity-direct", None, [1, 2, 3, 4, 5]),
        ("majority-direct", None, [1, 2, 3, 4]),
        ("sort-direct", 2, [1, 2, 3, 4]),
        ("sort-trace", 3, [1, 2, 2, 2]),
        ("addition-carry", 2, [2, 3, 3, 3]),
        ("addition", 2, [2, 4, 5, 5, 5]),
        ("addition-high-first", 2, [2, 4, 6, 8]),
        ("multiplication", 3, [2, 3, 4, 4, 4]),
        ("multiplication", 10, [2, 3, 4, 4]),
        ("division", 3, [2, 3, 4, 4, 4]),
    ],
)
def test_published_minimal_arities(name: str, base: int | None, expected: list[int]) -> None:
    traces = traces_up_to(load(name, base=base), len(expected))
    assert [minimal_arity(traces[: scale + 1]) for scale in range(len(expected))] == expected
