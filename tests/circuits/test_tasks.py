"""The named tasks mean what their docstrings say, and their reference circuits compute them at every scale."""

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate, pairwise, product, takewhile
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.formats import FORMATS, aligned, in_format
from lengthgen.circuits.reference import reference_circuit, reference_complexity
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tables import keys_of
from lengthgen.circuits.task import UNDEFINED, Reference, Task, TaskError, Tokens, combinations_of
from lengthgen.circuits.tasks import TASKS, load
from lengthgen.circuits.trace import trace

SCALES = (1, 2, 3, 5, 8, 13)
WITH_BASE = ["copy", "addition", "counter", "division-remainder", "log-shift", "majority-count", "multiplication-nn"]
TASKS_AND_BASES = [*((name, None) for name in TASKS), *((name, base) for name in WITH_BASE for base in (2, 3, 5))]
OF_WORDS = {"scan", "stack"}
"""Tasks whose symbols are not digits and marks; tests/circuits/test_word_tasks.py compares them with oracles."""


def _scales(task: Task) -> tuple[int, ...]:
    largest = len(task.alphabet) - 3 if task.name.startswith("majority-count") else SCALES[-1]
    return tuple(scale for scale in SCALES if scale <= largest)


LARGEST_BASE = MAX_SYMBOLS - len("*=$_")
"""The largest base of all tasks in all formats."""


@pytest.mark.parametrize("name", ["addition", "subtraction", "copy-until-zero", "parity-online", "scan", "stack"])
def test_the_vectorised_twin_gives_what_the_plain_generator_gives_in_every_format(name: str) -> None:
    plain = load(name)
    for format in FORMATS if name != "parity-online" else ("unaligned", "filled"):
        task = in_format(plain, format, largest_scale=8)
        by_generator = replace(task, vectorised=None)
        for scale in (1, 2, 5, 8):
            prompts = task.sample_prompts(scale, 12, np.random.default_rng(scale))
            outputs, expected = task.outputs(prompts), by_generator.outputs(prompts)
            np.testing.assert_array_equal(outputs, expected, f"{format}, scale {scale}")


@pytest.mark.parametrize("name", [name for name in TASKS if load(name).vectorised_valid])
def test_the_fast_version_of_valid_knows_every_prompt_in_every_format(name: str) -> None:
    for format, scale in product(FORMATS, (1, 4, 5)):
        task = in_format(load(name, base=3 if name == "subtraction" else None), format, largest_scale=5)
        combinations = combinations_of(task.choices(scale), 2_000, np.random.default_rng(0))
        are = task.are_valid(combinations)
        np.testing.assert_array_equal(are, replace(task, vectorised_valid=None).are_valid(combinations), str(scale))
        assert scale == 1 or 0 < are.sum() < len(are)


@pytest.mark.parametrize("name", [name for name in TASKS if load(name).vectorised_draw])
@pytest.mark.parametrize("format", FORMATS)
def test_the_fast_version_of_draw_has_its_distribution(name: str, format: str) -> None:
    """Own symbols of a prompt are compared by the chi-squared test, every place of filler by its mean."""
    for scale in (1, 3):
        task, own = in_format(load(name), format, largest_scale=3), load(name)
        slow, fast = (
            each.sample_prompts(scale, 4_000, np.random.default_rng(1))
            for each in (replace(task, vectorised_draw=None), task)
        )
        constant = [place for place, symbols in enumerate(task.choices(scale)) if len(symbols) == 1]
        assert len(slow) == len(fast) == 4_000 and (fast[:, constant] == slow[:, constant]).all()
        if format == "filled":
            means = (slow.mean(axis=0), fast.mean(axis=0))
            np.testing.assert_allclose(*means, atol=4 * len(task.alphabet) / 2 / math.sqrt(4_000))
            continue
        seen = [Counter(map(tuple, each.tolist())) for each in (slow, fast)]
        table = [[counts[prompt] for prompt in seen[0] | seen[1]] for counts in seen]
        assert len(table[0]) > 1 or len(own.choices(scale)) == 2
        assert len(table[0]) == 1 or chi2_contingency(table).pvalue > 0.001


def _low(digits: list[int], base: int) -> int:
    return sum(digit * base**place for place, digit in enumerate(digits))


def _parts(tokens: list[str], marks: str) -> list[list[int]]:
    """The numbers between the marks."""
    parts: list[list[int]] = [[]]
    for token in tokens:
        if token in marks:
            parts.append([])
        else:
            parts[-1].append(int(token))
    return parts


def _sorts(x: list[int], rows: list[int]) -> bool:
    """Each row is the one before it after exchanges of neighbours, no two of them at one place; the last ascends."""
    n = len(x)
    each = [x, *(rows[start : start + n] for start in range(0, n * n, n))]
    return all(sorted(row) == sorted(x) for row in each) and each[-1] == sorted(x) and len(each) == n + 1


LAWS: dict[str, Callable[[list[list[int]], int], bool]] = {
    "copy": lambda p, b: p[0] == p[1],
    "reverse": lambda p, b: p[0] == p[1][::-1],
    "shift": lambda p, b: p[0] == [p[1][-1], *p[1][:-1]],
    "unaligned-copy": lambda p, b: (p[0], p[1]) == ([], p[2]),
    "parity": lambda p, b: p[1] == [sum(p[0][:t]) % 2 for t in range(1, len(p[0]) + 1)],
    "counter": lambda p, b: p[1] == [sum(p[0][:t]) % b for t in range(1, len(p[0]) + 1)],
    "parity-direct": lambda p, b: p[1] == [sum(p[0]) % 2],
    "addition": lambda p, b: _low(p[0], b) + _low(p[1], b) == _low(p[2], b),
    "unaligned-addition": lambda p, b: _low(p[0], b) + _low(p[1], b) == _low(p[2], b) and len(p[2]) == len(p[0]) + 1,
    "addition-high-first": lambda p, b: _low(p[0][::-1], b) + _low(p[1][::-1], b) == _low(p[2][::-1], b),
    "addition-carry": lambda p, b: (
        _low(p[0], b) + _low(p[1], b) == _low([*p[2][::2], p[2][-1]], b)
        and all(
            x + y + before == digit + b * after
            for x, y, digit, (before, after) in zip(p[0], p[1], p[2][::2], pairwise([0, *p[2][1::2]]), strict=True)
        )
    ),
    "multiplication": lambda p, b: p[0][0] * _low(p[1], b) == _low(p[2], b),
    "multiplication-nn": lambda p, b: _low(p[0], b) * _low(p[1], b) == _low(p[2], b),
    "division": lambda p, b: _low(p[0][::-1], b) // p[1][0] == _low(p[2][::-1], b),
    "division-remainder": lambda p, b: (
        divmod(_low(p[0][::-1], b), p[1][0]) == (_low(p[2][-2::-2], b), p[2][-1])
        and all(
            b * before + digit == p[1][0] * quotient + after
            for digit, quotient, (before, after) in zip(p[0], p[2][::2], pairwise([0, *p[2][1::2]]), strict=True)
        )
    ),
    "subtraction": lambda p, b: _low(p[0], b) - _low(p[1], b) == _low(p[2], b),
    "copy-until-zero": lambda p, b: p[1] == list(takewhile(bool, p[0])),
    "parity-sparse": lambda p, b: p[1] == [sum(p[0][:t]) % 2 for t in range(1, len(p[0]) + 1)],
    "parity-online": lambda p, b: p[0][1::2] == [sum(p[0][: 2 * t : 2]) % 2 for t in range(1, len(p[0]) // 2 + 1)],
    "select-any": lambda p, b: p[1][0] in p[0] and len(p[1]) == 1,
    "select-first": lambda p, b: p[1] == p[0][:1],
    "select-middle": lambda p, b: p[1] == [p[0][-(-len(p[0]) // 2) - 1]],
    "select-last": lambda p, b: p[1] == p[0][-1:],
    "sort-trace": lambda p, b: _sorts(p[0], p[1]),
    "sort-direct": lambda p, b: sorted(p[0]) == p[1],
    "majority-count": lambda p, b: p[1] == [*np.cumsum(p[0]), int(p[0].count(1) > p[0].count(0))],
    "majority-direct": lambda p, b: p[1] == [int(p[0].count(1) > p[0].count(0))],
    "permutation": lambda p, b: all(0 <= y < b for y in p[1]) and p[1][:1] == p[0][:1],
    "log-shift": lambda p, b: p[1] == [int(x + np.floor(np.log2(t))) % b for t, x in enumerate(p[0], 1)],
    "scaled-sum": lambda p, b: p[1] == [(x + t * last) % b for t, (last, x) in enumerate(pairwise([0, *p[0]]), 1)],
}


def _require_law(task: Task, name: str, prompts: Tokens, scale: int) -> None:
    digits = sum(symbol.isdigit() for symbol in task.alphabet)
    marks = "".join(symbol for symbol in task.alphabet[:-1] if not symbol.isdigit())
    assert task.alphabet[-1] == "$"
    for row in task.sequences(scale, prompts):
        tokens = [task.alphabet[token] for token in row if token != UNDEFINED]
        assert tokens[-1] == "$"
        assert LAWS[name](_parts(tokens[:-1], marks), digits), " ".join(tokens)


@pytest.mark.parametrize(("name", "base"), [pair for pair in TASKS_AND_BASES if pair[0] not in OF_WORDS])
def test_the_output_is_what_the_name_says(name: str, base: int | None) -> None:
    task = load(name, base=base)
    for scale in _scales(task):
        _require_law(task, name, task.sample_prompts(scale, 50, np.random.default_rng(scale)), scale)


@pytest.mark.parametrize(
    ("name", "scale"),
    [(name, 3) for name, make in TASKS.items() if inspect.signature(make).parameters]
    + [("counter", 600), ("multiplication-nn", 100), ("scaled-sum", 300)],
)
def test_nothing_overflows_at_the_largest_base_or_scale(name: str, scale: int) -> None:
    task = load(name, base=LARGEST_BASE)
    largest = np.array([[max(allowed) for allowed in task.choices(scale)]], dtype=np.uint8)
    _require_law(task, name, largest, scale)


def test_permutations_differ_until_all_have_come() -> None:
    task = load("permutation", base=3)
    columns = np.array([[digit] * 7 + [3] for digit in range(3)], dtype=np.uint8)
    laws = [tuple(column) for column in task.outputs(columns)[:, :7].T]
    assert len(set(laws[:6])) == 6
    assert laws[6] == laws[0] == (0, 1, 2)


# A table of additions has an entry for each five symbols: smaller bases see as much.
@pytest.mark.parametrize(
    ("name", "base"),
    [
        (name, 4) if name in ("unaligned-addition", "subtraction") else (name, base)
        for name, base in TASKS_AND_BASES
        if (name, base) != ("addition", None)
    ],
)
def test_the_reference_circuit_is_right_in_both_formats(name: str, base: int | None) -> None:
    task = load(name, base=base)
    if task.reference is None:
        with pytest.raises(TaskError, match="has no reference circuit"):
            reference_circuit(task, [1])
        return
    for layout in (task, *([] if name == "parity-online" else [aligned(task, _scales(task)[-1])])):
        circuit = reference_circuit(layout, _scales(task))
        assert circuit.check([trace(layout, scale) for scale in _scales(task)]) > 1


def test_a_reference_circuit_with_one_entry_changed_is_wrong() -> None:
    task = load("addition", base=3)
    circuit = reference_circuit(task, range(1, 4))
    traces = traces_up_to(task, 3)
    circuit.check(traces)
    arguments = [traces[2].tokens[[place - 1 for place in step.arguments]] for step in circuit.wirings[3]]
    used = np.unique(keys_of(np.concatenate(arguments, axis=1), len(task.alphabet)))
    assert len(used) > 100
    for key in used:
        table = circuit.operators[0].copy()
        table[key] = (table[key] + 1) % 3
        with pytest.raises(CircuitError, match="is wrong at scale"):
            replace(circuit, operators=(table,)).check(traces)


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        (Reference(arity=1, steps=lambda n: [("a", (3,))], apply=lambda *_: "0"), "reads .3,. at position 3, scale 1"),
        (Reference(arity=1, steps=lambda n: [("a", (1, 1))], apply=lambda *_: "0"), "give 1 earlier positions"),
        (Reference(arity=1, steps=lambda n: [("a", (1,))], apply=lambda *_: "x"), "'a' gives 'x', not in the alphabet"),
    ],
)
def test_a_reference_that_is_no_circuit_is_refused(reference: Reference, says: str) -> None:
    with pytest.raises(TaskError, match=says):
        reference_circuit(replace(load("parity"), reference=reference), [1])


REFERENCE: list[tuple[str, int, dict[int, int]]] = [
    ("permutation", 3, {2: 2, 64: 6}),
    ("permutation", 4, {2: 2, 64: 24}),
    ("permutation", 10, {2: 2, 64: 64}),
    ("log-shift", 10, {2: 2, 8: 4, 16: 5, 32: 6, 64: 7}),
    ("log-shift", 2, {8: 2}),
    ("scaled-sum", 3, {2: 1, 3: 1, 4: 2, 64: 2}),
    ("scaled-sum", 7, {64: 6}),
    ("scaled-sum", 2, {64: 1}),
    ("copy", 10, {64: 1}),
    ("addition", 10, {64: 1}),
    ("addition-carry", 10, {1: 2, 64: 2}),
    ("sort-trace", 10, {1: 1, 2: 2, 64: 2}),
    ("majority-count", 10, {9: 10}),
]


@pytest.mark.parametrize(("name", "base", "expected"), REFERENCE)
def test_operators_of_the_reference_circuit(name: str, base: int, expected: dict[int, int]) -> None:
    task = load(name, base=base)
    counts = reference_complexity(task, task.reference.arity, 64)
    assert {scale: counts[scale] for scale in expected} == expected
    assert reference_complexity(task, task.reference.arity - 1, 2) == {1: math.inf, 2: math.inf}


SEARCHED: list[tuple[str, int | None, int, dict[int, float]]] = [
    # task, base, arity, scale -> SRC by search alone
    ("copy", 5, 1, {1: 1, 5: 1}),
    ("reverse", 3, 1, {5: 1}),
    ("shift", 3, 1, {5: 1}),
    ("unaligned-copy", 3, 1, {5: 1}),
    ("select-middle", 3, 1, {5: 1}),
    ("parity", None, 1, {1: 1, 2: math.inf, 5: math.inf}),
    ("parity", None, 2, {1: 1, 8: 1}),
    ("parity", None, 3, {3: 1}),
    ("counter", 3, 2, {5: 1}),
    ("parity-direct", None, 2, {3: math.inf, 4: math.inf}),
    ("majority-direct", None, 3, {4: math.inf}),
    ("sort-direct", 3, 2, {3: math.inf}),
    ("addition-carry", 2, 3, {1: 1, 2: 2, 3: 2}),
    ("sort-trace", 3, 2, {1: 1, 2: 2, 4: 2}),
    ("permutation", 2, 1, {1: 1, 2: 2, 4: 2}),
    ("permutation", 3, 1, {2: 2, 5: 5, 6: 6, 8: 6}),
    ("log-shift", 5, 1, {1: 1, 2: 2, 3: 2, 4: 3, 5: 3}),
    ("scaled-sum", 4, 2, {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3}),
    # Fewer than the reference circuit has: quotient and remainder read their arguments in different orders, and
    # remainder < divisor keeps the keys apart.
    ("division-remainder", 3, 3, {3: 1}),
    # Fewer than one for each n: thresholds that lie close serve several.
    ("majority-count", 9, 2, {3: 1, 4: 2, 8: 2}),
]


@pytest.mark.parametrize(("name", "base", "arity", "expected"), SEARCHED)
def test_src_by_search_alone(name: str, base: int | None, arity: int, expected: dict[int, float]) -> None:
    task = replace(load(name, base=base), reference=None)
    result = src(task, traces_up_to(task, max(expected)), arity)
    assert {n: result.values[n] for n in expected} == expected
    assert result.status == "exact"


SCALED: list[tuple[str, int | None, int, int, float]] = [
    # Rows of the published scale table that take under a second each: task, base, scale, arity, SRC
    ("copy", 2, 32, 1, 1),
    ("reverse", 10, 32, 1, 1),
    ("select-first", 10, 32, 1, 1),
    ("select-middle", 10, 32, 1, 1),
    ("select-last", 10, 32, 1, 1),
    ("parity", None, 32, 2, 1),
    ("counter", 10, 32, 2, 1),
    ("addition-carry", 2, 16, 3, 2),
    ("addition", 2, 4, 5, 1),
    ("addition", 3, 3, 5, 1),
    ("multiplication", 3, 12, 4, 1),
    ("division", 10, 12, 4, 1),
    ("sort-trace", 3, 8, 2, 2),
    ("permutation", 5, 32, 1, 32),
    ("log-shift", 10, 32, 1, 6),
    ("scaled-sum", 7, 32, 2, 6),
]


@pytest.mark.parametrize(("name", "base", "scale", "arity", "expected"), SCALED)
def test_the_scale_table(name: str, base: int | None, scale: int, arity: int, expected: float) -> None:
    """The bounds meet in every row: by the reference circuit where not every prompt is looked at."""
    task = load(name, base=base)
    result = src(task, traces_up_to(task, scale), arity)
    all_prompts = all(scale_trace.exhaustive for scale_trace in result.traces)
    assert (result.values[scale], result.status) == (expected, "exact" if all_prompts else "reference")
    assert (result.exhaustive_to == scale) == all_prompts


@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
        ("copy", None, [1, 1, 1]),
        ("permutation", None, [1, 1, 1]),
        ("parity-direct", None, [1, 2, 3, 4, 5]),
        ("majority-direct", None, [1, 2, 3, 4, 5]),
        ("sort-direct", 2, [1, 2, 3, 4, 5]),
        ("sort-trace", 3, [1, 2, 2, 2]),
        ("addition-high-first", 2, [2, 4, 6, 8, None]),
        ("multiplication-nn", 3, [2, 4, 6, 8, None]),
        ("addition", 2, [2, 4, 5, 5, 5]),
        ("addition-carry", 3, [2, 3, 3, 3, 3]),
        ("unaligned-addition", 3, [2, 3, 4, 4, 5]),
        ("multiplication", 3, [2, 3, 4, 4, 4]),
        ("division", 3, [2, 3, 4, 4, 4]),
        ("parity", None, [1, 2, 2, 2, 2]),
        ("scan", None, [2, 4, 5, 7, None]),
        ("stack", None, [1, 1, 3, 4, 5]),
    ],
)
def test_the_fewest_arguments_by_scale(name: str, base: int | None, expected: list[int | None]) -> None:
    task = load(name, base=base)
    assert [minimal_arity([trace(task, scale)]) for scale in range(1, len(expected) + 1)] == expected


def test_the_last_step_of_addition_with_carries_reads_the_plus_alone() -> None:
    """`a1 + b1 = c1 k1 $`: the positions are 1 to 7."""
    assert load("addition-carry").reference.steps(1) == [
        ("digit", (1, 3, 4)),
        ("carry", (1, 3, 4)),
        ("digit", (2, 2, 2)),
    ]


Steps = Iterator[int]


def _chain(inputs: Iterable[Any], step: Callable[[Any, int], tuple[int, int]]) -> Steps:
    """Two outputs for each input, the second of which the next step reads."""
    state = 0
    for each in inputs:
        first, state = step(each, state)
        yield from (first, state)


def _layout(
    name: str, base: int, prompt: Callable[[int, Any], list[Any]], outputs: Callable[..., Iterable[int]]
) -> Task:
    """Task over digits in a published layout that no task of the catalogue has."""
    digits = tuple(map(str, range(base)))
    return Task(
        name=name,
        alphabet=(*digits, "="),
        prompt=lambda n: prompt(n, digits),
        generate=lambda symbols: [*map(str, outputs([int(each) for each in symbols if each != "="]))],
    )


def _sums(base: int) -> Callable[[list[int]], Iterable[int]]:
    return lambda x: accumulate(x, lambda total, digit: (total + digit) % base)


def _added(base: int, zero: int) -> Task:
    def outputs(x: list[int]) -> Steps:
        terms = x[: len(x) - zero]
        pairs = zip(terms[: len(terms) // 2], terms[len(terms) // 2 :], strict=True)
        return _chain(pairs, lambda pair, carry: divmod(sum(pair) + carry, base)[::-1])

    return _layout("addition", base, lambda n, digits: [*[digits] * (2 * n), *["0"] * zero], outputs)


def _multiplied(base: int) -> Task:
    return _layout(
        "multiplication",
        base,
        lambda n, digits: [*[digits] * (n + 1), "0"],
        lambda x: _chain(x[1:-1], lambda digit, carry: divmod(x[0] * digit + carry, base)[::-1]),
    )


def _divided(base: int) -> Task:
    return _layout(
        "division",
        base,
        lambda n, digits: [digits[1:], *[digits] * n, "0"],
        lambda x: _chain(x[1:-1], lambda digit, rest: divmod(rest * base + digit, x[0])),
    )


def _scaled(base: int) -> Task:
    return _layout(
        "scaled-sum",
        base,
        lambda n, digits: [digits] * n,
        lambda x: ((digit + t * before) % base for t, (before, digit) in enumerate(pairwise([0, *x]), 1)),
    )


def _majority(largest: int) -> Task:
    return _layout(
        "majority",
        largest + 1,
        lambda n, digits: [*["01"] * n, "0"],
        lambda x: [*accumulate(x[:-1]), int(2 * sum(x) >= len(x))],
    )


@pytest.mark.parametrize(
    ("task", "arity", "expected"),
    [
        (_layout("bare-parity", 2, lambda n, digits: [digits] * n, _sums(2)), 2, {1: 1, 2: 2, 12: 2}),
        (_layout("counter", 2, lambda n, digits: [*[digits] * n, "="], _sums(2)), 2, {1: 1, 12: 1}),
        (_added(2, 1), 3, {1: 1, 2: 2, 6: 2}),
        (_added(3, 1), 3, {1: 2, 2: 2, 5: 2}),
        (_added(2, 0), 3, {1: 1, 2: 3, 6: 3}),
        (_multiplied(3), 3, {2: 1, 6: 1}),
        (_divided(3), 3, {2: 1, 6: 1}),
        (_divided(10), 3, {2: 1, 5: 1}),
        (_scaled(3), 2, {2: 2, 9: 3}),
        (_scaled(7), 2, {2: 2, 9: 7}),
        (_majority(14), 2, {2: 2, 7: 2, 8: 3, 12: 3, 14: 4}),
    ],
    ids=lambda part: getattr(part, "name", None),
)
def test_src_depends_on_the_layout(task: Task, arity: int, expected: dict[int, float]) -> None:
    """A first token that counts 0 or ends the prompt is one more key, which saves a further operator."""
    traces = traces_up_to(task, max(expected))
    result = src(task, traces, arity)
    assert {scale: result.values[scale] for scale in expected} == expected
    assert result.status == ("exact" if all(trace.exhaustive for trace in traces) else "sampled")
