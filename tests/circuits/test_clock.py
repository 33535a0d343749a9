"""A clock counts the time of each phase without the phases inside it, and says when the time is up."""

import pytest

from lengthgen.circuits import clock as clock_module
from lengthgen.circuits.clock import Clock, OutOfTime


class Hand:
    """Replacement of the system time, which moves only when a test moves it."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def hand(monkeypatch: pytest.MonkeyPatch) -> Hand:
    stopped = Hand()
    monkeypatch.setattr(clock_module, "perf_counter", stopped)
    return stopped


def test_a_phase_counts_its_own_time_only(hand: Hand) -> None:
    clock = Clock()
    hand.now += 64
    with clock.phase("outer"):
        hand.now += 1
        with clock.phase("inner"):
            hand.now += 2
            with clock.phase("innermost"):
                hand.now += 4
        hand.now += 8
        assert clock.running == "outer"
        with clock.phase("inner"):
            hand.now += 16
        with clock.phase("outer"):
            hand.now += 32
    hand.now += 64
    assert clock.running is None
    assert clock.seconds == {"outer": 41, "inner": 18, "innermost": 4}


def test_a_phase_that_fails_is_counted_and_left(hand: Hand) -> None:
    clock = Clock()

    def fail() -> None:
        with clock.phase("outer"), clock.phase("inner"):
            hand.now += 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    hand.now += 32
    with clock.phase("next"):
        hand.now += 1
    assert clock.seconds == {"outer": 0, "inner": 2, "next": 1}


def test_the_limit_runs_from_the_start_in_phases_and_outside(hand: Hand) -> None:
    clock = Clock(8)
    assert (clock.left(), clock.used()) == (8, 0)
    with clock.phase("some"):
        hand.now += 2
    assert (clock.left(), clock.used()) == (6, 0.25)
    hand.now += 5
    clock.check(0)
    assert (clock.left(), clock.used()) == (1, 0.875)
    hand.now += 1
    with pytest.raises(OutOfTime, match="the time limit has passed"):
        clock.check(0)
    hand.now += 8
    assert (clock.left(), clock.used()) == (0, 2)


def test_steps_are_counted_and_end_a_computation_at_the_same_step_whatever_the_time(hand: Hand) -> None:
    clock = Clock(steps=100)
    assert (clock.steps_left(), clock.used(), clock.over(), clock.left()) == (100, 0, False, None)
    hand.now += 1e9
    clock.check(75)
    assert (clock.steps_left(), clock.used(), clock.over()) == (25, 0.75, False)
    with pytest.raises(OutOfTime, match="the limit of 100 steps is reached"):
        clock.check(25)
    clock.count(100)
    assert (clock.steps, clock.steps_left(), clock.used(), clock.over()) == (200, 0, 2, True)


@pytest.mark.parametrize("limits", [{"limit": 0}, {"steps": 0}])
def test_a_limit_of_nothing_is_up_at_once(limits: dict[str, int]) -> None:
    clock = Clock(**limits)
    assert (clock.used(), clock.over()) == (1, True)
    with pytest.raises(OutOfTime):
        clock.check(0)


def test_without_a_limit_nothing_ends() -> None:
    clock = Clock()
    clock.check(10**15)
    assert (clock.steps, clock.steps_left(), clock.left(), clock.used()) == (10**15, None, None, 0)
