"""Work in a fork of this process, which has imported most of what it needs: that takes a new Python seconds."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from tests.processes import PATIENCE, wait_until


class Fork:
    """Process that runs a function in a group of its own, and writes what it prints to two files."""

    def __init__(self, work: Callable[[], Any], out: Path, err: Path) -> None:
        self.out, self.err = out, err
        for path in (out, err):
            path.write_text("")
        self._process = multiprocessing.get_context("fork").Process(target=_become, args=(work, out, err))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def says(self, text: str) -> None:
        """Wait until it has printed this on stderr."""
        self.comes_to(lambda: text in self.err.read_text())

    def comes_to(self, happened: Callable[[], Any]) -> None:
        """Wait until something is true, while it runs."""
        wait_until(lambda: happened() or not self._process.is_alive())
        assert happened(), self.err.read_text()

    def ends(self, seconds: float = PATIENCE) -> int:
        """Wait for the end; return the exit status, -N for signal N."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, "it never ended"
        return self._process.exitcode


@contextmanager
def forked(work: Callable[[], Any], out: Path, err: Path) -> Iterator[Fork]:
    """A fork whose whole group is killed at the end."""
    fork = Fork(work, out, err)
    try:
        yield fork
    finally:
        with suppress(ProcessLookupError):
            os.killpg(fork.pid, signal.SIGKILL)
        fork.ends()


def _become(work: Callable[[], Any], out: Path, err: Path) -> None:
    os.setsid()
    # As a new Python has them: the set-up of the tests may have given them handlers that do nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # Python's helper process of this process would survive the fork, and know nothing of its semaphores.
    resource_tracker._resource_tracker._fd = resource_tracker._resource_tracker._pid = None  # type: ignore[attr-defined]
    for path, stream in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY), stream)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", 1, encoding="utf-8", closefd=False) for stream in (1, 2))
    work()
