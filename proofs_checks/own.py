"""A user's own encoding: the laws and special cases that it declares, each decided like those of the catalogue."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from theory import domain, laws
from theory.encodings.catalogue import named
from theory.encodings.encoding import Encoding, Recovery
from theory.laws import Ruling
from theory.system.errors import LengthgenError
from theory.system.userfile import Guarded, require_name, run_file, shown, user_code


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
    # By their types: other objects may have attributes that fail, and a subclass methods that do.
    encodings = {key: value for key, value in defined.items() if type(value) is Encoding}
    if name:
        if name not in encodings:
            raise OwnEncodingError(f"'{path}' has no Encoding named '{name}': see theory/encodings/encoding.py")
        return [_guarded(encodings[name])]
    if not encodings:
        raise OwnEncodingError(f"'{path}' defines no Encoding: make one of theory.encodings.encoding.Encoding")
    return [_guarded(one) for one in {id(one): one for one in encodings.values()}.values()]


def _guarded(encoding: Encoding) -> Encoding:
    """The encoding, its formulas guarded. Raises OwnEncodingError where its name or title is none."""
    require_name(encoding.name, "name of an encoding", OwnEncodingError)
    require_name(encoding.title, "title of an encoding", OwnEncodingError)

    def guard(hook: str) -> Guarded[Any]:
        formula, fails = getattr(encoding, hook), f"'{encoding.name}': its {hook} fails"
        if not callable(formula):
            raise OwnEncodingError(f"'{encoding.name}': its {hook} must be a function, not {shown(formula)}")
        return Guarded(formula, read=READERS[hook], fails=lambda *_: fails, error=OwnEncodingError)

    guarded: dict[str, Any] = {hook: guard(hook) for hook in encoding.hooks}
    return replace(encoding, **guarded)


def _number(answer: Any) -> sp.Expr:
    number = sp.sympify(answer, strict=True)
    if not isinstance(number, sp.Expr) or number.is_Matrix or number.has(sp.nan, sp.zoo):
        raise ValueError(f"it must give a number or a formula, not {shown(answer)}")
    return number


def _matrix(answer: Any, columns: int) -> sp.Matrix:
    if not isinstance(answer, sp.MatrixBase) or answer.shape != (2, columns):
        raise ValueError(f"it must give a sympy Matrix of 2 x {columns}, not {shown(answer)}")
    return answer


def _actions(answer: Any) -> tuple[sp.Matrix, sp.Matrix]:
    on_query, on_key = answer
    return _matrix(on_query, 2), _matrix(on_key, 2)


READERS: dict[str, Callable[[Any], Any]] = {
    "positions": _number,
    "embed": lambda answer: _matrix(answer, 1),
    "rotate": _actions,
    "bias": _number,
}
"""What reads the answer of each formula."""


def declarations(encoding: Encoding) -> list[Declaration]:
    """Each declared law and special case, decided.

    Raises:
        OwnEncodingError: a formula fails, or a special case names no encoding of the catalogue.
    """
    with user_code(f"the formulas of '{encoding.name}' fail", error=OwnEncodingError):
        found = [_declared(encoding, str(law), laws.rule(encoding, law)) for law in encoding.laws]
        for recovery in encoding.recovers:
            other = named(recovery.of)
            where = " up to the trained length" if recovery.within else ""
            at = f", for {_text(recovery.at)}" if recovery.at else ""
            what = f"is {other.title} at {_text(recovery.assignment)}{at}{where}"
            found.append(_declared(encoding, what, _recovered(encoding, other, recovery)))
    return found


def _recovered(encoding: Encoding, other: Encoding, recovery: Recovery) -> Ruling:
    """Whether it scores as the other there, at parameters that it can have if they are not declared a limit."""
    ruling = laws.recovered(encoding, other, recovery)
    if not ruling.holds or not recovery.attained or recovery.function:
        return ruling
    inside = domain.attained(encoding, recovery.assignment)
    return ruling if inside.holds else inside


def _declared(encoding: Encoding, what: str, ruling: Ruling) -> Declaration:
    return Declaration(encoding=encoding.name, what=what, ruling=ruling)


def _text(assignment: Any) -> str:
    return ", ".join(f"{parameter} = {value}" for parameter, value in assignment.items())
