"""A clock counts the time of each phase without the phases inside it, and says when the time is up."""

import math

import pytest

from lengthgen.circuits import clock as clock_module
from lengthgen.circuits.clock import Clock, OutOfTime


class Hand:
    """Replacement of the system time, which moves only when a test moves it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
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
        with clock.phase("inner"):
            hand.now += 16
    hand.now += 64
    assert clock.seconds == {"outer": 9, "inner": 18, "innermost": 4}


def test_a_phase_within_itself_is_not_counted_twice(hand: Hand) -> None:
    clock = Clock()
    with clock.phase("one"):
        hand.now += 1
        with clock.phase("one"):
            hand.now += 2
        hand.now += 4
    assert clock.seconds == {"one": 7}


def test_time_outside_all_phases_counts_for_no_phase(hand: Hand) -> None:
    clock = Clock()
    for name in ("first", "second", "first"):
        with clock.phase(name):
            hand.now += 1
        hand.now += 32
    assert clock.seconds == {"first": 2, "second": 1}


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
    with pytest.raises(OutOfTime):
        clock.check(0)
    hand.now += 8
    assert (clock.left(), clock.used()) == (0, 2)


def test_a_limit_of_nothing_is_up_at_once(hand: Hand) -> None:
    clock = Clock(0)
    assert clock.left() == 0
    with pytest.raises(OutOfTime):
        clock.check(0)


@pytest.mark.usefixtures("hand")
def test_without_a_limit_time_is_never_up() -> None:
    clock = Clock()
    assert (clock.left(), clock.used()) == (None, 0)
    clock.check(0)


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


def test_a_limit_of_no_steps_is_reached_at_once() -> None:
    clock = Clock(steps=0)
    assert (clock.steps_left(), clock.used(), clock.over()) == (0, 1, True)
    with pytest.raises(OutOfTime):
        clock.check(0)


@pytest.mark.usefixtures("hand")
def test_without_a_limit_steps_are_counted_and_end_nothing() -> None:
    clock = Clock()
    clock.check(10**15)
    assert (clock.steps, clock.steps_left(), clock.used(), clock.over()) == (10**15, None, 0, False)


def test_real_time_passes() -> None:
    clock = Clock(1e-9)
    with clock.phase("sum"):
        math.fsum(range(1000))
    assert clock.left() == 0
    assert clock.used() > 1
    assert clock.seconds["sum"] > 0
