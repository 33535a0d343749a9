"""A sweep trains every run once and to its end, whatever else fails, is killed or trains at the same time."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empirical.backend import CPU
from empirical.files import write_bytes
from empirical.store import RunStore
from empirical.sweep import SweepError, groups, local, train_all
from empirical.training import train
from tests.empirical.conftest import smoke_run

ROOT = Path(__file__).parents[2]

LOGGED = """
import os
from circuits.tasks import load

with open(__file__ + ".log", "a") as log:
    log.write(f"{os.getpid()}\\n")
task = load("parity")
"""
"""A task whose file is run by every process that begins to train it, and says so."""


def logged_run(folder, name, **training):
    """A run of a task with a log of its own."""
    path = folder / f"{name}.py"
    path.write_text(LOGGED)
    return smoke_run("rpe", task=f"{path}:task", **training)


def trainings(run):
    """The processes, other than this one, that began to train a run."""
    log = Path(run.task.rpartition(":")[0] + ".log")
    return [int(line) for line in log.read_text().split() if int(line) != os.getpid()]


def same_numbers(run, store, other):
    names = ("checkpoint.safetensors", "metrics.parquet", "config.json")
    return all((store.folder(run) / name).read_bytes() == (other.folder(run) / name).read_bytes() for name in names)


def nothing_is_left(store):
    """No state of unfinished trainings, nothing half-written, nothing broken."""
    unfinished = [path for path in (store.root / ".unfinished").rglob("*") if path.is_file()]
    return not unfinished and all(one.run and not one.broken for one in store.contents())


def wait_until(happened, seconds=60):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


def epochs_done(run, store):
    return max((one.done for one in store.contents() if one.run == run and one.done is not None), default=0)


def is_alive(pid):
    """Whether a process runs; what is dead and not yet collected does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return state.strip()[:1] not in ("", "Z")


SWEEP = """
import pickle, sys
from empirical.backend import CPU
from empirical.store import RunStore
from empirical.sweep import train_all

runs, root, engine = pickle.load(sys.stdin.buffer)
train_all(runs, RunStore(root), backend=CPU, provenance={}, engine=engine)
"""


def started_sweep(runs, store, engine=local):
    """A sweep in a process of its own, which fails as the sweep does."""
    process = subprocess.Popen([sys.executable, "-c", SWEEP], cwd=ROOT, stdin=subprocess.PIPE)
    pickle.dump((runs, store.root, engine), process.stdin)
    process.stdin.close()
    return process


RUNS = {(cell, seed): smoke_run(cell, seed=seed) for cell in ("rpe", "nope", "ape") for seed in range(6)}


@st.composite
def partly_begun(draw):
    """Waiting runs in any order, and disjoint groups that were begun, each of one cell."""
    waiting = draw(st.lists(st.sampled_from(sorted(RUNS)), unique=True))
    label = st.integers(0, 3)  # 0: not begun
    labels = {cell: draw(st.lists(label, min_size=6, max_size=6)) for cell in ("rpe", "nope", "ape")}
    begun = [
        tuple(RUNS[cell, seed] for seed in range(6) if own[seed] == number)
        for cell, own in labels.items()
        for number in sorted(set(own) - {0})
    ]
    return [RUNS[one] for one in waiting], begun


@settings(max_examples=40)
@given(partly_begun(), st.integers(1, 8))
def test_every_waiting_run_is_in_exactly_one_group_and_begun_groups_stay(drawn, workers):
    waiting, begun = drawn
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder))
        for group in begun:
            store.tell(group, 1)
            write_bytes(store.state_path(group), b"")
        found = groups(waiting, store, workers)
    counts = Counter(run for group in found for run in group)
    assert all(counts[run] == 1 for run in waiting)
    assert all(len({run.group for run in group}) == 1 for group in found)
    stay = [group for group in begun if len(group) > 1 and set(group) & set(waiting)]
    assert set(stay) <= set(found)
    new = [group for group in found if group not in stay]
    left = set(waiting) - {run for group in stay for run in group}
    assert {run for group in new for run in group} == left
    assert all(len(group) <= max(1, ceil(len(left) / (2 * workers))) for group in new)
    assert len(new) >= min(len(left), workers), "a worker has nothing to do"


def test_a_note_without_a_state_binds_nothing(tmp_path):
    store, runs = RunStore(tmp_path), [RUNS["rpe", seed] for seed in range(4)]
    store.tell(tuple(runs[1:3]), 1)
    assert groups(runs, store, 1) == [tuple(runs[:2]), tuple(runs[2:])]


def test_a_run_that_fails_is_named_and_stops_no_other(tmp_path):
    good, gone = (logged_run(tmp_path, name) for name in ("good", "gone"))
    diverging = smoke_run("rpe", learning_rate=1e38)
    Path(gone.task.rpartition(":")[0]).unlink()
    runs, store, ended = [gone, diverging, good], RunStore(tmp_path / "runs"), []
    with pytest.raises(SweepError) as failed:
        train_all(runs, store, backend=CPU, provenance={good.id: {"of": "us"}}, on_done=ended.append)
    [line] = str(failed.value).splitlines()
    assert line.startswith("not all of 3 runs came to their end: ")
    assert "gone.py' does not exist" in line
    assert f"the loss of {diverging.id} is " in line
    assert len(ended) == 3
    assert set(ended) == {(run,) for run in runs}
    assert [store.finished(run) for run in runs] == [False, False, True]
    assert store.environment(good)["of"] == "us"
    assert len(trainings(good)) == 1


def test_what_is_finished_is_given_to_nobody(small_run, tmp_path):
    store, given = RunStore(tmp_path), []

    def engine(groups, root, backend, provenance):
        given.extend(groups)
        return iter([])

    train([small_run()], store)
    train_all([small_run(), small_run(seed=1)], store, backend=CPU, provenance={}, engine=engine)
    assert given == [(small_run(seed=1),)]


def test_however_it_is_killed_a_sweep_ends_with_the_bits_of_an_undisturbed_one(tmp_path):
    run = logged_run(tmp_path, "a", epochs=40)
    store, undisturbed = RunStore(tmp_path / "runs"), RunStore(tmp_path / "undisturbed")

    def kill_worker():
        wait_until(lambda: epochs_done(run, store) > 2)
        os.kill(trainings(run)[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_worker)
    killer.start()
    with pytest.raises(SweepError, match=r"a training process was killed .*: run the same command again to go on"):
        train_all([run], store, backend=CPU, provenance={})
    killer.join()

    before = epochs_done(run, store)
    caller = started_sweep([run], store)
    wait_until(lambda: epochs_done(run, store) > before + 2)
    caller.kill()
    caller.wait()
    wait_until(lambda: not is_alive(trainings(run)[-1]), seconds=10)
    assert not store.finished(run)

    train_all([run], store, backend=CPU, provenance={})
    train([run], undisturbed)
    assert same_numbers(run, store, undisturbed)
    assert len(trainings(run)) == 3
    assert nothing_is_left(store)


def test_two_sweeps_at_once_train_no_run_twice(tmp_path):
    run, store = logged_run(tmp_path, "a", epochs=40), RunStore(tmp_path / "runs")
    both = [started_sweep([run], store) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(trainings(run)) == 1
    assert nothing_is_left(store)
