"""User-defined encodings: records in a Python file, and relations and modules that stand for an encoding.

The files are code that the user chose to run.  Every error in them becomes a one-line message that names it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from lengthgen.infrastructure.userfile import (
    Guarded,
    load_object,
    objects_of,
    require_name,
    run_file,
    shown,
    split_file,
    user_code,
)
from lengthgen.theory.encodings.encoding import Encoding, EncodingError, Normaliser
from lengthgen.theory.relation import Relation

NO_FORMULA = "write them as an Encoding, see theory/encodings/encoding.py"
NO_FORMULA_IN_RECORD = "give its record positions, embed, rotate, relative_key or bias (lambda j, i, n: 0 for none)"


def is_file(text: str) -> bool:
    """True if the text names a Python file, with or without `:name`."""
    return split_file(text) is not None


def records(text: str) -> list[Encoding]:
    """Encodings of `path/to/file.py`, each once, or the one of `path/to/file.py:name`.  Runs the file.

    Raises:
        EncodingError: there is no such file or name, the file fails, or it defines no `Encoding`.
    """
    path, name = split_file(text) or (text, None)
    if name is not None:
        return [record(text)]
    defined = objects_of(run_file(path, what="encoding", error=EncodingError), Encoding)
    if not defined:
        raise EncodingError(f"'{path}' defines no Encoding: make one of lengthgen.theory.encodings.encoding.Encoding")
    return [_with_guards(encoding) for encoding in {id(value): value for value in defined.values()}.values()]


def record(text: str) -> Encoding:
    """Record that `path/to/file.py:name` names.  Runs the file.

    A `lengthgen.theory.relation.Relation` stands for the encoding with a learned vector for each of its labels.  Any
    other object is a module, or a function that makes one; its attribute `relation`, if present, is its relation.

    Raises:
        EncodingError: there is no such file or object, the file fails, or a part of the record is not valid.
    """
    named = load_object(text, what="encoding", error=EncodingError)
    # Compare the exact type: attributes of other objects, and methods of a subclass, may raise errors.
    if type(named) is Encoding:
        return _with_guards(named)
    name = text.replace("\\", "/").rpartition("/")[2]
    if issubclass(type(named), Relation):
        return Encoding(name=name, title=name, no_formula=NO_FORMULA, relation=named)
    with user_code(f"'{text}': its attribute 'relation' fails", error=EncodingError):
        relation = getattr(named, "relation", None)
        _require_relation(relation, text)
    no_relation = "it has no attribute 'relation', so the positions that it can tell apart are not known"
    return Encoding(
        name=name, title=name, no_formula=NO_FORMULA, relation=relation, no_relation=no_relation, module=named
    )


def _require_relation(relation: Any, text: str) -> None:
    """Raise `EncodingError` unless the attribute is a Relation or None."""
    if relation is not None and not isinstance(relation, Relation):
        raise EncodingError(f"'{text}': its attribute 'relation' must be a Relation, not {shown(relation)}")


def _with_guards(encoding: Encoding) -> Encoding:
    """Record with its formulas guarded: an error in one of them becomes a one-line message.

    Raises:
        EncodingError: a part of the record is not valid.
    """
    require_name(encoding.name, "name of an encoding", EncodingError)
    require_name(encoding.title, "title of an encoding", EncodingError)
    _require_relation(encoding.relation, encoding.name)
    if encoding.drawn_from:
        raise EncodingError(f"'{encoding.name}': only registered encodings are trained at drawn positions")
    if type(encoding.normaliser) not in (str, Normaliser) or encoding.normaliser not in [*Normaliser]:
        choices = " or ".join(Normaliser)
        raise EncodingError(f"'{encoding.name}': its normaliser must be {choices}, not {shown(encoding.normaliser)}")
    window = Guarded(
        lambda: encoding.window,
        read=_window,
        fails=lambda *_: f"'{encoding.name}': its window fails",
        error=EncodingError,
    )
    for hook in ("module", "relation_of", "values"):
        if getattr(encoding, hook) is not None and not callable(getattr(encoding, hook)):
            raise EncodingError(f"'{encoding.name}': its {hook} must be a function or class")

    def guard(hook: str) -> Guarded[Any]:
        formula, message = getattr(encoding, hook), f"'{encoding.name}': its {hook} fails"
        if not callable(formula):
            raise EncodingError(f"'{encoding.name}': its {hook} must be a function, not {shown(formula)}")
        return Guarded(formula, read=READERS[hook], fails=lambda *_: message, error=EncodingError)

    guarded: dict[str, Any] = {hook: guard(hook) for hook in encoding.hooks}
    encoding = replace(encoding, normaliser=Normaliser(encoding.normaliser), window=window(), **guarded)
    if not encoding.no_formula and not _has_formulas(encoding):
        encoding = replace(encoding, no_formula=NO_FORMULA_IN_RECORD)
    if encoding.no_formula and (encoding.laws or encoding.recovers):
        raise EncodingError(f"'{encoding.name}' declares laws or special cases without formulas: {encoding.no_formula}")
    return encoding


def _has_formulas(encoding: Encoding) -> bool:
    """False if the record is that of a module or relation alone: no hook then means that formulas were left out.

    A record without a module, a relation and hooks states that there is no position encoding.
    """
    if encoding.hooks or encoding.parameters or encoding.window != sp.oo or encoding.normaliser != Normaliser.SOFTMAX:
        return True
    return encoding.module is None and encoding.relation is None and encoding.relation_of is None


def _number(answer: Any) -> sp.Expr:
    """Answer of a formula as a sympy number or expression."""
    number = sp.sympify(answer, strict=True)
    if not isinstance(number, sp.Expr) or number.is_Matrix or number.has(sp.nan, sp.zoo):
        raise ValueError(f"it must give a number or a formula, not {shown(answer)}")
    return number


def _window(answer: Any) -> sp.Expr:
    """Window as infinity or a number of keys, perhaps a symbol for one."""
    window = sp.sympify(answer, strict=True)
    if window is not sp.oo and not (isinstance(window, sp.Expr) and window.is_integer and window.is_positive):
        raise ValueError(f"it must be infinite or a positive whole number, not {shown(answer)}")
    return window


def _matrix(answer: Any, columns: int) -> sp.Matrix:
    """Answer of a formula as a matrix of 2 x `columns`."""
    if not isinstance(answer, sp.MatrixBase) or answer.shape != (2, columns):
        raise ValueError(f"it must give a sympy Matrix of 2 x {columns}, not {shown(answer)}")
    return answer


def _actions(answer: Any) -> tuple[sp.Matrix, sp.Matrix]:
    """Answer of `rotate` as two 2 x 2 matrices, for the query and the key."""
    on_query, on_key = answer
    return _matrix(on_query, 2), _matrix(on_key, 2)


READERS: dict[str, Callable[[Any], Any]] = {
    "positions": _number,
    "embed": lambda answer: _matrix(answer, 1),
    "rotate": _actions,
    "relative_key": lambda answer: _matrix(answer, 1),
    "bias": _number,
}
"""Functions that check the answers of formulas, by hook."""
