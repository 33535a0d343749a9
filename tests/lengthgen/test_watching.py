"""The rows shown of a sweep are those that its processes note, whatever else lies or moves in the store."""

import io
import re
import sys
import threading
from dataclasses import replace

import pytest
from rich.console import Console

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.protocol import load_profile
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.infrastructure.files import write_bytes
from lengthgen.terminal import watching as watched
from lengthgen.terminal.watching import watching


def run(task="copy", seed=0, epochs=10):
    profile = load_profile("smoke", {"training": {"epochs": epochs}})
    return Run(
        task=TaskSpec(name=task, format="aligned"), encoding="rpe", digest="", train=(1, 2), test=(1, 2, 3), seed=seed,
        model=profile.models[0], training=profile.training, evaluation=profile.evaluation,
    )  # fmt: skip


COPY = (run(seed=0), run(seed=1))
PARITY = (run("parity"),)
RUNS = [*COPY, *PARITY]


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


@pytest.fixture
def clock(monkeypatch):
    """Clock that shows the seconds that the test sets."""
    now = [0.0]
    monkeypatch.setattr(watched, "monotonic", lambda: now[0])
    return now


class Terminal(io.StringIO):
    """Stream that holds all that was ever written to it."""

    def isatty(self):
        return True

    def text(self):
        """Text written so far, without colours and movements."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())


def terminal_as_stderr(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def finish(store, group):
    for member in group:
        store.folder(member).mkdir(parents=True)
    store.remove_state(group)


def shown(watch):
    console = Console(width=100, file=io.StringIO())
    console.print(watch.table())
    return console.file.getvalue().splitlines()


def test_groups_under_way_have_a_row_with_epochs_and_time_left(store, clock):
    watch = watched._Watch(store, RUNS)
    store.note_progress(COPY, 1)
    watch.look()
    clock[0] = 30.0
    store.note_progress(COPY, 4)
    store.note_progress(PARITY, 2)
    total, head, *groups = [line.split() for line in shown(watch)]
    assert head == ["under", "way", "epochs", "left"]
    # Three epochs in 30 s, six to go; parity was seen for the first time.
    assert sorted(groups) == [
        ["copy-aligned-rpe-w16l2h2-2-runs", "4/10", "0:01:00"],
        ["parity-aligned-rpe-w16l2h2-seed0", "2/10", "?"],
    ]
    # 10 epochs of 30 in 30 s.
    assert " ".join(total) == "training: 0/3 runs, about 0:01:00 left"


def test_a_group_that_ended_is_counted_and_has_no_row(store, clock):
    watch = watched._Watch(store, RUNS)
    store.note_progress(COPY, 10)
    clock[0] = 40.0
    finish(store, COPY)
    watch.end(COPY)
    total, _, *groups = shown(watch)
    assert total.strip() == "training: 2/3 runs, about 0:00:20 left"
    assert not groups


def test_a_run_that_ended_counts_before_the_others_of_its_group_do(store, clock):
    watch = watched._Watch(store, RUNS)
    store.note_progress(COPY[:1], 6)
    watch.look()
    clock[0] = 30.0
    finish(store, COPY[:1])  # early
    store.note_progress(COPY[1:], 5)
    total, _, group = shown(watch)
    # 15 epochs of 30 in 30 s.
    assert total.strip() == "training: 1/3 runs, about 0:00:30 left"
    assert group.split() == ["copy-aligned-rpe-w16l2h2-seed1", "5/10", "?"]


def test_a_group_that_failed_keeps_its_note_and_has_no_row(store):
    watch = watched._Watch(store, RUNS)
    store.note_progress(COPY, 3)
    watch.end(COPY)
    assert len(shown(watch)) == 2


def test_no_time_left_is_told_before_it_means_something(store, clock):
    watch = watched._Watch(store, [run(seed=seed, epochs=100) for seed in range(10)])
    store.note_progress(tuple(watch.runs.values())[:1], 10)
    clock[0] = 30.0
    assert shown(watch)[0].strip() == "training: 0/10 runs", "1 % is done"
    clock[0] = 60.0
    assert shown(watch)[0].strip() == "training: 0/10 runs, about 1:39:00 left"


def test_progress_of_an_earlier_sweep_is_shown_only_once_it_moves(store):
    store.note_progress(COPY, 3)
    watch = watched._Watch(store, RUNS)
    assert len(shown(watch)) == 2
    store.note_progress(COPY, 4)
    assert "4/10" in shown(watch)[2]


def test_time_left_counts_only_what_was_done_since_the_first_look(store, clock):
    store.note_progress(COPY, 5)
    watch = watched._Watch(store, RUNS)
    clock[0] = 10.0
    store.note_progress(COPY, 6)  # 2 epochs in 10 s: 18 of 30 are left
    assert shown(watch)[0].strip() == "training: 0/3 runs, about 0:01:30 left"


def test_epochs_lost_when_training_was_stopped_do_not_slow_the_estimate(store, clock):
    store.note_progress(COPY, 5)
    watch = watched._Watch(store, RUNS)
    store.note_progress(COPY, 3)
    watch.look()
    clock[0] = 10.0
    store.note_progress(COPY, 4)  # 2 epochs in 10 s: 22 of 30 are left
    assert shown(watch)[0].strip() == "training: 0/3 runs, about 0:01:50 left"


def test_a_group_that_begins_anew_from_its_last_state_is_judged_anew(store, clock):
    watch = watched._Watch(store, RUNS)
    store.note_progress(PARITY, 8)
    watch.look()
    clock[0] = 100.0
    store.note_progress(PARITY, 6)
    assert shown(watch)[2].split()[1:] == ["6/10", "?"]
    clock[0] = 102.0
    store.note_progress(PARITY, 8)
    assert shown(watch)[2].split()[1:] == ["8/10", "0:00:02"]


def test_finished_runs_and_strangers_are_left_out(store):
    finish(store, PARITY)
    watch = watched._Watch(store, [run_ for run_ in RUNS if not store.finished(run_)])
    store.note_progress((replace(COPY[0], seed=7),), 3)
    assert [line.strip() for line in shown(watch)] == ["training: 0/2 runs", "under way  epochs  left"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"runs": [{}], "done": 1}', b'{"runs": [], "done": null}'])
def test_notes_that_are_none_are_passed_over(store, content):
    store.note_progress(COPY, 1)
    write_bytes(store.root / ".unfinished" / "other" / "progress.json", content)
    assert len(shown(watched._Watch(store, RUNS))) == 2


def test_it_looks_on_while_notes_come_and_go(store):
    """Two groups begin, end and begin again as fast as they can; an error in the looking thread fails the test."""
    stop = threading.Event()

    def train(group):
        while not stop.is_set():
            for done in range(4):
                store.note_progress(group, done)
            store.remove_state(group)

    trainers = [threading.Thread(target=train, args=(group,)) for group in (COPY, PARITY)]
    for trainer in trainers:
        trainer.start()
    try:
        watch = watched._Watch(store, RUNS)
        looks = [shown(watch) for _ in range(200)]
    finally:
        stop.set()
        for trainer in trainers:
            trainer.join()
    assert len({len(look) for look in looks}) > 1, "groups were seen to come and go"


def test_on_a_terminal_the_table_is_live_and_gone_at_the_end(store, monkeypatch):
    screen = terminal_as_stderr(monkeypatch)
    with watching(store, RUNS) as on_done:
        store.note_progress(COPY, 3)
        wait_for(lambda: "3/10" in screen.text())
        finish(store, COPY)
        on_done(COPY)
        wait_for(lambda: "2/3 runs" in screen.text())
    assert "\x1b[?25h" in screen.getvalue(), "the cursor is back"


def test_elsewhere_groups_that_end_say_nothing_and_the_end_has_a_line(store, capsys):
    with watching(store, RUNS) as on_done:
        for group in (COPY, PARITY):
            finish(store, group)
            on_done(group)
    assert capsys.readouterr().err.splitlines() == ["training: 3 runs to do", "training: 3/3 runs"]


def test_elsewhere_there_is_one_line_a_minute_for_all_that_is_under_way(store, capsys, monkeypatch):
    monkeypatch.setattr(watched, "EVERY", 0.02)
    with watching(store, RUNS):
        store.note_progress(COPY, 3)
        store.note_progress(PARITY, 1)
        lines = []

        def reported():
            lines.extend(capsys.readouterr().err.splitlines())
            return [
                line for line in lines
                if "copy-aligned-rpe-w16l2h2-2-runs, 3/10 epochs" in line
                and "parity-aligned-rpe-w16l2h2-seed0, 1/10 epochs" in line
            ]  # fmt: skip

        wait_for(reported)
    assert lines[0] == "training: 3 runs to do"
    assert reported()[0].startswith("training: 0/3 runs")
    assert "\x1b" not in "".join(lines)
    capsys.readouterr()
    threading.Event().wait(0.1)
    assert capsys.readouterr().err == "", "nothing is said after the end"


def test_nothing_to_do_says_nothing(store, capsys):
    finish(store, RUNS)
    with watching(store, RUNS):
        pass
    assert capsys.readouterr() == ("", "")


def test_an_error_in_the_sweep_comes_through(store, monkeypatch):
    screen = terminal_as_stderr(monkeypatch)
    with pytest.raises(KeyboardInterrupt), watching(store, RUNS):
        raise KeyboardInterrupt
    assert "\x1b[?25h" in screen.getvalue(), "the cursor is back"


def wait_for(happened, seconds=20):
    waited = threading.Event()
    for _ in range(seconds * 20):
        if happened():
            return
        waited.wait(0.05)
    raise AssertionError("it did not happen")
