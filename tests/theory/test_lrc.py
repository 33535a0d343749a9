"""LRC of random small patterns, however they are given, is the minimum over all relations; and what is refused."""

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
import sympy as sp

from lengthgen.theory.lrc import LrcProfile, level_sets, lrc, lrc_profile, profile
from lengthgen.theory.pattern import Pattern, as_matrix, from_array, from_formula, from_function, from_relation
from lengthgen.theory.relation import from_labels
from tests.oracles.lrc import cells, lrc_by_level_sets, lrc_over_all_relations

Entries = dict[tuple[int, int], Any]
Rows = list[list[Any]]

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


def _drawn(draw: random.Random, values: list[Any], scale: int) -> Entries:
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
    assert lrc(pattern, scale) == expected[scale]
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
    return [(_drawn(draw, RATIONALS, scale), scale) for scale in scales]


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


def _objects(rows: Rows) -> np.ndarray:
    pattern = np.empty((len(rows), len(rows)), dtype=object)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            pattern[i, j] = entry
    return pattern


def test_level_sets_number_labels_by_first_use_query_by_query() -> None:
    assert level_sets([[5, 7, 0], [0, 5, 9], [0, 0, 7]]).labels(3).tolist() == [[1, 2, 0], [-1, 1, 3], [-1, -1, 2]]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ([[0]], 0),
        ([[0.0, -0.0], [0.0, 0.0]], 0),
        ([[1, 1], [0, 1]], 1),
        ([[True, False], [False, True]], 1),
        ([[1, 1.0], [0, Fraction(1)]], 1),
        ([[Fraction(1, 3), 1 / 3], [0, Fraction(1, 2)]], 3),
        ([[Fraction(1, 2), 0.5], [0, Fraction(2, 4)]], 1),
        ([[2**64, 2**64 + 1], [0, 2**64]], 2),
        ([[10**40, Fraction(10**40 + 1)], [0, 1]], 3),
        ([[1, -1], [0, 2]], 3),
        (np.array([[0.5, 0.25], [0.0, 0.5]], dtype=np.float16), 2),
        (np.array([[200, 100], [0, 200]], dtype=np.uint8), 2),
    ],
)
def test_lrc_of_exact_and_mixed_entries(pattern: Any, expected: int) -> None:
    assert lrc(pattern) == expected
    labels = level_sets(pattern).labels(len(pattern))
    assert len(set(labels[np.triu_indices(len(pattern))].tolist()) - {0}) == expected


@pytest.mark.parametrize(
    "pattern",
    [[[2**63, 2**63 + 1], [0, 2**63 + 2]], [[2**63, 2**63 + 1], [0, -1]], [[2**53, 2**53 + 1], [0, 0.5]]],
    ids=["unsigned-with-zero", "unsigned-with-negative", "big-with-float"],
)
def test_lists_of_integers_are_not_rounded_to_floats(pattern: Rows) -> None:
    assert lrc(pattern) == 3


def test_numpy_integers_among_fractions_are_numbers() -> None:
    mixed = _objects([[np.int64(1), Fraction(1, 3)], [0, 1]])
    assert lrc(mixed) == 2


def test_the_scale_cuts_the_leading_block() -> None:
    pattern = [[1, 2, 3], [0, 1, 4], [0, 0, 5]]
    assert [lrc(pattern, scale) for scale in (1, 2, 3)] == [1, 2, 5]
    assert lrc_profile(pattern, [3, 1]) == {3: 5, 1: 1}


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ([[1, 2]], "square"),
        ([1, 2], "square"),
        (3, "square"),
        ([], "square"),
        (np.zeros((0, 0)), "square"),
        ([[1, 0], [1, 1]], r"A\(2, 1\) is not 0"),
        ([[1, 2, 3], [0, 1, 2], [0, 1e-300, 1]], r"A\(3, 2\) is not 0"),
        ([[math.nan]], "i=1, j=1 is a NaN"),
        ([[1, math.nan], [0, 1]], "i=1, j=2 is a NaN"),
        (_objects([[1, math.nan], [0, Fraction(1, 3)]]), "i=1, j=2 is a NaN"),
        ([[1j]], "real numbers"),
        (_objects([[1j]]), "not complex"),
        ([["1"]], "real numbers"),
        (_objects([["1"]]), "not str"),
        ([[None]], "not NoneType"),
    ],
)
def test_matrices_that_are_no_pattern_are_refused(pattern: Any, says: str) -> None:
    for ask in (as_matrix, lrc, level_sets):
        with pytest.raises(ValueError, match=says) as caught:
            ask(pattern)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scale", [0, -1, 3])
def test_a_scale_outside_the_pattern_is_refused(scale: int) -> None:
    with pytest.raises(ValueError, match="scale must be 1 to 2"):
        lrc([[1, 1], [0, 1]], scale)


@pytest.mark.parametrize("seed", range(20))
def test_values_that_may_be_equal_are_counted_once_in_the_lower_bound(seed: int) -> None:
    """The lower bound counts values that chains, cycles or pairs with zero join as one value."""
    draw = random.Random(seed)
    count, scale = draw.randint(1, 7), 6
    first_scales = sorted(draw.randint(1, scale) for _ in range(count))
    possible = list(itertools.combinations(range(-1, count), 2))
    undecided = [pair[:: draw.choice((1, -1))] for pair in draw.sample(possible, draw.randint(0, len(possible)))]
    counted = LrcProfile(scale=scale, first_scales=np.array(first_scales), undecided=tuple(undecided))
    for at in range(1, scale + 1):
        present = {-1, *(value for value, since in enumerate(first_scales) if since <= at)}
        graph = nx.Graph(pair for pair in undecided if present.issuperset(pair))
        graph.add_nodes_from(present)
        assert counted.bounds(at) == (nx.number_connected_components(graph) - 1, len(present) - 1)


@pytest.mark.parametrize("seed", range(10))
def test_the_cells_of_a_family_up_to_a_scale_are_those_of_all_scales_up_to_it(seed: int) -> None:
    draw = random.Random(seed)
    most = draw.choice((1, 5, 50))
    values = {
        (i, j, n): draw.randint(0, most) * (n > seed // 2)
        for n in range(1, 7)
        for j in range(1, n + 1)
        for i in range(1, j + 1)
    }
    seen = profile(from_function(lambda i, j, n: values[i, j, n], name="table", scale_hint=True), 6)
    for scale in range(1, 7):
        entries = {value for (_, _, n), value in values.items() if n <= scale}
        assert seen.bounds(scale) == (len(entries - {0}),) * 2


@pytest.mark.parametrize("seed", range(20))
def test_a_relation_may_generalize_only_if_every_new_value_may_equal_an_earlier_value_or_zero(seed: int) -> None:
    draw = random.Random(seed)
    count, scale = draw.randint(1, 6), 5
    first_scales = sorted(draw.randint(1, scale) for _ in range(count))
    possible = list(itertools.combinations(range(-1, count), 2))
    undecided = [pair[:: draw.choice((1, -1))] for pair in draw.sample(possible, draw.randint(0, len(possible)))]
    result = LrcProfile(scale=scale, first_scales=np.array(first_scales), undecided=tuple(undecided))
    for train, test in itertools.combinations_with_replacement(range(1, scale + 1), 2):
        early, present = ({-1, *(value for value, at in enumerate(first_scales) if at <= end)} for end in (train, test))
        graph = nx.Graph(pair for pair in undecided if present.issuperset(pair))
        graph.add_nodes_from(present)
        possible_everywhere = all(early & part for part in nx.connected_components(graph))
        expected = True if early == present else None if possible_everywhere else False
        assert result.generalizes(train, test) is expected
