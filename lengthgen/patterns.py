"""Patterns as they are named on the command line: a formula, an array in a file, or a name in the user's own code."""

import inspect
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from theory.pattern import Pattern, PatternError, from_array, from_formula, from_function, from_relation
from theory.relation import Relation
from theory.userfile import run_file


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
        return from_array(_array(text), name=text)
    file = re.fullmatch(r"(.+\.py):(\w+)", text)
    if not file:
        return from_formula(text, parameters=parameters)
    path, name = file.groups()
    namespace = run_file(path, what="pattern", error=PatternError)
    if name not in namespace:
        raise PatternError(f"'{path}' defines no '{name}'")
    return _as_pattern(namespace[name], text)


def _array(path: str) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise PatternError(f"array file '{path}' does not exist") from None
    except ValueError as error:
        raise PatternError(f"array file '{path}' cannot be read: {error}") from None


def _as_pattern(found: Any, name: str) -> Pattern:
    if isinstance(found, Pattern):
        return found
    if isinstance(found, Relation):
        return from_relation(found)
    if isinstance(found, np.ndarray | list | tuple):
        return from_array(found, name=name)
    if callable(found):
        arguments = len(inspect.signature(found).parameters)
        if arguments in (2, 3):
            return from_function(found, name=name, scale_hint=arguments == 3)
    raise PatternError(
        f"'{name}' is no pattern: a function of (i, j) or (i, j, n), an array, a Pattern or a Relation is"
    )
