"""A user's own encoding: the laws and special cases that it declares, each decided like those of the catalogue."""

from dataclasses import dataclass
from typing import Any

from theory import laws
from theory.encodings.catalogue import named
from theory.encodings.encoding import Encoding
from theory.errors import LengthgenError
from theory.laws import Ruling
from theory.userfile import run_file


class OwnEncodingError(LengthgenError):
    """The file defines no encoding, or not the one asked for, or one that cannot be evaluated."""


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """One thing that an encoding declares, in words, and whether it is so."""

    encoding: str
    what: str
    ruling: Ruling


def is_file(spec: str) -> bool:
    """Whether this names a Python file, with or without `:name`, and no claim or encoding of the project."""
    return spec.partition(":")[0].endswith(".py")


def load(spec: str) -> list[Encoding]:
    """The encodings of `path/to/file.py`, or the one of `path/to/file.py:name`.  The file is run.

    Raises:
        OwnEncodingError: there is no such file or name, the file fails, or it defines no `Encoding`.
    """
    path, _, name = spec.partition(":")
    defined = run_file(path, what="encoding", error=OwnEncodingError)
    if name:
        if not isinstance(defined.get(name), Encoding):
            raise OwnEncodingError(f"'{path}' has no Encoding named '{name}': see theory/encodings/encoding.py")
        return [defined[name]]
    found = [one for one in defined.values() if isinstance(one, Encoding)]
    if not found:
        raise OwnEncodingError(f"'{path}' defines no Encoding: make one of theory.encodings.encoding.Encoding")
    return list({id(one): one for one in found}.values())


def declarations(encoding: Encoding) -> list[Declaration]:
    """Each declared law and special case, decided.

    Raises:
        OwnEncodingError: a formula fails, or a special case names no encoding of the catalogue.
    """
    try:
        found = [_declared(encoding, str(law), laws.rule(encoding, law)) for law in encoding.laws]
        for recovery in encoding.recovers:
            other = named(recovery.of)
            where = " up to the trained length" if recovery.within else ""
            ruling = laws.recovered(encoding, other, recovery)
            found.append(_declared(encoding, f"is {other.title} at {_text(recovery.assignment)}{where}", ruling))
    except LengthgenError:
        raise
    except Exception as error:  # a formula of the user's: whatever it raises is said in one line
        raise OwnEncodingError(f"the formulas of '{encoding.name}' fail: {type(error).__name__}: {error}") from error
    return found


def _declared(encoding: Encoding, what: str, ruling: Ruling) -> Declaration:
    return Declaration(encoding=encoding.name, what=what, ruling=ruling)


def _text(assignment: Any) -> str:
    return ", ".join(f"{parameter} = {value}" for parameter, value in assignment.items())
