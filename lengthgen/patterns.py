"""Patterns as they are named on the command line: a formula, an array in a file, or a name in the user's own code."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lengthgen.infrastructure.userfile import Guarded, load_object, require_file, split_file, user_code
from lengthgen.theory.pattern import Pattern, PatternError, from_array, from_formula, from_function, from_relation
from lengthgen.theory.relation import Relation


def load_pattern(text: str, parameters: Sequence[str] = ()) -> Pattern:
    """Return the pattern that the text names.

    Args:
        text: a formula; `path/to/array.npy`, read without copying; or `path/to/file.py:name`. The file is run, and the
            name stands for a function of (i, j) or (i, j, n), an array, a Pattern, or a Relation, whose labels then
            have a free parameter each.
        parameters: names of free real parameters in a formula.

    Raises:
        FormulaError: the formula cannot be read.
        PatternError: the file does not exist or holds no pattern.
    """
    if text.endswith(".npy"):
        return _array_pattern(_load_array(text), text)
    if split_file(text) is None:
        return from_formula(text, parameters=parameters)
    return _as_pattern(load_object(text, what="pattern", error=PatternError), text)


def _load_array(path: str) -> Any:
    """Return the array of a file, memory-mapped."""
    require_file(path, what="array", error=PatternError)
    with user_code(f"array file '{path}' cannot be read", error=PatternError):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        array.close()
        raise PatternError(f"array file '{path}' holds several arrays: save one by numpy.save")
    return array


def _array_pattern(array: Any, name: str) -> Pattern:
    """Return the pattern of an array, with the name in error messages."""
    try:
        return from_array(array, name=name)
    except PatternError as error:
        raise PatternError(f"'{name}': {error}") from error


def _as_pattern(user_object: Any, name: str) -> Pattern:
    """Return the pattern that the user's object stands for. Only its type is inspected: its attributes may fail."""
    kind = type(user_object)
    if issubclass(kind, Pattern):
        return _guarded(user_object, name)
    if issubclass(kind, Relation):
        return from_relation(user_object)
    if issubclass(kind, np.ndarray | list | tuple):
        return _array_pattern(user_object, name)
    if callable(user_object):
        with user_code(f"'{name}' does not show its parameters; wrap it in a function", error=PatternError):
            arguments = len(inspect.signature(user_object).parameters)
        if arguments in (2, 3):
            return from_function(user_object, name=name, scale_hint=arguments == 3)
    raise PatternError(
        f"'{name}' is no pattern: give a function of (i, j) or (i, j, n), an array, a Pattern or a Relation"
    )


def _guarded(pattern: Pattern, name: str) -> Pattern:
    """Return the pattern with guarded entries, since they may be a function of the user's own."""

    def read(answer: Any) -> tuple[list[Any], Any]:
        values, codes = answer
        codes = np.asarray(codes)
        if (
            codes.ndim != 1
            or codes.dtype.kind not in "iu"
            or (codes.size and not 0 <= codes.min() <= codes.max() < len(values))
        ):
            raise PatternError(f"the entries of '{name}' must be values and, for each pair, the index of its value")
        return list(values), codes

    entries = Guarded(pattern.entries, read=read, fails=lambda *_: f"the entries of '{name}' fail", error=PatternError)
    return replace(pattern, entries=entries)
