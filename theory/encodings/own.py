"""Encodings of a user's own: records of a file, and relations and modules that stand for one.

Their files are code that the user chose to run; whatever it does wrong is one line that names it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from theory.encodings.encoding import Encoding, EncodingError
from theory.relation import Relation
from theory.system.userfile import (
    Guarded,
    load_object,
    objects_of,
    require_name,
    run_file,
    shown,
    split_file,
    user_code,
)

NO_FORMULA = "write them as an Encoding, see theory/encodings/encoding.py"


def is_file(text: str) -> bool:
    """Whether this names a Python file, with or without `:name`."""
    return split_file(text) is not None


def records(text: str) -> list[Encoding]:
    """The encodings of `path/to/file.py`, each once, or the one of `path/to/file.py:name`.  The file is run.

    Raises:
        EncodingError: there is no such file or name, the file fails, or it defines no `Encoding`.
    """
    path, name = split_file(text) or (text, None)
    if name is not None:
        return [record(text)]
    defined = objects_of(run_file(path, what="encoding", error=EncodingError), Encoding)
    if not defined:
        raise EncodingError(f"'{path}' defines no Encoding: make one of theory.encodings.encoding.Encoding")
    return [_guarded(encoding) for encoding in {id(one): one for one in defined.values()}.values()]


def record(text: str) -> Encoding:
    """The record that `path/to/file.py:name` names.  The file is run.

    A `theory.relation.Relation` stands for the encoding that is a learned vector for each of its labels; anything else
    for a module, or for what makes one, whose attribute `relation`, where it has one, is its relation.

    Raises:
        EncodingError: there is no such file or object, the file fails, or a part of the record is none.
    """
    named = load_object(text, what="encoding", error=EncodingError)
    # By its type: other objects may have attributes that fail, and a subclass methods that do.
    if type(named) is Encoding:
        return _guarded(named)
    name = text.replace("\\", "/").rpartition("/")[2]
    if issubclass(type(named), Relation):
        return Encoding(name=name, title=name, no_formula=NO_FORMULA, relation=named)
    with user_code(f"'{text}': its attribute 'relation' fails", error=EncodingError):
        relation = getattr(named, "relation", None)
        _require_relation(relation, text)
    without = "it has no attribute 'relation', so what it can tell apart is not known"
    return Encoding(name=name, title=name, no_formula=NO_FORMULA, relation=relation, no_relation=without, module=named)


def _require_relation(relation: Any, text: str) -> None:
    if relation is not None and not isinstance(relation, Relation):
        raise EncodingError(f"'{text}': its attribute 'relation' must be a Relation, not a {type(relation).__name__}")


def _guarded(encoding: Encoding) -> Encoding:
    """The record, its formulas guarded.  Raises EncodingError where a part of it is none."""
    require_name(encoding.name, "name of an encoding", EncodingError)
    require_name(encoding.title, "title of an encoding", EncodingError)
    _require_relation(encoding.relation, encoding.name)
    if encoding.drawn_from:
        raise EncodingError(f"'{encoding.name}': only registered encodings are trained at drawn positions")
    for hook in ("module", "relation_of", "values"):
        if getattr(encoding, hook) is not None and not callable(getattr(encoding, hook)):
            raise EncodingError(f"'{encoding.name}': its {hook} must be a function or class")

    def guard(hook: str) -> Guarded[Any]:
        formula, fails = getattr(encoding, hook), f"'{encoding.name}': its {hook} fails"
        if not callable(formula):
            raise EncodingError(f"'{encoding.name}': its {hook} must be a function, not {shown(formula)}")
        return Guarded(formula, read=READERS[hook], fails=lambda *_: fails, error=EncodingError)

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
"""Readers of the answers of formulas, by hook."""
