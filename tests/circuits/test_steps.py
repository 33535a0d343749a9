"""A limit in counted steps: the same end on every machine, under any load and in any process."""

import itertools
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lengthgen.circuits import clock as clock_module
from lengthgen.circuits.analysis import SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search import partition, sat
from lengthgen.circuits.search.sat import SolverFailed
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tasks import load
from tests.circuits.search.test_sat import FIVE_CYCLE, HARD, _serves

TASKS = (("parity", "aligned", 5), ("sort-trace", "unaligned", 4), ("majority-count", "unaligned", 6))


def steps_of(task: str, form: str, scale: int) -> int:
    """Number of steps that a search counts when no limit ends it."""
    clock = Clock()
    analyse(load(task), form, scale, clock=clock)
    return clock.steps


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every look at the clock find that a thousand seconds have passed."""
    times: Iterator[int] = itertools.count(step=1_000)
    monkeypatch.setattr(clock_module, "perf_counter", lambda: float(next(times)))


@pytest.mark.parametrize("case", TASKS)
@pytest.mark.usefixtures("slow")
def test_a_search_ends_exactly_at_its_steps_however_slow_the_machine_is(case: tuple[str, str, int]) -> None:
    task, form, scale = case
    needed = steps_of(*case)
    assert analyse(load(task), form, scale, clock=Clock(steps=needed + 1)).result is not None
    with pytest.raises(SearchStopped, match=f"the limit of {needed // 2:,} steps is reached"):
        analyse(load(task), form, scale, clock=Clock(steps=needed // 2))


COUNTED = """
from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.tasks import load

clock = Clock()
analyse(load("sort-trace"), "unaligned", 4, clock=clock)
print(clock.steps)
"""


def test_steps_do_not_depend_on_the_order_in_which_python_goes_through_sets() -> None:
    command = [sys.executable, "-c", COUNTED]
    other = subprocess.run(command, env={"PYTHONHASHSEED": "1"}, capture_output=True, text=True, check=True)
    assert int(other.stdout) == steps_of("sort-trace", "unaligned", 4)


def test_more_prompts_and_more_scales_are_more_steps() -> None:
    few, more = (steps_of("parity", "unaligned", scale) for scale in (4, 8))
    assert 0 < few < more


def test_the_solver_ends_at_the_same_conflict() -> None:
    answers = [sat.decide(*HARD, [], seconds=None, steps=300_000_000, proof=False) for _ in range(2)]
    assert [answer.satisfiable for answer in answers] == [None, None]
    assert answers[0].steps == answers[1].steps >= 300_000_000 - 10 * sat.CONFLICT


def test_within_its_steps_the_solver_answers_as_without_a_limit() -> None:
    for count in (2, 3):
        free = sat.decide(FIVE_CYCLE, count, [], seconds=None, proof=False)
        bound = sat.decide(FIVE_CYCLE, count, [], seconds=None, steps=10**10, proof=False)
        assert bound == free
        assert sat.START <= bound.steps < 10**10
    assert _serves(FIVE_CYCLE, 3, bound.choice)


def test_a_solver_is_not_started_for_which_too_few_steps_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "_run_solver", None)
    answer = sat.decide(FIVE_CYCLE, 2, [], seconds=None, steps=sat.START, proof=False)
    assert answer.satisfiable is None
    assert answer.steps >= sat.START


def test_a_search_whose_solver_runs_out_of_steps_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search stops at the last scale too, where nothing follows the solver."""
    monkeypatch.setattr(partition, "MAX_LOOKS", 1)
    task = load("majority-count", base=15)
    traces = traces_up_to(task, 14)
    arity = minimal_arity(traces)
    result = src(task, traces, arity, clock=Clock(steps=sat.START))
    assert (result.status, result.failed) == ("bounds", False)
    assert result.stopped == f"the limit of {sat.START:,} steps is reached"


def test_a_solver_that_dies_is_no_answer_about_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory may suffice another time, so that nobody may store that there is no circuit."""

    def dies(*_: object) -> None:
        raise SolverFailed("the SAT solver gave no answer: signal 9 ended it, out of memory perhaps")

    monkeypatch.setattr(partition, "MAX_LOOKS", 1)
    monkeypatch.setattr(sat, "_run_solver", dies)
    with pytest.raises(SolverFailed, match="task 'majority-count-base15', mode 'free': the SAT solver gave no answer"):
        analyse(load("majority-count", base=15), "unaligned", 14, clock=Clock(steps=10**12))
