"""Each stage of the search alone: its input stays unchanged, and its result holds whatever ends the next stage."""

import copy
import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.search import rounds as stages
from lengthgen.circuits.search.candidates import candidates, feasible
from lengthgen.circuits.search.narrowing import BoundSteps, Narrowed, admitted, extended, fewest, narrowed
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.rounds import INTERRUPTED, search
from lengthgen.circuits.search.serving import Served
from lengthgen.circuits.search.simplest import circuit_of
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.tasks import load

TASKS = [("parity", None, 5, 2), ("counter", 3, 4, 2), ("majority-count", 15, 9, 2), ("permutation", 3, 7, 1)]


def problem_of(name: str, base: int | None, scale: int, arity: int, mode: str = "free") -> Problem:
    task = load(name, base=base)
    return Problem.of(task, traces_up_to(task, scale), arity, mode)


@pytest.fixture(params=TASKS, ids=lambda case: case[0])
def problem(request: pytest.FixtureRequest) -> Problem:
    return problem_of(*request.param)


def test_a_step_that_nothing_determines_ends_the_scales() -> None:
    assert feasible(problem_of("parity", None, 4, 2), Clock(), patient=True).scales == (1, 2, 3, 4)
    stuck = feasible(problem_of("parity", None, 4, 1), Clock(), patient=True)
    assert (stuck.scales, stuck.stuck, stuck.stopped) == ((1,), (2, 5), None)


def test_only_the_patient_look_at_more_scales_once_half_of_the_limit_is_used() -> None:
    clock = Clock(steps=10**12)
    clock.count(6 * 10**11)
    hurried, patient = (feasible(problem_of("copy", None, 4, 1), clock, patient=each) for each in (False, True))
    assert (hurried.scales, hurried.stopped) == ((1,), clock.reason())
    assert (patient.scales, patient.stopped) == ((1, 2, 3, 4), None)


def test_candidates_serve_every_step_and_open_each_operator_once(problem: Problem) -> None:
    candidate_set = candidates(problem, tuple(problem.traces), Clock())
    for served in candidate_set.circuits:
        assert set(served.wirings) == set(problem.places(problem.traces))
        assert len(served.openers()) == len(served.operators)
    last = max(problem.traces)
    assert len(candidate_set.openers()[last]) == min(len(served.operators) for served in candidate_set.circuits)


def test_bounds_only_narrow_and_earlier_ones_stay_unchanged(problem: Problem) -> None:
    candidate_set = candidates(problem, tuple(problem.traces), Clock())
    seen: list[tuple[Narrowed, dict[int, tuple[int, int]]]] = []
    for now in narrowed(problem, candidate_set, Clock()):
        seen.append((now, dict(now.bounds)))
    for now, bounds in seen:
        assert now.bounds == bounds
    for (before, _), (after, _) in itertools.pairwise(seen):
        assert before.bound_steps.wirings.keys() <= after.bound_steps.wirings.keys()
        for scale, (low, high) in after.bounds.items():
            assert before.bounds[scale][0] <= low <= high <= before.bounds[scale][1]
    result = src(problem.task, list(problem.traces.values()), problem.arity)
    assert seen[-1][0].bounds == result.bounds


def test_operators_are_extended_in_a_copy(problem: Problem) -> None:
    served = candidates(problem, (1,), Clock()).circuits[0]
    before = copy.deepcopy(served)
    extended(served, problem.traces, BoundSteps(), problem, (), Clock())
    assert (served.wirings, served.serving) == (before.wirings, before.serving)
    for table, was in zip(served.operators, before.operators, strict=True):
        assert np.array_equal(table, was)


def test_no_operators_serve_no_step() -> None:
    problem = problem_of("copy", None, 2, 1)
    nothing = Served(operators=(), wirings={}, serving={})
    assert extended(nothing, [1, 2], BoundSteps(), problem, (), Clock()) == (1, problem.traces[1].steps[0])


def test_evidence_grows_by_a_step_and_bounds_the_operators() -> None:
    problem = problem_of("permutation", 3, 6, 1)
    evidence, counts = BoundSteps(), []
    for scale in range(1, 7):
        place = scale, problem.traces[scale].steps[scale - 1]
        more = admitted(evidence, place, problem, Clock())
        assert [*more.wirings] == [*evidence.wirings, place]
        assert admitted(more, place, problem, Clock()) is more
        evidence = more
        counts.append(fewest(evidence, problem, Clock()).lower)
    assert counts == [1, 2, 3, 4, 5, 6]


def test_whatever_ends_the_search_the_last_bounds_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of("permutation", 3, 7, 1)
    candidate_set = candidates(problem, tuple(problem.traces), Clock())
    all_rounds = list(narrowed(problem, candidate_set, Clock()))
    assert len(all_rounds) > 2
    monkeypatch.setattr(stages, "candidates", lambda *_: candidate_set)
    ends = {INTERRUPTED: KeyboardInterrupt(), "the time limit has passed": OutOfTime("the time limit has passed")}
    for (stopped, end), count in itertools.product(ends.items(), range(1, len(all_rounds) + 1)):

        def cut(*_: object, count: int = count, end: BaseException = end) -> Iterator[Narrowed]:
            yield from all_rounds[:count]
            raise end

        monkeypatch.setattr(stages, "narrowed", cut)
        result = search(problem, Clock())
        assert (result.bounds, result.stopped, result.failed) == (all_rounds[count - 1].bounds, stopped, False)
        assert result.circuit is not None
        result.circuit.check(problem.traces.values())


def test_a_search_that_ends_before_there_are_candidates_knows_nothing() -> None:
    result = search(problem_of("majority-count", 15, 9, 2), Clock(steps=0))
    assert (result.bounds, result.circuit, result.hardest) == ({}, None, ())
    assert result.stopped == "the limit of 0 steps is reached"


def test_the_circuit_computes_every_step_with_the_operators_that_serve_it(problem: Problem) -> None:
    candidate_set = candidates(problem, tuple(problem.traces), Clock())
    for served in candidate_set.circuits:
        circuit, combinations = circuit_of(served, candidate_set.scales, problem, candidate_set.combinations)
        assert circuit.check(problem.traces.values()) == sum(
            scale_trace.tokens.shape[1] for scale_trace in problem.traces.values()
        )
        assert len(circuit.operators) <= len(served.operators)
        assert combinations


def test_a_declared_circuit_has_no_templates() -> None:
    problem = problem_of("parity", None, 3, 2, "declared")
    result = search(problem, Clock())
    assert result.combinations == ()
    assert result.circuit is not None
