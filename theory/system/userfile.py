"""Code of the user's own: running its file, calling its functions, and what both may not do."""

import os
import runpy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

from theory.system.errors import LengthgenError, one_line

LARGEST = 16 << 20
"""Bytes of the largest Python file that is run."""
LONGEST_NAME = 100
"""Characters of the name of a task or an encoding."""
LONGEST_REASON = 300
"""Characters of a failure that a message repeats."""

T = TypeVar("T")


@contextmanager
def user_code(
    what: str, *, error: type[LengthgenError], expected: tuple[type[Exception], ...] = (LengthgenError,)
) -> Iterator[None]:
    """Turns whatever the user's own code raises within, sys.exit included, into one line: "WHAT: KIND: REASON".

    Args:
        what: which function of which object or file fails, as the start of a sentence.
        error: raised instead.
        expected: passed on as they are; KeyboardInterrupt always is.
    """
    passed: tuple[type[BaseException], ...] = (KeyboardInterrupt, *expected)
    outer = getattr(_running, "process", None)
    _running.process = os.getpid()
    try:
        yield
    except passed:
        raise
    except BaseException as failure:
        raise error(f"{what}: {_reason(failure)}") from failure
    finally:
        _running.process = outer


_running = threading.local()
"""`process`: the process in which this thread runs the user's own code, or None."""
_exit = os._exit


def _exit_unless_user_code(status: int) -> NoReturn:
    """`os._exit`, but an error where the user's own code calls it: a command would end, without a word, in success.

    Processes that this code has forked end as ever.
    """
    if getattr(_running, "process", None) == os.getpid():
        raise SystemExit(f"it calls os._exit({status})")
    _exit(status)


def _reason(failure: BaseException) -> str:
    try:
        text = str(failure)[: 2 * LONGEST_REASON]
    except Exception:
        text = "(its message cannot be shown)"
    return one_line(" ".join(f"{type(failure).__name__}: {text}".split()), longest=LONGEST_REASON)


class Guarded(Generic[T]):
    """A function of the user's own that fails as `user_code` says, and whose answer is read before it is used."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        read: Callable[[Any], T],
        fails: Callable[..., str],
        error: type[LengthgenError],
        expected: tuple[type[Exception], ...] = (LengthgenError,),
    ) -> None:
        """Guards a function, or anew the function that is guarded already.

        Args:
            function: of the user's own.
            read: its answer -> what callers get; may raise.
            fails: the function's arguments -> `what` of `user_code`.
            error: of `user_code`.
            expected: of `user_code`.
        """
        self.function: Callable[..., Any] = function.function if isinstance(function, Guarded) else function
        self._read, self._fails, self._error = read, fails, error
        self._passed: tuple[type[BaseException], ...] = (KeyboardInterrupt, *expected)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guarded) and self.function is other.function

    def __hash__(self) -> int:
        return hash(id(self.function))

    def __call__(self, *arguments: Any) -> T:
        # As `user_code` does it, without a context manager or a message for each of a million calls.
        outer = getattr(_running, "process", None)
        _running.process = os.getpid()
        try:
            return self._read(self.function(*arguments))
        except self._passed:
            raise
        except BaseException as failure:
            raise self._error(f"{self._fails(*arguments)}: {_reason(failure)}") from failure
        finally:
            _running.process = outer


def run_file(path: str, *, what: str, error: type[LengthgenError]) -> dict[str, Any]:
    """Runs a Python file; returns what it defines.

    Args:
        path: of the file.
        what: it is to define, for messages: "task", "pattern".
        error: raised, in one line, where the file does not exist, is too large or fails.
    """
    require_file(path, what=what, error=error)
    size = Path(path).stat().st_size
    if size > LARGEST:
        raise error(f"{what} file '{path}' has {size:,} bytes; at most {LARGEST:,} are run")
    os._exit = _exit_unless_user_code
    with user_code(f"{what} file '{path}' fails", error=error, expected=()):
        return runpy.run_path(path)


def require_file(path: str, *, what: str, error: type[LengthgenError]) -> None:
    """Raises `error` unless there is a regular file; `what` it is to hold, for the message: "task", "array"."""
    with user_code(f"{what} file '{path}' cannot be read", error=error):
        if not Path(path).exists():
            raise error(f"{what} file '{path}' does not exist")
        if not Path(path).is_file():
            raise error(f"'{path}' is no regular file: name a {what} file")


def require_name(name: Any, what: str, error: type[LengthgenError]) -> None:
    """Raises `error` unless a name is short and can be printed. `what`: "name of a task", for the message."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise error(f"the {what} is a text of 1 to {LONGEST_NAME} printable characters, not {shown(name)}")


def shown(value: Any) -> str:
    """A value of the user's own in a message: itself if it is a short text or a number, else its type."""
    if isinstance(value, str):
        return repr(str.__str__(value)[:60]) + ("..." if len(value) > 60 else "")
    if value is None or isinstance(value, bool | float) or (type(value) is int and abs(value) < 10**20):
        return repr(value)
    return f"a value of type {type(value).__name__}"
