"""User-defined code: run its file, find an object in it, call its functions, and turn its failures into messages."""

import os
import runpy
import threading
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Generic, NoReturn, TypeVar

from lengthgen.infrastructure.errors import LengthgenError, nearest, one_line
from lengthgen.infrastructure.neighbours import LARGEST, importing_beside

RUN_NAME = "<run_path>"
"""Value of `__name__` in a Python file that is run, as `runpy` has it."""
LONGEST_NAME = 100
"""Largest number of characters of the name of a task or an encoding."""
LONGEST_REASON = 300
"""Largest number of characters of a failure that a message repeats."""

T = TypeVar("T")


@contextmanager
def user_code(
    what: str, *, error: type[LengthgenError], expected: tuple[type[Exception], ...] = (LengthgenError,)
) -> Iterator[None]:
    """Context manager that turns every error of user-defined code, sys.exit included, into one line.

    The line reads "WHAT: KIND: REASON".

    Args:
        what: the function and the object or file that fails, as the start of a sentence.
        error: the exception to raise instead.
        expected: exceptions that are passed on unchanged; KeyboardInterrupt always is.
    """
    passed_on: tuple[type[BaseException], ...] = (KeyboardInterrupt, *expected)
    outer_process = getattr(_running, "process", None)
    _running.process = os.getpid()
    try:
        yield
    except passed_on:
        raise
    except BaseException as failure:
        raise error(f"{what}: {_reason(failure)}") from failure
    finally:
        _running.process = outer_process


_running = threading.local()
"""Thread-local state; `process` is the id of the process in which this thread runs user-defined code, or None."""
_exit = os._exit


def _exit_unless_user_code(status: int) -> NoReturn:
    """Replacement of `os._exit` that raises an error if user-defined code calls it.

    Otherwise a command would end successfully without a message.  Processes that this code has forked exit as usual.
    """
    if getattr(_running, "process", None) == os.getpid():
        raise SystemExit(f"it calls os._exit({status})")
    _exit(status)


def _reason(failure: BaseException) -> str:
    """Type and text of an exception on one line."""
    try:
        text = str(failure)[: 2 * LONGEST_REASON]
    except Exception:
        text = "(its message cannot be shown)"
    return one_line(" ".join(f"{type(failure).__name__}: {text}".split()), longest=LONGEST_REASON)


class Guarded(Generic[T]):
    """A user-defined function whose failures become messages as in `user_code`, and whose answers are checked."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        read: Callable[[Any], T],
        fails: Callable[..., str],
        error: type[LengthgenError],
        expected: tuple[type[Exception], ...] = (LengthgenError,),
    ) -> None:
        """Guard a function; an already guarded function is unwrapped and guarded again.

        Args:
            function: the user-defined function.
            read: function from its answer to the value that callers get; may raise.
            fails: function from the arguments to the parameter `what` of `user_code`.
            error: see `user_code`.
            expected: see `user_code`.
        """
        self.function: Callable[..., Any] = function.function if isinstance(function, Guarded) else function
        self._read, self._fails, self._error = read, fails, error
        self._passed: tuple[type[BaseException], ...] = (KeyboardInterrupt, *expected)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guarded) and self.function is other.function

    def __hash__(self) -> int:
        return hash(id(self.function))

    def __call__(self, *arguments: Any) -> T:
        # As `user_code`, without the cost of a context manager and a message for each of a million calls.
        outer_process = getattr(_running, "process", None)
        _running.process = os.getpid()
        try:
            return self._read(self.function(*arguments))
        except self._passed:
            raise
        except BaseException as failure:
            raise self._error(f"{self._fails(*arguments)}: {_reason(failure)}") from failure
        finally:
            _running.process = outer_process


def run_file(path: str, *, what: str, error: type[LengthgenError]) -> dict[str, Any]:
    """Run a Python file and return the names that it defines.  It may import the modules beside it, as a script may.

    Args:
        path: path of the file.
        what: kind of object that the file defines, for messages: "task", "pattern".
        error: the exception to raise, with a one-line message, if the file does not exist, is too large or fails.
    """
    require_file(path, what=what, error=error)
    size = Path(path).stat().st_size
    if size > LARGEST:
        raise error(f"{what} file '{path}' has {size:,} bytes; at most {LARGEST:,} are run")
    os._exit = _exit_unless_user_code
    with user_code(f"{what} file '{path}' fails", error=error, expected=()), importing_beside(Path(path)):
        return runpy.run_path(path, run_name=RUN_NAME)


def split_file(text: str) -> tuple[str, str | None] | None:
    """File and name in `path/to/file.py:name`; the name is None without `:name`.

    The result is None if the text names no Python file.
    """
    path, colon, name = text.rpartition(":")
    if colon and path.endswith(".py"):
        return path, name
    return (text, None) if text.endswith(".py") else None


def load_object(text: str, *, what: str, error: type[LengthgenError], kind: type = object) -> Any:
    """Object that `path/to/file.py:name` names.  Runs the file, which is user-defined code.

    Args:
        text: file and name.
        what: kind of the object, for messages: "task", "pattern".
        error: the exception to raise if the text names no object of a file, if the file does not define the object, or
            if `run_file` fails.
        kind: exact type of the object, because a subclass could change the methods; by default any type.
    """
    path, name = split_file(text) or (text, None)
    if name is None:
        raise error(f"'{text}' names no {what}: write path/to/file.py:name")
    defined = run_file(path, what=what, error=error)
    if name not in defined or not _has_type(kind, defined[name]):
        objects = objects_of(defined, kind)
        wanted = "" if kind is object else f"{kind.__name__} "
        hint = nearest(name, objects) if objects else "it defines none"
        present = f"; '{name}' has type {type(defined[name]).__name__}" if name in defined else ""
        raise error(f"{what} file '{path}' defines no {wanted}'{name}': {hint}{present}")
    return defined[name]


def objects_of(defined: Mapping[str, Any], kind: type = object) -> dict[str, Any]:
    """Public objects of exactly one type that a file defines, by name; by default all but modules and imported code."""
    public = {name: value for name, value in defined.items() if not name.startswith("_") and _has_type(kind, value)}
    return {name: value for name, value in public.items() if not _imported_code(value)}


def _has_type(kind: type, value: Any) -> bool:
    """True if the value has exactly this type; `object` stands for all types except modules."""
    return type(value) is not ModuleType if kind is object else type(value) is kind


def _imported_code(value: Any) -> bool:
    """True for a class or function that the file does not define itself."""
    return type(value) in (type, ABCMeta, FunctionType) and value.__module__ != RUN_NAME


def require_file(path: str, *, what: str, error: type[LengthgenError]) -> None:
    """Raise `error` unless there is a regular file; `what` is its kind for the message: "task", "array"."""
    with user_code(f"{what} file '{path}' cannot be read", error=error):
        if not Path(path).exists():
            raise error(f"{what} file '{path}' does not exist")
        if not Path(path).is_file():
            raise error(f"'{path}' is no regular file: name another {what} file")


def require_name(name: Any, what: str, error: type[LengthgenError]) -> None:
    """Raise `error` unless the name is short and printable; `what` is its kind for the message: "name of a task"."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise error(f"the {what} is a text of 1 to {LONGEST_NAME} printable characters, not {shown(name)}")


def shown(value: Any) -> str:
    """Short text for a user-defined value in a message: the value if it is a short text or a number, else its type."""
    if isinstance(value, str):
        return repr(str.__str__(value)[:60]) + ("..." if len(value) > 60 else "")
    if value is None or isinstance(value, bool | float) or (type(value) is int and abs(value) < 10**20):
        return repr(value)
    return f"a value of type {type(value).__name__}"
