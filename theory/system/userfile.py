"""The user's own code: running its file, finding an object there, calling its functions, and what these may not do."""

import os
import runpy
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, NoReturn, TypeVar

from theory.system.errors import LengthgenError, nearest, one_line

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


def split_file(text: str) -> tuple[str, str | None] | None:
    """The file and the name that `path/to/file.py:name` consists of; without `:name` the name is None.

    None for a text that names no Python file.
    """
    path, colon, name = text.rpartition(":")
    if colon and path.endswith(".py"):
        return path, name
    return (text, None) if text.endswith(".py") else None


def load_object(text: str, *, what: str, error: type[LengthgenError], kind: type = object) -> Any:
    """The object that `path/to/file.py:name` names. The file is run: it is the user's own code.

    Args:
        text: file and name.
        what: the object is, for messages: "task", "pattern".
        error: raised where the text names no object of a file, the file does not define it, or as `run_file` does.
        kind: the object's exact type, since a subclass could change what the methods do; any type if left out.
    """
    path, name = split_file(text) or (text, None)
    if name is None:
        raise error(f"'{text}' names no {what}: write path/to/file.py:name")
    defined = run_file(path, what=what, error=error)
    if name not in defined or not _is_of(kind, defined[name]):
        objects = objects_of(defined, kind)
        wanted = "" if kind is object else f"{kind.__name__} "
        hint = nearest(name, objects, otherwise=f"it defines {', '.join(objects) or 'none'}")
        raise error(f"{what} file '{path}' defines no {wanted}'{name}': {hint}")
    return defined[name]


def objects_of(defined: Mapping[str, Any], kind: type = object) -> dict[str, Any]:
    """Public objects of exactly one type among all that a file defines, by name; of any type all but modules."""
    return {name: value for name, value in defined.items() if not name.startswith("_") and _is_of(kind, value)}


def _is_of(kind: type, value: Any) -> bool:
    """Whether the type of a value is this one; `object` stands for all types but that of modules."""
    return type(value) is not ModuleType if kind is object else type(value) is kind


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
