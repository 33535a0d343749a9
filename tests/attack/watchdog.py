"""Calling the command in a fork of this process, held to a time and a memory, with nobody left behind."""

import gc
import importlib
import os
import pkgutil
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

import lengthgen
from tests.processes import alive

LARGEST_OUTPUT = 8 << 20
"""Most bytes of an output that are read."""


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The end of one call of the command.

    Attributes:
        status: exit status, -N for signal N; None where it was out of time.
        peak_mib: largest memory of any of its processes beyond what it began with.
        orphans: processes of it that were still there a moment later.
    """

    arguments: tuple[str, ...]
    status: int | None
    out: str
    err: str
    seconds: float
    peak_mib: int
    orphans: int


@dataclass(frozen=True, kw_only=True)
class Kill:
    """The moment at which the command is killed, itself alone: what it began is to end by itself.

    It is before the event-th time that it touches a file or a folder, from 1 on, or after some seconds.
    """

    event: int = 0
    seconds: float = 0.0


NEVER = Kill()
TOUCHES = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "fcntl.flock")
"""Audit events that count for `Kill`; of opening, only for writing."""
COUNTED = "touches: "
"""Words on the last line of `Ending.err` before the count of touches, where it is asked for."""


def warm() -> None:
    """Import everything, so that a fork finds it imported."""
    for module in pkgutil.walk_packages(lengthgen.__path__, "lengthgen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("pyarrow.parquet", "safetensors.torch", "matplotlib.backends.backend_pdf", "scipy.stats"):
        importlib.import_module(name)
    gc.freeze()


def call(
    arguments: Sequence[str],
    *,
    folder: Path,
    cache: Path,
    seconds: float = 60.0,
    mib: int | None = None,
    kill: Kill | None = None,
) -> Ending:
    """Call `lengthgen ARGUMENTS` in a folder; after some seconds it is killed with all that it began.

    Private memory beyond `mib` more than it begins with is refused by the system. With NEVER as `kill`, its last line
    on stderr counts the moments at which it might be killed.
    """
    began = monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _be_the_command(arguments, folder, cache, out.fileno(), err.fileno(), mib, kill)
        start_kib = _resident_kib(child)
        in_time = _wait(child, kill.seconds if kill and kill.seconds else seconds)
        if not in_time and kill and kill.seconds:
            os.kill(child, signal.SIGKILL)
            in_time = True
        if not in_time:
            os.killpg(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        return Ending(
            arguments=tuple(arguments),
            status=os.waitstatus_to_exitcode(status) if in_time else None,
            out=_read(out),
            err=_read(err),
            seconds=monotonic() - began,
            peak_mib=max(0, usage.ru_maxrss - start_kib) >> 10,
            orphans=_end_group(child),
        )


def _be_the_command(
    arguments: Sequence[str], folder: Path, cache: Path, out: int, err: int, mib: int | None, kill: Kill | None
) -> None:
    """Become the command; never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = str(cache)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if mib is not None:
            resource.setrlimit(resource.RLIMIT_DATA, ((mib << 20) + _data_bytes(),) * 2)
        if kill is not None:
            _count_touches(kill.event)
        sys.argv = ["lengthgen", *arguments]
        sys.modules["__main__"] = ModuleType("__main__")  # else workers would import that of the attack
        from lengthgen.cli import main

        main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
        finally:
            os._exit(status & 0xFF)


def _count_touches(last: int) -> None:
    """Kill this process before it touches a file for the last time; or print at the end how often it did."""
    count = 0

    def touched(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in TOUCHES and (event != "open" or _is_writing(*arguments[1:3])):
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(touched)
    before = os._exit

    def tell(status: int) -> None:
        os.write(2, f"{COUNTED}{count}\n".encode())
        before(status)

    os._exit = tell  # type: ignore[assignment]


def _is_writing(mode: Any, flags: Any) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def _wait(child: int, seconds: float) -> bool:
    """True if the process ended in time; it is not reaped."""
    descriptor = os.pidfd_open(child)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def _end_group(group: int, patience: float = 1.5) -> int:
    """Count the processes of a group that outlive its leader by more than the patience; none of them is left."""
    until = monotonic() + patience
    while (left := alive(group)) and monotonic() < until:
        sleep(0.05)
    if left:
        os.killpg(group, signal.SIGKILL)
    return len(left)


def _read(file: Any) -> str:
    file.seek(0)
    return file.read(LARGEST_OUTPUT).decode("utf-8", "backslashreplace")


def _resident_kib(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1]) * 4
    except (OSError, IndexError):
        return 0


def _data_bytes() -> int:
    """Private memory of this process, as RLIMIT_DATA counts it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    [line] = [line for line in status.splitlines() if line.startswith("VmData")]
    return int(line.split()[1]) << 10
