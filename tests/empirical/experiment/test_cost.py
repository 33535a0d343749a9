"""The estimated cost of runs grows with their number, their length and their epochs, and is measured once."""

from dataclasses import replace

import pytest

from lengthgen.empirical.experiment import cost
from lengthgen.empirical.model.backend import CPU
from tests.empirical.conftest import smoke_run


@pytest.fixture
def timed(monkeypatch, tmp_path):
    """Have every step and test take the same time, and count the runs that are timed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ticks = iter(range(10**6))
    monkeypatch.setattr(cost, "process_time", lambda: float(next(ticks)))
    runs = []
    timing = cost._timed
    monkeypatch.setattr(cost, "_timed", lambda run, backend: runs.append(run) or timing(run, backend))
    return runs


def test_it_is_that_of_all_steps_and_tests_of_all_runs(timed):
    run = smoke_run()
    seconds = cost.seconds_of_runs([run], CPU)
    training, last = run.training, run.test[-1]
    steps = training.epochs * training.samples // training.batch
    looks = len(run.checkpoints) + 1  # a test of all scales takes as long as their share of the last one
    assert seconds == pytest.approx(steps + looks * sum(run.test) / last)
    assert cost.seconds_of_runs([run, replace(run, seed=7)], CPU) == pytest.approx(2 * seconds)
    assert timed == [run], "measured once"


def test_longer_sequences_take_longer_in_proportion_and_only_the_shortest_are_timed(timed):
    run = smoke_run()
    long = smoke_run(task="sort-trace")
    tokens = [cost._tokens(each.task, run.test[-1]) for each in (run, long)]
    assert tokens[0] < tokens[1]
    alone = cost.seconds_of_runs([run], CPU)
    assert cost.seconds_of_runs([long, run], CPU) == pytest.approx(alone * sum(tokens) / tokens[0])
    assert timed == [run]


def test_another_encoding_is_timed_itself(timed):
    run = smoke_run()
    other = smoke_run("nope")
    cost.seconds_of_runs([run, other], CPU)
    assert {each.encoding for each in timed} == {run.encoding, "nope"}
