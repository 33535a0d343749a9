"""Settings: dataclasses that are read from TOML and JSON tables, checked key by key.

Annotations of the fields limit their values: `samples: Annotated[int, Range(1, 1000)]`.
"""

import json
import reprlib
import tomllib
from collections.abc import Mapping, Sized
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from lengthgen.infrastructure.errors import LengthgenError, nearest
from lengthgen.infrastructure.files import read_text

LONGEST_TOML, LONGEST_LINE = 50_000, 1_000
"""Largest number of characters of a TOML file, and of one line: parsing a dotted key takes the square of its parts."""
N = TypeVar("N", int, float)
T = TypeVar("T")


class ProfileError(LengthgenError):
    """Settings do not exist or are invalid; the message says what, where and how to mend it."""


@dataclass(frozen=True)
class Range(Generic[N]):
    """Limit: finite numbers from `least` to `most`; with `above`, `least` itself is excluded."""

    least: N
    most: N
    above: bool = False

    def refusal(self, value: Any) -> str | None:
        """End of the error message for a refused value, to follow the printed value; None if it is accepted."""
        inside = self.least < value <= self.most if self.above else self.least <= value <= self.most
        return None if inside else f"is out of range: {self}"

    def __str__(self) -> str:
        least, most = (
            f"{number:,}" if isinstance(number, int) else f"{number:g}" for number in (self.least, self.most)
        )
        return f"above {least}, at most {most}" if self.above else f"{least} to {most}"


@dataclass(frozen=True)
class Text:
    """Limit: printable texts of at most `longest` characters."""

    longest: int

    def refusal(self, value: str) -> str | None:
        """End of the error message for a refused value; see `Range`."""
        return None if len(value) <= self.longest and value.isprintable() else f"is not {self}"

    def __str__(self) -> str:
        return f"printable text of at most {self.longest:,} characters on one line"


@dataclass(frozen=True)
class Entries:
    """Limit: lists of 1 to `most` entries."""

    most: int

    def refusal(self, value: Sized) -> str | None:
        """End of the error message for a refused value; see `Range`."""
        return None if 1 <= len(value) <= self.most else f"has {len(value):,} entries: it takes 1 to {self.most:,}"


FLOAT32 = Range(0, 1e38)
"""Sizes that fit into a float32."""
POSITIVE = Range(0, FLOAT32.most, above=True)
"""Positive numbers that fit into a float32."""


def as_json(settings: Any) -> dict[str, Any]:
    """Fields of a dataclass as JSON."""
    content: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return content


def load(kind: type[T], folder: Path, name: str, where: str, changes: Mapping[str, Any] | None = None) -> T:
    """Make a dataclass from the named TOML file of a folder of profiles, with some of its values changed.

    Args:
        kind: dataclass, as for `read`.
        folder: folder of the files.
        name: name of a file without its suffix.
        where: the profile's name in errors.
        changes: new values as nested dictionaries; sections are changed key by key.

    Raises:
        ProfileError: there is no such file, or as for `read`.
    """
    names = sorted(path.stem for path in folder.glob("*.toml"))
    if name not in names:
        raise ProfileError(f"unknown profile '{name}': {nearest(name, names)}")
    content = read_toml(folder / f"{name}.toml")
    for key, value in (changes or {}).items():
        before = content.get(key)
        content[key] = before | value if isinstance(before, dict) and isinstance(value, dict) else value
    return read(kind, content, where)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ProfileError: the file is not TOML, too long, not a regular file, or cannot be read.
    """
    try:
        text = read_text(path)
        longest = max(map(len, text.split("\n")))
        if len(text) > LONGEST_TOML or longest > LONGEST_LINE:
            raise ProfileError(
                f"{path} has {len(text):,} characters, and {longest:,} on one line: at most {LONGEST_TOML:,} are read, "
                f"and {LONGEST_LINE:,} on a line"
            )
        return tomllib.loads(text)
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror}") from error
    except LengthgenError as error:
        raise ProfileError(str(error)) from error
    except (ValueError, RecursionError) as error:  # a number of too many digits is a ValueError too
        raise ProfileError(f"{path} is not TOML: {error}") from error


def read(kind: type[T], content: Any, where: str) -> T:
    """Make a dataclass from a TOML or JSON table, checked key by key.

    A key whose default is None may be missing, since TOML has no null.

    Raises:
        ProfileError: a key is missing, unknown, of the wrong type or out of its range, or values do not fit together.
    """
    if not isinstance(content, dict):
        raise ProfileError(f"{where} = {_short_repr(content)} is not a table")
    table: Any = kind
    hints = _hints(table)
    missing = [field.name for field in fields(table) if field.name not in content and field.default is not None]
    unknown = [key for key in content if key not in hints]
    if unknown:
        hint = nearest(unknown[0], missing or hints)
        raise ProfileError(f"{where}: unknown key '{unknown[0]}': {hint}")
    if missing:
        raise ProfileError(f"{where}: missing key '{missing[0]}'")
    values = {key: read_value(hint, content.get(key), f"{where}, {key}") for key, hint in hints.items()}
    try:
        return kind(**values)
    except LengthgenError as error:
        raise ProfileError(f"{where}: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def read_value(hint: Any, value: Any, where: str) -> Any:
    """Check a value against a type hint and the limits that annotate it; return it converted.

    Raises:
        ProfileError: the value has another type, or is out of its range.
    """
    plain_type, *limits = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if NoneType in get_args(plain_type):
        if value is None:
            return None
        plain_type = get_args(plain_type)[0]
    converted = _convert(plain_type, value, where)
    for limit in limits:
        if refusal := limit.refusal(converted):
            raise ProfileError(f"{where} = {_short_repr(value)} {refusal}")
    return converted


def _convert(kind: Any, value: Any, where: str) -> Any:
    """Convert lists to tuples and tables to dataclasses or dicts; check the type of everything else."""
    if isinstance(kind, type) and is_dataclass(kind):
        return read(kind, asdict(value) if isinstance(value, kind) else value, where)
    if get_origin(kind) is tuple:
        if isinstance(value, list | tuple):
            return tuple(read_value(get_args(kind)[0], entry, where) for entry in value)
        raise ProfileError(f"{where} = {_short_repr(value)} is not a list")
    if get_origin(kind) is dict:
        if isinstance(value, dict):
            return {key: read_value(get_args(kind)[1], entry, f"{where}.{key}") for key, entry in value.items()}
        raise ProfileError(f"{where} = {_short_repr(value)} is not a table")
    if get_origin(kind) is Literal:
        if value in get_args(kind):
            return value
        raise ProfileError(f"{where} = {_short_repr(value)} is none of {', '.join(get_args(kind))}")
    if isinstance(value, (int, float) if kind is float else kind) and isinstance(value, bool) == (kind is bool):
        return value
    raise ProfileError(f"{where} = {_short_repr(value)} is not {kind.__name__}")


def _short_repr(value: Any) -> str:
    """Short representation of a value for a message."""
    try:
        return reprlib.repr(value)
    except ValueError:
        return "a number of thousands of digits"
