"""LRC of a thousand random small patterns, however they are given, is the minimum over all relations."""

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from lengthgen.theory.lrc import level_sets, lrc_profile
from lengthgen.theory.pattern import Pattern, from_array, from_formula, from_function, from_relation
from lengthgen.theory.relation import from_labels
from tests.oracles.lrc import cells, lrc_by_level_sets, lrc_over_all_relations

Entries = dict[tuple[int, int], Any]

SMALL, LARGE = 3, 8
"""Scales: up to 6 cells over all relations, beyond over level sets."""
RATIONALS: list[Any] = [0, 1, -1, 2, Fraction(1, 2), Fraction(-1, 3), 10**30, 10**30 + 1, 2**63]
# Pairs of the same number written in two ways; sympy does not see by itself that they are one.
TWINS: list[tuple[Any, Any]] = [
    (1 / (1 + sp.sqrt(2)), sp.sqrt(2) - 1),
    (sp.sqrt(3 + 2 * sp.sqrt(2)), 1 + sp.sqrt(2)),
    (sp.pi * (sp.sqrt(2) + 1), sp.pi * sp.sqrt(2) + sp.pi),
    ((sp.Symbol("a", real=True) + 1) ** 2, sp.Symbol("a", real=True) ** 2 + 2 * sp.Symbol("a", real=True) + 1),
    (sp.Integer(0), sp.Integer(0)),
    (sp.sqrt(2), sp.sqrt(2)),
]


def _random(draw: random.Random, values: list[Any], scale: int) -> Entries:
    few = draw.sample(values, draw.randint(1, len(values)))
    return {cell: draw.choice(few) for cell in cells(scale)}


def _oracle(entries: Entries, scale: int) -> int:
    values = [entries[cell] for cell in cells(scale)]
    return lrc_over_all_relations(values) if scale <= SMALL else lrc_by_level_sets(values)


def _check(pattern: Pattern, names: Entries, scale: int) -> None:
    """Compare with the oracle; `names` gives equal cells equal names, and zero ones 0."""
    scales = range(1, scale + 1)
    expected = {size: _oracle(names, size) for size in scales}
    assert lrc_profile(pattern, scales) == expected
    labels = level_sets(pattern, scale).labels(scale)
    by_name: dict[Any, int] = {0: 0}
    for i, j in cells(scale):
        assert by_name.setdefault(names[i, j], len(by_name)) == labels[i - 1, j - 1]


def _object_array(entries: Entries, scale: int) -> Any:
    matrix = np.zeros((scale, scale), dtype=object)
    for (i, j), value in entries.items():
        matrix[i - 1, j - 1] = value
    return matrix


def _formula(entries: Entries) -> str:
    """Formula of a table, as a chain of choices."""
    text = "0"
    for (i, j), value in entries.items():
        text = f"({value}) if i == {i} and j == {j} else {text}"
    return text


def _cases(seed: int, count: int, large: bool) -> list[tuple[Entries, int]]:
    draw = random.Random(seed)
    scales = [draw.randint(SMALL + 1, LARGE) if large else draw.randint(1, SMALL) for _ in range(count)]
    return [(_random(draw, RATIONALS, scale), scale) for scale in scales]


@pytest.mark.parametrize("seed", range(4))
def test_arrays_of_int64_and_floats(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for number in range(160):
        scale = int(draw.integers(1, SMALL + 1) if number % 2 else draw.integers(SMALL + 1, LARGE + 1))
        dtype = [np.int64, np.float64, np.int8, np.uint16][number % 4]
        matrix = np.triu(draw.integers(0, draw.integers(1, 9), (scale, scale))).astype(dtype)
        _check(from_array(matrix), {(i, j): matrix[i - 1, j - 1].item() for i, j in cells(scale)}, scale)


def test_arrays_of_large_and_rational_numbers() -> None:
    for entries, scale in _cases(1, 160, large=False) + _cases(2, 100, large=True):
        _check(from_array(_object_array(entries, scale)), entries, scale)


def test_functions() -> None:
    for entries, scale in _cases(3, 100, large=False) + _cases(4, 60, large=True):
        _check(from_function(lambda i, j, table=entries: table[i, j], name="table"), entries, scale)


def test_formulas() -> None:
    for entries, scale in _cases(5, 50, large=False):
        _check(from_formula(_formula(entries)), entries, scale)


def test_relations_with_parameters() -> None:
    draw = random.Random(6)
    for number in range(80):
        scale = draw.randint(1, SMALL if number % 2 else 6)
        labels = {cell: draw.randint(0, 5) for cell in cells(scale)}
        relation = from_labels(_object_array(labels, scale).astype(np.int64), name="random")
        if number % 4 < 2:
            theta = {label: draw.choice(RATIONALS) for label in range(6)}
            _check(from_relation(relation, theta), {cell: theta[label] for cell, label in labels.items()}, scale)
        else:  # free parameters: every label counts
            _check(from_relation(relation), {cell: label + 1 for cell, label in labels.items()}, scale)


def test_patterns_with_irrational_entries_written_in_two_ways() -> None:
    draw = random.Random(7)
    zero = TWINS.index((sp.Integer(0), sp.Integer(0)))
    for _ in range(80):
        scale = draw.randint(1, SMALL)
        names = {cell: draw.randrange(len(TWINS)) for cell in cells(scale)}
        entries = {cell: draw.choice(TWINS[name]) for cell, name in names.items()}
        named = {cell: 0 if name == zero else name + 1 for cell, name in names.items()}
        _check(from_array(_object_array(entries, scale)), named, scale)


def test_patterns_of_matrices() -> None:
    draw = random.Random(8)
    for _ in range(80):
        scale = draw.randint(1, SMALL)
        entries = {cell: tuple(draw.choice([0, 0, 1, Fraction(1, 2)]) for _ in range(2)) for cell in cells(scale)}
        names = {cell: 0 if entry == (0, 0) else entry for cell, entry in entries.items()}
        _check(from_function(lambda i, j, table=entries: [list(table[i, j])], name="rows"), names, scale)
