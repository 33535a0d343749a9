"""SRC agrees with a trial of every circuit, with expected values and laws, and is no number where none is known."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lengthgen.circuits import trace as trace_module
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.search import partition, sat, wirings
from lengthgen.circuits.src import SRCResult, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from lengthgen.circuits.trace import trace
from tests.circuits.examples import addition, direct_parity, random_task, renamed
from tests.oracles import sequences as oracle

RANDOM = [
    # seed, symbols, arity, scales
    (seed, 2 + seed % 2, 1 + seed // 2 % 2, 3 if seed % 2 == 0 or seed // 2 % 2 == 0 else 2)
    for seed in range(80)
]


def _random(seed: int, symbols: int, arity: int, scales: int) -> Task:
    """Random task: every fifth reads the whole prompt, so often beyond the arity; every third has fixed positions."""
    return random_task(
        seed, symbols=symbols, arity=arity, scales=scales, local=seed % 5 != 4, fixed=0.4 if seed % 3 == 2 else 0
    )


def _src(task: Task, scale: int, arity: int) -> SRCResult:
    return src(task, traces_up_to(task, scale), arity)


def _oracle(task: Task, scale: int, arity: int) -> dict[int, float]:
    steps: list[set[oracle.Table]] = []
    values = {}
    for n in range(1, scale + 1):
        steps += oracle.step_tables(task.prompt, task.generate, n, arity)
        values[n] = oracle.fewest_by_partition(steps)
        if len(task.alphabet) ** len(task.alphabet) ** arity < 300:  # else there are too many functions to try
            assert values[n] == oracle.fewest_by_hitting_set(steps, task.alphabet, arity), "the oracles disagree"
    return values


def test_src_of_random_tasks_of_many_kinds_is_that_of_brute_force() -> None:
    values = set()
    for case in RANDOM:
        task, (_, _, arity, scales) = _random(*case), case
        result = _src(task, scales, arity)
        assert result.values == _oracle(task, scales, arity), case
        assert result.status == "exact", case
        if result.circuit:
            assert len(result.circuit.operators) == result.values[scales], case
            result.circuit.check(traces_up_to(task, scales))
        values.add(result.values[scales])
    assert {1, 2, 3, 4, math.inf} <= values


NAMED: list[tuple[Task, int, int]] = [
    (parity(), 3, 1),
    (parity(), 3, 2),
    (copy(2), 3, 1),
    (copy(3), 2, 2),
    (permutation(3), 3, 1),
    (addition(2), 1, 2),
    (direct_parity(), 3, 2),
]


@pytest.mark.parametrize(("task", "scale", "arity"), NAMED, ids=lambda part: getattr(part, "name", part))
def test_src_of_known_tasks_is_that_of_brute_force(task: Task, scale: int, arity: int) -> None:
    assert _src(task, scale, arity).values == _oracle(task, scale, arity)


def test_minimal_arity_is_the_first_feasible_one_and_none_beyond_the_largest() -> None:
    for case in RANDOM[::5]:
        task, scales = _random(*case), case[3]
        arity = minimal_arity(traces_up_to(task, scales))
        assert math.isfinite(_src(task, scales, arity).values[scales] or 0)
        if arity > 1:
            assert _src(task, scales, arity - 1).values[scales] == math.inf
    assert minimal_arity([trace(direct_parity(), 9)]) is None


@pytest.mark.parametrize("case", RANDOM[::3], ids=str)
def test_src_is_monotone(case: tuple[int, int, int, int]) -> None:
    task, scales = _random(*case), case[3]
    by_arity = [list(_src(task, scales, arity).values.values()) for arity in (1, 2, 3)]
    for values in by_arity:
        assert values == sorted(values), "non-decreasing in the scale"
    for fewer, more in itertools.pairwise(by_arity):
        assert all(b <= a for a, b in zip(fewer, more, strict=True)), "non-increasing in the arity: slots may repeat"


@pytest.mark.parametrize("task", [parity(), permutation(3), *(_random(*case) for case in RANDOM[:24:3])])
def test_renaming_symbols_changes_nothing(task: Task) -> None:
    for arity in (1, 2):
        assert _src(task, 2, arity).values == _src(renamed(task), 2, arity).values


@pytest.mark.parametrize("task", [parity(), copy(3)])
def test_renaming_symbols_changes_no_wiring_where_the_simplest_will_do(task: Task) -> None:
    first, second = (_src(each, 4, 2) for each in (task, renamed(task)))
    assert first.circuit.wirings == second.circuit.wirings
    assert (first.templates, first.coverage_scale) == (second.templates, second.coverage_scale)


@pytest.mark.parametrize(("task", "arity", "expected"), [(parity(), 2, 2), (copy(), 1, 1), (permutation(3), 1, 6)])
def test_coverage_scale(task: Task, arity: int, expected: int) -> None:
    assert _src(task, 6, arity).coverage_scale == expected


def _arguments(circuit: Circuit, scale: int) -> list[tuple[int, ...]]:
    return [wiring.arguments for wiring in circuit.wirings[scale]]


def test_infeasible_is_infinite_and_has_no_circuit() -> None:
    result = _src(direct_parity(), 4, 2)
    assert (result.values[4], result.circuit, result.templates, result.coverage_scale) == (math.inf, None, (), None)


def test_a_sample_gives_the_same_value_and_says_that_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = replace(parity(), reference=None)
    exact = _src(alone, 6, 2)
    monkeypatch.setattr(trace_module, "MAX_EXHAUSTIVE", 20)
    monkeypatch.setattr(trace_module, "SAMPLE", 60)
    sampled = _src(replace(alone), 6, 2)  # not what the task keeps
    assert (exact.status, sampled.status) == ("exact", "sampled")
    assert exact.inputs == sum(2**n for n in range(1, 7)) > sampled.inputs
    assert exact.values == sampled.values
    assert (exact.sampled, exact.exhaustive_to, sampled.exhaustive_to) == (0, 6, 4)
    assert sampled.sampled == sampled.inputs - sum(2**n for n in range(1, 5))
    # The lower bound of a sample is one of all inputs, and the reference circuit attains it on all of them.
    assert (_src(parity(), 6, 2).status, _src(parity(), 6, 2).values) == ("reference", exact.values)


def test_operators_too_large_are_refused_with_their_size() -> None:
    with pytest.raises(TaskError, match="62,748,517 entries, more than 20,000,000; use fewer symbols or slots"):
        _src(load("addition"), 2, 7)


def test_a_wrong_reference_circuit_is_found_out() -> None:
    task = load("multiplication")
    assert (_src(task, 3, 4).values, _src(task, 3, 4).status) == ({1: 1, 2: 1, 3: 1}, "exact")
    wrong = replace(task, reference=replace(task.reference, apply=lambda *_: "0"))
    with pytest.raises(TaskError, match=r"its reference circuit is wrong: .* at scale 1, position 5"):
        _src(wrong, 2, 4)
    blind = replace(task, reference=replace(task.reference, steps=lambda n: [("u", (1, 1, 1, 1))] * (n + 2)))
    with pytest.raises(TaskError, match=r"at \(1, 1, 1, 1\) do not determine the step at scale 1, position 5"):
        _src(blind, 2, 4)


# A cycle of five conflicts: no three steps exclude each other in pairs, so the clique bound is 2, and SRC is 3.
FIVE_CYCLE = Task(
    name="five-cycle",
    alphabet=("0", "1", "a", "b", "c", "d", "e"),
    prompt=lambda n: [tuple("abcde"[edge] + "abcde"[edge - 1]) for edge in range(5)],
    generate=lambda prompt: ["01"["abcde".index(symbol) != edge] for edge, symbol in enumerate(prompt)],
)


def test_the_value_is_withheld_where_the_bounds_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    full = _src(FIVE_CYCLE, 1, 1)
    assert (full.values, full.status) == ({1: 3}, "exact")
    monkeypatch.setattr(partition, "MAX_LOOKS", 1)
    monkeypatch.setattr(sat, "decide", lambda *_, **__: sat.SatResult(satisfiable=None))
    cut = _src(FIVE_CYCLE, 1, 1)
    assert cut.bounds == {1: (2, 3)}
    assert (cut.values, cut.status) == ({1: None}, "bounds")
    cut.circuit.check(traces_up_to(FIVE_CYCLE, 1))


@pytest.mark.parametrize("seed", [*range(20), 227])
def test_the_circuit_has_no_more_operators_than_the_upper_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound holds also where the search was cut: at seed 227 its wirings are coloured anew, and worse."""
    task = random_task(seed, symbols=3, arity=2, scales=3, fixed=0.4)
    exact = _src(task, 3, 2)
    monkeypatch.setattr(partition, "MAX_LOOKS", 1)
    monkeypatch.setattr(sat, "decide", lambda *_, **__: sat.SatResult(satisfiable=None))
    cut = _src(task, 3, 2)
    for scale, (low, high) in cut.bounds.items():
        assert low <= (exact.values[scale] or 0) <= high
    assert len(cut.circuit.operators) <= cut.bounds[3][1]


def test_left_out_wirings_give_bounds_and_a_valid_circuit(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [
        parity(),
        permutation(3),
        *(random_task(seed, symbols=3, arity=1, scales=2, fixed=0.4) for seed in range(20)),
    ]
    exact = [_src(task, 2, 2).values for task in tasks]
    monkeypatch.setattr(wirings, "MAX_WIRINGS", 1)
    loose = 0
    for task, values in zip(tasks, exact, strict=True):
        cut = _src(task, 2, 2)
        for scale, (low, high) in cut.bounds.items():
            assert low <= (values[scale] or 0) <= high
            loose += low < (values[scale] or 0)
        cut.circuit.check(traces_up_to(task, 2))
    assert loose, "a lower bound may not rest on steps that were looked at in part"


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: src(parity(), traces_up_to(parity(), 2), 0), "at least 1, not 0"),
        (lambda: src(parity(), [trace(parity(), 1), trace(parity(), 3)], 2), "without a gap"),
        (lambda: src(parity(), [trace(parity(), 2)], 2), "without a gap"),
        (lambda: src(parity(), [], 2), "no traces"),
        (
            lambda: src(parity(), traces_up_to(parity(), 2), 2, mode="loose"),
            "no mode 'loose': choose one of free, decl",
        ),
        (lambda: minimal_arity([]), "no traces"),
    ],
)
def test_scales_and_arities_that_make_no_sense_are_refused(act: Callable[[], Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        act()
