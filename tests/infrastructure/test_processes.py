"""Workers of a pool: they exit in order after their work, and are killed when they cannot or must not go on."""

import multiprocessing.util
import threading
import time
from pathlib import Path

import pytest

from lengthgen.infrastructure import processes
from lengthgen.infrastructure.processes import interrupts_left, pool


def leave_a_mark(path: Path) -> None:
    """Have this process write a file when it exits in order."""
    multiprocessing.util.Finalize(None, path.write_text, ("exited",), exitpriority=0)


def leave_a_thread() -> None:
    """Begin a thread that keeps this process from exiting."""
    threading.Thread(target=time.sleep, args=(60,)).start()


def test_workers_exit_in_order_after_their_work(tmp_path: Path) -> None:
    with pool(1) as workers:
        with interrupts_left():
            done = workers.submit(leave_a_mark, tmp_path / "mark")
        done.result()
    assert (tmp_path / "mark").read_text() == "exited"


def test_a_worker_that_cannot_exit_is_killed_after_the_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.2)
    with pool(1) as workers:
        with interrupts_left():
            done = workers.submit(leave_a_thread)
        done.result()
        began = time.monotonic()
    assert time.monotonic() - began < 30


def test_workers_are_killed_at_once_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 60.0)
    with pytest.raises(ZeroDivisionError), pool(1) as workers:
        with interrupts_left():
            workers.submit(time.time).result()
            workers.submit(time.sleep, 60)
        began = time.monotonic()
        raise ZeroDivisionError
    assert time.monotonic() - began < 30
