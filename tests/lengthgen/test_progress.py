"""Progress: a line for each piece where somebody watches, elsewhere a line a minute; estimates that mean something."""

import sys

import pytest

from lengthgen.terminal import progress
from lengthgen.terminal.progress import Progress, seconds_left


@pytest.fixture
def clock(monkeypatch):
    """Clock that shows the seconds that the test sets."""
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def counted(clock, pieces, seconds):
    """Count some pieces, each after so many seconds."""
    counter = Progress("work", pieces, "pieces")
    for number in range(pieces):
        clock[0] += seconds
        counter.step(f"number {number + 1}")


def test_where_nobody_watches_there_is_a_line_a_minute_and_one_at_the_end(clock, capsys):
    counted(clock, 100, seconds=1.5)
    assert capsys.readouterr().err.splitlines() == [
        "work: 100 pieces to do",
        "work: 40 of 100 pieces, the last number 40 (60 s, about 90 s left)",
        "work: 80 of 100 pieces, the last number 80 (120 s, about 30 s left)",
        "work: 100 of 100 pieces, the last number 100 (150 s)",
    ]


def test_short_work_says_only_how_much_it_is(clock, capsys):
    counted(clock, 9, seconds=1)
    assert capsys.readouterr().err == "work: 9 pieces to do\n"
    counted(clock, 0, seconds=1)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_every_piece_has_a_line(clock, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    counted(clock, 4, seconds=1)
    assert capsys.readouterr().err.splitlines() == [
        "work: 4 pieces to do",
        "work: 1 of 4 pieces, the last number 1 (1 s)",
        "work: 2 of 4 pieces, the last number 2 (2 s, about 2 s left)",
        "work: 3 of 4 pieces, the last number 3 (3 s, about 1 s left)",
        "work: 4 of 4 pieces, the last number 4 (4 s)",
    ]


def test_a_count_that_is_set_needs_no_name(clock, capsys):
    counter = Progress("training", 1_200, "runs")
    clock[0] = 60
    counter.reach(600)
    assert capsys.readouterr().err.splitlines()[-1] == "training: 600 of 1,200 runs (60 s, about 60 s left)"


@pytest.mark.parametrize(
    ("done", "elapsed", "left"),
    [(0, 100, None), (1, 1.0, None), (1, 30, None), (1, 60, 5940), (5, 2, 38), (5, 1.9, None), (100, 50, 0)],
)
def test_an_estimate_is_told_once_a_twentieth_is_done_or_a_minute_has_passed(done, elapsed, left):
    assert seconds_left(done, 100, elapsed) == left
