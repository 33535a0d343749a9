"""Processes that tests start: none outlives its test, and a test looks for an event instead of sleeping."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PATIENCE = 120
"""Seconds after which what is awaited is taken never to happen, however busy the machine is."""
DEAF = ("sh", "-c", """trap '' INT; exec "$0" "$@" """)
"""Prefix that starts a command as a background job of a shell is started: with Ctrl-C ignored."""


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A process in a group of its own, which is killed as a whole at the end; `options` are those of Popen."""
    with subprocess.Popen(command, text=True, start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_until(happened: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Waits until something is true, and returns it."""
    end = time.monotonic() + seconds
    while not (answer := happened()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
    return answer


def alive(group: int) -> dict[Path, str]:
    """The processes of a group that still run: their folders in /proc, and their command lines."""
    running = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended while it was looked at
            state, _, of_group, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(of_group) == group and state not in "ZX":
                running[folder] = (folder / "cmdline").read_text()
    return running


def is_alive(pid: int) -> bool:
    """True if a process runs; one that is dead and not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def parent(pid: int) -> int | None:
    """The process that a process was started by, or was given to since; None if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return None
