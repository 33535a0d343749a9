"""Shapes of stored JSON: the types that values must have before anything is read from them.

A seal shows that a file is as it was written, not that it was written by this version, or by us at all. So every stored
answer is read with its shape: one that can be computed again is (`lengthgen.infrastructure.cache`), any other one is
named with what makes it (`read_stored`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import DamagedFile, read_json, read_sealed_json

Shape = Callable[[Any, str], None]
"""Function that checks (value, name of its place) and raises WrongShape if the value does not fit."""
LARGEST = 1 << 63
"""Largest absolute value of an accepted whole number."""


class WrongShape(LengthgenError):
    """A value does not have the expected type or form; the message names its place."""


def read_stored(path: Path, shape: Shape, what: str, mend: str, *, sealed: bool = True) -> Any:
    """Content of a stored JSON file whose values have the expected types.

    Args:
        path: the file.
        shape: shape of its content, without the seal.
        what: what the file holds, for the message: "trial".
        mend: what to do about a file that cannot be used: "make it again with  lengthgen conjecture fig1".
        sealed: False for a file that is written without a seal.

    Raises:
        DamagedFile: the file has changed since it was written, or holds something else; the message ends with `mend`.
        OSError: the file cannot be read.
    """
    try:
        content = read_sealed_json(path) if sealed else read_json(path)
        shape(content, what)
    except WrongShape as error:
        raise DamagedFile(f"{path} holds no {what} ({error}): {mend}") from error
    except LengthgenError as error:
        raise DamagedFile(f"{error}: {mend}") from error
    return content


def of_type(name: str, *kinds: type) -> Shape:
    """Shape of a value of exactly one of these types; `name` is theirs for messages: "a text"."""

    def check(value: Any, where: str) -> None:
        if type(value) not in kinds:
            raise WrongShape(f"{where} is {type(value).__name__}, not {name}")
        if type(value) is int and abs(value) > LARGEST:
            raise WrongShape(f"{where} is too large")

    return check


def one_of(values: Iterable[str]) -> Shape:
    """Shape of a text that is one of these."""
    texts = frozenset(map(str, values))

    def check(value: Any, where: str) -> None:
        if not isinstance(value, str) or value not in texts:
            raise WrongShape(f"{where} is none of {', '.join(sorted(texts))}")

    return check


def record(**shapes: Shape) -> Shape:
    """Shape of a mapping that has at least these keys, each with its own shape."""

    def check(value: Any, where: str) -> None:
        _require_mapping(value, where)
        for key, shape in shapes.items():
            if key not in value:
                raise WrongShape(f"{where} has no {key}")
            shape(value[key], f"{where}.{key}")

    return check


def if_given(**shapes: Shape) -> Shape:
    """Shape of a mapping in which each of these keys may be absent or None."""

    def check(value: Any, where: str) -> None:
        _require_mapping(value, where)
        for key, shape in shapes.items():
            or_none(shape)(value.get(key), f"{where}.{key}")

    return check


def made_into(kind: type, **shapes: Shape) -> Shape:
    """Shape of a mapping from which a dataclass is made: with these keys and no others.

    Fields that have a default may be absent. `shapes` has a shape for every field, and for every key that is stored
    beside them.
    """
    optional = {field.name for field in fields(kind) if field.default is not MISSING}
    missing = {field.name for field in fields(kind)} - shapes.keys()
    if missing:
        raise TypeError(f"the shape of {kind.__name__} lacks {sorted(missing)}")
    required = shapes.keys() - optional

    def check(value: Any, where: str) -> None:
        _require_mapping(value, where)
        for key in sorted(required - value.keys()):
            raise WrongShape(f"{where} has no {key}")
        for key, item in value.items():
            if key not in shapes:
                raise WrongShape(f"{where} has an unknown key")
            shapes[key](item, f"{where}.{key}")

    return check


def one_for_each(expected: Iterable[Any], of: Callable[[Any], Any], shape: Shape) -> Shape:
    """Shape of a list with exactly one value of the given shape for each of these; `of` tells for which a value is."""
    counts = Counter(iter(expected))  # a mapping stands for its keys

    def check(value: Any, where: str) -> None:
        list_of(shape)(value, where)
        if Counter(map(of, value)) != counts:
            raise WrongShape(f"{where} is about other things")

    return check


def list_of(shape: Shape) -> Shape:
    """Shape of a list whose values all have the given shape."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list):
            raise WrongShape(f"{where} is {type(value).__name__}, not a list")
        for place, item in enumerate(value):
            shape(item, f"{where}[{place}]")

    return check


def mapping_to(shape: Shape) -> Shape:
    """Shape of a mapping with any keys whose values all have the given shape."""

    def check(value: Any, where: str) -> None:
        _require_mapping(value, where)
        for key, item in value.items():
            shape(item, f"{where}.{key}")

    return check


def row(*shapes: Shape) -> Shape:
    """Shape of a list with as many values as there are shapes, each for one value."""

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) != len(shapes):
            raise WrongShape(f"{where} is no list of {len(shapes)}")
        for place, (shape, item) in enumerate(zip(shapes, value, strict=True)):
            shape(item, f"{where}[{place}]")

    return check


def both(first: Shape, second: Shape) -> Shape:
    """Shape of a value that has both shapes."""

    def check(value: Any, where: str) -> None:
        first(value, where)
        second(value, where)

    return check


def either(first: Shape, second: Shape) -> Shape:
    """Shape of a value that has one of the shapes; a message is about the second."""

    def check(value: Any, where: str) -> None:
        try:
            first(value, where)
        except WrongShape:
            second(value, where)

    return check


def or_none(shape: Shape) -> Shape:
    """Shape of a value that has the given shape or is None."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            shape(value, where)

    return check


def reads(read: Callable[[Any], Any]) -> Shape:
    """Shape of a value that a function reads without a LengthgenError."""

    def check(value: Any, where: str) -> None:
        try:
            read(value)
        except LengthgenError as error:
            raise WrongShape(f"{where}: {error}") from error

    return check


def _require_mapping(value: Any, where: str) -> None:
    if not isinstance(value, Mapping):
        raise WrongShape(f"{where} is {type(value).__name__}, not a mapping")


TEXT, FLAG, COUNT = of_type("a text", str), of_type("true or false", bool), of_type("a whole number", int)
NUMBER = of_type("a number", int, float)
LIMIT = either(NUMBER, one_of(["inf"]))
"""Shape of a number that may be infinite."""
