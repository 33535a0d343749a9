"""Each stage of the search alone, and what stands of it whatever ends it."""

import copy

import numpy as np
import pytest

from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.search.narrowing import Narrowing
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.rounds import INTERRUPTED, search
from lengthgen.circuits.search.serving import Served
from lengthgen.circuits.search.simplest import circuit_of
from lengthgen.circuits.src import traces_up_to
from lengthgen.circuits.tables import Operators
from lengthgen.circuits.tasks import load

TASKS = [("parity", None, 5, 2), ("counter", 3, 4, 2), ("majority-count", 15, 9, 2), ("permutation", 3, 7, 1)]


def stage(
    name: str, base: int | None, scale: int, arity: int, mode: str = "free", clock: Clock | None = None
) -> Narrowing:
    task = load(name, base=base)
    return Narrowing(Problem.of(task, traces_up_to(task, scale), arity, mode), clock or Clock())


@pytest.fixture(params=TASKS, ids=lambda case: case[0])
def candidates(request: pytest.FixtureRequest) -> Narrowing:
    """The search of a problem that has its candidates."""
    narrowing = stage(*request.param)
    narrowing.find_scales(patient=True)
    narrowing.find_circuits()
    return narrowing


@pytest.mark.parametrize(
    ("case", "used", "patient", "expected"),
    [
        (("parity", None, 4, 2), 0.0, True, ((1, 2, 3, 4), None, False)),
        (("parity", None, 4, 1), 0.0, True, ((1,), (2, 5), False)),
        (("copy", None, 4, 1), 0.6, False, ((1,), None, True)),
        (("copy", None, 4, 1), 0.6, True, ((1, 2, 3, 4), None, False)),
    ],
)
def test_scales_end_at_a_step_that_nothing_determines_or_at_half_of_the_limit(case, used, patient, expected) -> None:
    narrowing = stage(*case, clock=Clock(steps=10**12))
    narrowing.clock.count(int(used * 10**12))
    narrowing.find_scales(patient=patient)
    assert (narrowing.scales, narrowing.stuck, narrowing.stopped == narrowing.clock.reason()) == expected


def test_candidates_serve_every_step_and_are_circuits(candidates: Narrowing) -> None:
    for served in candidates.circuits:
        assert set(served.wirings) == set(candidates.problem.places(candidates.scales))
        assert len(served.openers()) == len(served.operators.tables)
        circuit, combinations = circuit_of(served, candidates.scales, candidates.problem, candidates.combinations)
        inputs = sum(trace.tokens.shape[1] for trace in candidates.problem.traces.values())
        assert circuit.check(candidates.problem.traces.values()) == inputs
        assert len(circuit.operators) <= len(served.operators.tables) and combinations


def test_operators_are_extended_in_a_copy(candidates: Narrowing) -> None:
    served = candidates.circuits[0]
    before = copy.deepcopy(served)
    candidates.extended(served, candidates.problem.traces)
    assert (served.wirings, served.serving) == (before.wirings, before.serving)
    assert all(map(np.array_equal, served.operators.tables, before.operators.tables))


def test_no_operators_serve_no_step() -> None:
    narrowing = stage("copy", None, 2, 1)
    assert narrowing.extended(Served(operators=Operators(narrowing.problem.symbols)), [1, 2]) == (1, 3)


def test_admitted_steps_bound_the_operators() -> None:
    narrowing, counts = stage("permutation", 3, 6, 1), []
    for scale, trace in narrowing.problem.traces.items():
        narrowing.admit((scale, trace.steps[scale - 1]))
        narrowing.admit((scale, trace.steps[scale - 1]))
        assert len(narrowing.wirings) == scale
        counts.append(narrowing.fewest().lower)
    assert counts == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("stopped", "end"),
    [
        (INTERRUPTED, KeyboardInterrupt()),
        ("the limit of 9 steps is reached", OutOfTime("the limit of 9 steps is reached")),
    ],
)
def test_whatever_ends_the_search_the_last_bounds_stand(monkeypatch: pytest.MonkeyPatch, stopped, end) -> None:
    """The search ends at its first, second, ... look at the fewest operators; the bounds only narrow."""
    problem, fewest = stage("permutation", 3, 7, 1).problem, Narrowing.fewest

    def ends(_: Narrowing) -> None:
        raise end

    exact = search(problem, Clock())
    before, looks = {}, 0
    while looks < 50:
        effects = iter([fewest] * looks)
        monkeypatch.setattr(Narrowing, "fewest", lambda narrowing, effects=effects: next(effects, ends)(narrowing))
        looks += 1
        result = search(problem, Clock())
        for scale, (low, high) in before.items():
            assert low <= result.bounds[scale][0] <= exact.bounds[scale][0] <= result.bounds[scale][1] <= high
        before = result.bounds
        result.circuit.check(problem.traces.values())
        if result.stopped is None:
            break
        assert (result.stopped, result.failed) == (stopped, False)
    assert looks > 2 and before == exact.bounds


def test_a_search_that_ends_before_there_are_candidates_knows_nothing() -> None:
    result = search(stage("majority-count", 15, 9, 2).problem, Clock(steps=0))
    assert (result.bounds, result.circuit, result.hardest) == ({}, None, ())
    assert result.stopped == "the limit of 0 steps is reached"


def test_a_declared_circuit_has_no_templates() -> None:
    result = search(stage("parity", None, 3, 2, "declared").problem, Clock())
    assert result.combinations == () and result.circuit is not None
