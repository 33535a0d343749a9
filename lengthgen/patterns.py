"""Patterns as they are named on the command line: a formula, an array in a file, or a name in the user's own code."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from theory.pattern import Pattern, PatternError, from_array, from_formula, from_function, from_relation
from theory.relation import Relation
from theory.system.userfile import Guarded, load_object, require_file, split_file, user_code


def load_pattern(text: str, parameters: Sequence[str] = ()) -> Pattern:
    """The pattern that the text names.

    Args:
        text: a formula; `path/to/array.npy`, read without copying; or `path/to/file.py:name`, which is run and in
            which the name stands for a function of (i, j) or (i, j, n), an array, a Pattern, or a Relation, whose
            labels then have a free parameter each.
        parameters: names that stand for real numbers left open, in a formula.

    Raises:
        FormulaError: the formula cannot be read.
        PatternError: no such file, or it holds no pattern.
    """
    if text.endswith(".npy"):
        return _of_array(_array(text), text)
    if split_file(text) is None:
        return from_formula(text, parameters=parameters)
    return _as_pattern(load_object(text, what="pattern", error=PatternError), text)


def _array(path: str) -> Any:
    require_file(path, what="array", error=PatternError)
    with user_code(f"array file '{path}' cannot be read", error=PatternError):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise PatternError(f"array file '{path}' holds several arrays: save one by numpy.save")
    return array


def _of_array(array: Any, name: str) -> Pattern:
    try:
        return from_array(array, name=name)
    except PatternError as error:
        raise PatternError(f"'{name}': {error}") from error


def _as_pattern(own: Any, name: str) -> Pattern:
    """What the user's own object stands for. By its type: its attributes may fail."""
    kind = type(own)
    if issubclass(kind, Pattern):
        return _guarded(own, name)
    if issubclass(kind, Relation):
        return from_relation(own)
    if issubclass(kind, np.ndarray | list | tuple):
        return _of_array(own, name)
    if callable(own):
        with user_code(f"'{name}' does not show its parameters; wrap it in a function", error=PatternError):
            arguments = len(inspect.signature(own).parameters)
        if arguments in (2, 3):
            return from_function(own, name=name, scale_hint=arguments == 3)
    raise PatternError(
        f"'{name}' is no pattern: a function of (i, j) or (i, j, n), an array, a Pattern or a Relation is"
    )


def _guarded(pattern: Pattern, name: str) -> Pattern:
    """The pattern, its entries guarded: they may be a function of the user's own."""

    def read(answer: Any) -> tuple[list[Any], Any]:
        values, codes = answer
        codes = np.asarray(codes)
        if (
            codes.ndim != 1
            or codes.dtype.kind not in "iu"
            or (codes.size and not 0 <= codes.min() <= codes.max() < len(values))
        ):
            raise PatternError(f"the entries of '{name}' must be values and, for each pair, the index of its own")
        return list(values), codes

    entries = Guarded(pattern.entries, read=read, fails=lambda *_: f"the entries of '{name}' fail", error=PatternError)
    return replace(pattern, entries=entries)
