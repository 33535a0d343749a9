"""The standard streams of a command: all three open, in UTF-8, and a lost answer is told from other errors."""

import io
import os
import sys
from typing import Any


class LostAnswer(Exception):
    """The answer cannot be written to stdout; the message says why.

    It is no OSError, since typer and rich answer those of a broken pipe themselves, by ending the process.

    Attributes:
        unwanted: its reader has gone, as `head` does when it has its lines.
    """

    def __init__(self, why: str, *, unwanted: bool = False) -> None:
        super().__init__(f"the answer cannot be written to stdout: {why}")
        self.unwanted = unwanted


class _Answer(io.FileIO):
    """Stdout."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # for what Python writes at its end
            raise LostAnswer(str(error.strerror), unwanted=isinstance(error, BrokenPipeError)) from error


class _Messages(io.FileIO):
    """Stderr. Messages that cannot be written are dropped: nobody is there to be told, and the work goes on."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError:
            return len(content)


def open_streams() -> None:
    """Makes the streams fit to be used; those that the caller has replaced, as tests do, only get another encoding.

    Raises:
        LostAnswer: stdout was closed, which is told before the work and not after it.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:  # else the next file that is opened takes the stream's place, and messages go into it
        null = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(null, True)
        setattr(sys, name, open(null, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115 (to the end)
    if sys.stdout is sys.__stdout__:
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Answer(1, "wb", closefd=False)), encoding="utf-8", line_buffering=sys.stdout.isatty()
        )
    if sys.stderr is sys.__stderr__:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Messages(2, "wb", closefd=False)), encoding="utf-8", line_buffering=True
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale; a lone surrogate of a file name is escaped
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if "stdout" in closed:
        raise LostAnswer("it is closed; name a file, or /dev/null")
