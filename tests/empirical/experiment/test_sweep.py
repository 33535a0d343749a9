"""A sweep trains every run once and to its end, whatever else fails, is killed or trains at the same time."""

import fcntl
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthgen.empirical.experiment import sweep
from lengthgen.empirical.experiment import train as training_module
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import SweepError, groups, local, staying, train_all
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import CPU
from lengthgen.infrastructure.files import write_bytes
from tests.empirical.conftest import smoke_run
from tests.lengthgen.forked import Fork, forked
from tests.pool_here import pool_here
from tests.processes import PATIENCE, is_alive, wait_until

LOGGED = """
import fcntl, os
from lengthgen.circuits.tasks import load
from lengthgen.empirical.experiment.store import RunStore

def log(*words):
    with open(__file__ + ".log", "a") as file:
        print(os.getpid(), *words, file=file)

def tell(store, runs, done, noted=getattr(RunStore.note_progress, "noted", RunStore.note_progress)):
    noted(store, runs, done)
    if runs[0].task.name == __file__ + ":task":
        log(done)
        if os.path.exists(__file__ + ".brake"):
            with open(__file__ + ".brake") as brake:
                if brake.read() == str(done):
                    fcntl.flock(brake, fcntl.LOCK_SH)

log("begun")
tell.noted = tell.__defaults__[0]  # the file may be run twice
if os.getpid() != {test}:
    RunStore.note_progress = tell
task = load("parity")
"""
"""A task whose file logs every process that begins to train it, and each epoch; there a brake may hold it."""


def logged_run(folder, name, **training):
    """A run of a task with a log of its own."""
    path = folder / f"{name}.py"
    path.write_text(LOGGED.replace("{test}", str(os.getpid())))
    return smoke_run("rpe", task=f"{path}:task", **training)


def beside(run, suffix):
    """A file beside that of the run's task."""
    return Path(run.task.name.rpartition(":")[0] + suffix)


def epochs(run):
    """The processes, other than this one, that began to train a run -> the epochs that each noted as done."""
    noted = {}
    for line in beside(run, ".log").read_text().splitlines() if beside(run, ".log").exists() else ():
        pid, word = line.split()
        if int(pid) != os.getpid():
            noted.setdefault(int(pid), []).extend([int(word)] if word != "begun" else [])
    return noted


def trainings(run):
    """The processes, other than this one, that began to train a run, in order."""
    return list(epochs(run))


def held(run, done):
    """The process that a brake holds after some epochs, once there is one."""
    return next((pid for pid, noted in epochs(run).items() if noted[-1:] == [done] and is_alive(pid)), None)


@contextmanager
def brake(run, done) -> Iterator[Callable[[], None]]:
    """Hold a process that has trained so many epochs of a run; yields a function that lets it go on before the end."""
    path = beside(run, ".brake")
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        print(done, end="", file=file, flush=True)

        def release():
            path.unlink(missing_ok=True)
            fcntl.flock(file, fcntl.LOCK_UN)

        try:
            yield release
        finally:
            release()


def same_numbers(run, store, other):
    names = ("checkpoint.safetensors", "metrics.parquet", "config.json")
    return all((store.folder(run) / name).read_bytes() == (other.folder(run) / name).read_bytes() for name in names)


def nothing_is_left(store):
    """True if no state of an unfinished training, nothing half-written and nothing broken is left."""
    unfinished = [path for path in (store.root / ".unfinished").rglob("*") if path.is_file()]
    return not unfinished and all(entry.run and not entry.broken for entry in store.contents())


@contextmanager
def started_sweep(runs, store, out, engine=local) -> Iterator[Fork]:
    """A sweep in a process of its own, which fails as the sweep does and prints to files that begin as `out`."""
    sweeping = partial(train_all, runs, store, backend=CPU, provenance={}, engine=engine)
    with forked(sweeping, out.with_suffix(".out"), out.with_suffix(".err")) as process:
        yield process


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
    return [RUNS[key] for key in waiting], begun


@settings(max_examples=40)
@given(partly_begun(), st.integers(1, 8))
def test_every_waiting_run_is_in_exactly_one_group_and_begun_groups_stay(drawn, workers):
    waiting, begun = drawn
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder))
        for group in begun:
            store.note_progress(group, 1)
            write_bytes(store.state_path(group), b"")
        all_groups = groups(waiting, store, workers)
    counts = Counter(run for group in all_groups for run in group)
    assert all(counts[run] == 1 for run in waiting)
    assert all(len({run.group for run in group}) == 1 for group in all_groups)
    stay = [group for group in begun if len(group) > 1 and set(group) & set(waiting)]
    assert set(stay) <= set(all_groups)
    new = [group for group in all_groups if group not in stay]
    left = set(waiting) - {run for group in stay for run in group}
    assert {run for group in new for run in group} == left
    if workers > 1:
        assert all(len(group) <= max(3, ceil(len(left) / (2 * workers))) for group in new)
    assert len(new) >= min(len(left), workers), "a worker has nothing to do"


def test_a_run_that_fails_is_named_and_its_process_stays_for_other_groups_until_the_block_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # one process for all runs
    good, gone, later = (logged_run(tmp_path, name) for name in ("good", "gone", "later"))
    diverging = smoke_run("rpe", learning_rate=1e38)
    Path(gone.task.name.rpartition(":")[0]).unlink()
    runs, store, ended = [gone, diverging, good], RunStore(tmp_path / "runs"), []
    with staying(CPU, store) as engine:
        sweep_on = partial(train_all, store=store, backend=CPU, engine=engine)
        with pytest.raises(SweepError) as failed:
            sweep_on(runs, provenance={good.id: {"of": "us"}}, on_done=ended.append)
        [process] = multiprocessing.active_children()
        sweep_on([later], provenance={})
    assert not is_alive(process.pid)
    assert trainings(good) == trainings(later) == [process.pid]
    [line] = str(failed.value).splitlines()
    assert line.startswith("not all of 3 runs were finished: ")
    assert "gone.py' does not exist" in line
    assert f"the loss of {diverging.id} is " in line
    assert len(ended) == 3
    assert set(ended) == {(run,) for run in runs}
    assert [store.finished(run) for run in (*runs, later)] == [False, False, True, True]
    assert store.environment(good)["of"] == "us"


def test_a_finished_run_is_given_to_no_engine(small_run, tmp_path):
    store, received = RunStore(tmp_path), []

    def engine(jobs, backend):
        received.extend(job.trained for job in jobs)
        return iter([])

    train([small_run()], store)
    train_all([small_run(), small_run(seed=1)], store, backend=CPU, provenance={}, engine=engine)
    assert received == [(small_run(seed=1),)]


def test_half_written_files_of_ended_workers_go_with_the_sweep(small_run, tmp_path):
    half = tmp_path / ".unfinished" / "a-run.0123.finished" / ".config.json.0123.partial"

    def engine(jobs, backend):
        half.parent.mkdir(parents=True)
        half.touch()
        yield jobs[0], None

    def interrupt(runs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_all([small_run()], RunStore(tmp_path), backend=CPU, provenance={}, engine=engine, on_done=interrupt)
    assert not half.exists()


def test_however_it_is_killed_a_sweep_ends_with_the_bits_of_an_undisturbed_one(tmp_path, monkeypatch):
    run = logged_run(tmp_path, "a", epochs=8)
    store, undisturbed = RunStore(tmp_path / "runs"), RunStore(tmp_path / "undisturbed")

    with ThreadPoolExecutor(1) as beside_us, brake(run, 3):
        sweeping = beside_us.submit(train_all, [run], store, backend=CPU, provenance={})
        os.kill(wait_until(lambda: held(run, 3)), signal.SIGKILL)
        with pytest.raises(SweepError, match=r"a training process was killed .*: run the same command again to go on"):
            sweeping.result()

    with brake(run, 6), started_sweep([run], store, tmp_path / "caller") as caller:
        second = wait_until(lambda: held(run, 6))
        os.kill(caller.pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(second))
    assert not store.finished(run)

    here, note = [], RunStore.note_progress
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "note_progress", lambda *noted: (here.append(noted[-1]), note(*noted)))
        patch.setattr(sweep, "pool", pool_here)  # no process is killed any more
        train_all([run], store, backend=CPU, provenance={})
    train([run], undisturbed)
    assert same_numbers(run, store, undisturbed)
    assert [*epochs(run).values(), here] == [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8]]
    assert nothing_is_left(store)


def test_two_sweeps_at_once_train_no_run_twice(tmp_path, monkeypatch, capsys):
    """The first by a process, the second by this one, which must not train."""
    run, store = logged_run(tmp_path, "a"), RunStore(tmp_path / "runs")
    monkeypatch.setattr(sweep, "pool", pool_here)
    with brake(run, 1) as release, started_sweep([run], store, tmp_path / "first") as first:
        holder = wait_until(lambda: held(run, 1))
        assert holder == first.pid
        monkeypatch.setattr(training_module, "Ensemble", None)
        with ThreadPoolExecutor(1) as beside_us:
            second = beside_us.submit(train_all, [run], store, backend=CPU, provenance={})
            assert wait_until(lambda: capsys.readouterr().err).startswith(f"waiting for process {holder} on ")
            release()
            second.result(PATIENCE)
        assert first.ends() == 0
    assert trainings(run) == [holder]
    assert nothing_is_left(store)
