"""The named tasks mean what their docstrings say, and their reference circuits compute them at every scale."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, takewhile

import numpy as np
import pytest

from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.formats import FORMATS, aligned, in_format
from lengthgen.circuits.reference import reference_circuit, reference_complexity
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tables import keys_of
from lengthgen.circuits.task import UNDEFINED, Reference, Task, TaskError
from lengthgen.circuits.tasks import TASKS, load
from lengthgen.circuits.trace import trace

SCALES = (1, 2, 3, 5, 8, 13)
WITH_BASE = ["copy", "addition", "counter", "division-remainder", "log-shift", "majority-count", "multiplication-nn"]
TASKS_AND_BASES = [*((name, None) for name in TASKS), *((name, base) for name in WITH_BASE for base in (2, 3, 5))]
OF_WORDS = {"scan", "stack"}
"""Tasks whose symbols are not digits and marks; tests/circuits/test_word_tasks.py compares them with oracles."""


def _load_task(name: str, base: int | None) -> Task:
    return load(name, base=base)


def _scales(task: Task) -> tuple[int, ...]:
    largest = len(task.alphabet) - 3 if task.name.startswith("majority-count") else SCALES[-1]
    return tuple(scale for scale in SCALES if scale <= largest)


# The largest base of all tasks in all formats: twins compute in 16 bits.
LARGEST_BASE = MAX_SYMBOLS - len("*=$_")
TWINS = [
    (name, base)
    for name, make in TASKS.items()
    for base in (None, *((2, LARGEST_BASE) if inspect.signature(make).parameters else ()))
]


@pytest.mark.parametrize(("name", "base"), TWINS)
def test_the_vectorised_twin_gives_what_the_plain_generator_gives(name: str, base: int | None) -> None:
    plain = _load_task(name, base)
    for format in FORMATS:
        if (name, format) == ("parity-online", "aligned"):
            continue
        task = in_format(plain, format, largest_scale=_scales(plain)[-1])
        assert task.vectorised is not None, format
        by_generator = replace(task, vectorised=None)
        for scale in _scales(plain):
            prompts = task.sample_prompts(scale, 12, np.random.default_rng(scale))
            outputs, expected = task.outputs(prompts), by_generator.outputs(prompts)
            np.testing.assert_array_equal(outputs, expected, f"{format}, scale {scale}")


@pytest.mark.parametrize(("name", "scale"), [("counter", 600), ("multiplication-nn", 100), ("scaled-sum", 300)])
def test_sums_that_grow_with_the_scale_do_not_overflow(name: str, scale: int) -> None:
    task = load(name, base=LARGEST_BASE)
    largest = np.array([[max(allowed) for allowed in task.choices(scale)]], dtype=np.uint8)
    np.testing.assert_array_equal(task.vectorised(largest), replace(task, vectorised=None).outputs(largest))


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


@pytest.mark.parametrize(("name", "base"), [pair for pair in TASKS_AND_BASES if pair[0] not in OF_WORDS])
def test_the_output_is_what_the_name_says(name: str, base: int | None) -> None:
    task = _load_task(name, base)
    digits = sum(symbol.isdigit() for symbol in task.alphabet)
    marks = "".join(symbol for symbol in task.alphabet[:-1] if not symbol.isdigit())
    assert task.alphabet[-1] == "$"
    for scale in _scales(task):
        prompts = task.sample_prompts(scale, 50, np.random.default_rng(scale))
        for row in task.sequences(scale, prompts):
            tokens = [task.alphabet[token] for token in row if token != UNDEFINED]
            assert tokens[-1] == "$"
            assert LAWS[name](_parts(tokens[:-1], marks), digits), " ".join(tokens)


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
    task = _load_task(name, base)
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


@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
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
    ],
)
def test_operators_of_the_reference_circuit(name: str, base: int, expected: dict[int, int]) -> None:
    task = load(name, base=base)
    assert task.reference is not None
    counts = reference_complexity(task, task.reference.arity, 64)
    assert {scale: counts[scale] for scale in expected} == expected
    assert reference_complexity(task, task.reference.arity - 1, 2) == {1: float("inf"), 2: float("inf")}


SEARCHED = [
    ("copy", 3, 5, 1, {5: 1}),
    ("reverse", 3, 5, 1, {5: 1}),
    ("shift", 3, 5, 1, {5: 1}),
    ("unaligned-copy", 3, 5, 1, {5: 1}),
    ("select-middle", 3, 5, 1, {5: 1}),
    ("counter", 3, 5, 2, {5: 1}),
    ("addition-carry", 2, 3, 3, {1: 1, 2: 2, 3: 2}),
    ("sort-trace", 3, 4, 2, {1: 1, 2: 2, 4: 2}),
    ("permutation", 3, 7, 1, {2: 2, 5: 5, 6: 6, 7: 6}),
    ("log-shift", 5, 5, 1, {1: 1, 2: 2, 3: 2, 4: 3, 5: 3}),
    ("scaled-sum", 4, 6, 2, {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3}),
    # Fewer than the reference circuit has: quotient and remainder read their arguments in different orders, and
    # remainder < divisor keeps the keys apart.
    ("division-remainder", 3, 3, 3, {3: 1}),
    # Fewer than one for each n: thresholds that lie close serve several.
    ("majority-count", 9, 8, 2, {3: 1, 4: 2, 8: 2}),
]


@pytest.mark.parametrize(("name", "base", "scale", "arity", "expected"), SEARCHED, ids=[row[0] for row in SEARCHED])
def test_src_by_search_alone(name: str, base: int, scale: int, arity: int, expected: dict[int, int]) -> None:
    task = replace(load(name, base=base), reference=None)
    result = src(task, traces_up_to(task, scale), arity)
    assert {n: result.values[n] for n in expected} == expected
    assert result.status == "exact"


@pytest.mark.parametrize(
    ("name", "base", "expected"),
    [
        ("parity-direct", None, [1, 2, 3, 4, 5]),
        ("majority-direct", None, [1, 2, 3, 4, 5]),
        ("sort-direct", 2, [1, 2, 3, 4, 5]),
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
    task = _load_task(name, base)
    assert [minimal_arity([trace(task, scale)]) for scale in range(1, 6)] == expected


def test_the_last_step_of_addition_with_carries_reads_the_plus_alone() -> None:
    """`a1 + b1 = c1 k1 $`: the positions are 1 to 7."""
    assert load("addition-carry").reference.steps(1) == [
        ("digit", (1, 3, 4)),
        ("carry", (1, 3, 4)),
        ("digit", (2, 2, 2)),
    ]
