"""Standard streams of a command: all are open and in UTF-8, and a failed write of the answer has its own error."""

import io
import os
import sys
from typing import Any


class LostAnswer(Exception):
    """Error: the answer cannot be written to stdout; `unwanted`: the reader has closed the pipe, as `head` does.

    It is no OSError, since typer and rich react to those of a broken pipe themselves and end the process.
    """

    def __init__(self, why: str, *, unwanted: bool = False) -> None:
        super().__init__(f"the answer cannot be written to stdout: {why}")
        self.unwanted = unwanted


class _Answer(io.FileIO):
    """Stdout; a failed write raises LostAnswer."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # for the output that Python flushes at exit
            raise LostAnswer(str(error.strerror), unwanted=isinstance(error, BrokenPipeError)) from error


class _Messages(io.FileIO):
    """Stderr; messages that cannot be written are dropped, and the work continues."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError:
            return len(content)


def open_streams() -> None:
    """Open and configure the standard streams; those that the caller has replaced only get another encoding.

    LostAnswer if stdout was closed, before any work starts.
    """
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:  # else the next opened file gets the stream's number, and messages go into it
        null = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(null, True)
        setattr(sys, name, open(null, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115 (open until exit)
    if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Answer(1, "wb", closefd=False)), encoding="utf-8", line_buffering=sys.stdout.isatty()
        )
    if sys.stderr is sys.__stderr__:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Messages(2, "wb", closefd=False)), encoding="utf-8", line_buffering=True
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # independent of the locale; lone surrogates in file names are escaped
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if "stdout" in closed:
        raise LostAnswer("it is closed; name a file, or /dev/null")
