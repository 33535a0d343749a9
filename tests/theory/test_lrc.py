"""LRC is the number of distinct non-zero entries, exactly, and no relation represents a pattern with fewer labels."""

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.theory.lrc import LrcProfile, level_sets, lrc, lrc_profile, profile
from lengthgen.theory.pattern import as_matrix, from_function

Rows = list[list[Any]]
VALUES = st.sampled_from([0, 1, -1, 2, Fraction(1, 3), Fraction(2, 3), 10**30, 10**30 + 1])


def _pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(i, size)]


def _oracle(rows: Rows, size: int) -> int:
    return len({Fraction(rows[i][j]) for i, j in _pairs(size) if rows[i][j] != 0})


@st.composite
def patterns(draw: st.DrawFn) -> Rows:
    size = draw(st.integers(1, 5))
    return [[draw(VALUES) if i <= j else 0 for j in range(size)] for i in range(size)]


def _objects(rows: Rows) -> np.ndarray:
    pattern = np.empty((len(rows), len(rows)), dtype=object)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            pattern[i, j] = entry
    return pattern


@given(rows=patterns())
def test_lrc_counts_distinct_nonzero_entries_at_every_scale(rows: Rows) -> None:
    profile = lrc_profile(_objects(rows), range(1, len(rows) + 1))
    assert profile == {scale: _oracle(rows, scale) for scale in range(1, len(rows) + 1)}
    assert list(profile.values()) == sorted(profile.values()), "LRC is monotone in the scale"
    assert lrc(_objects(rows)) == profile[len(rows)]


@given(rows=patterns())
def test_renaming_nonzero_values_changes_nothing(rows: Rows) -> None:
    others = sorted({Fraction(entry) for row in rows for entry in row if entry != 0}, reverse=True)
    names: dict[Any, Any] = {0: 0} | {value: 7 * index + 5 for index, value in enumerate(others)}
    renamed = [[names[entry] for entry in row] for row in rows]
    assert lrc(_objects(rows)) == lrc(renamed)
    assert (level_sets(_objects(rows)).labels(len(rows)) == level_sets(renamed).labels(len(rows))).all()


@given(rows=patterns())
def test_level_sets_represent_the_pattern_with_lrc_many_labels(rows: Rows) -> None:
    labels = level_sets(_objects(rows)).labels(len(rows))
    theta: dict[int, Any] = {0: 0}
    for i, j in _pairs(len(rows)):
        assert theta.setdefault(int(labels[i, j]), rows[i][j]) == rows[i][j], "one label, one value"
    used = {int(labels[i, j]) for i, j in _pairs(len(rows))} - {0}
    assert used == set(range(1, lrc(_objects(rows)) + 1))


def test_level_sets_number_labels_by_first_use_query_by_query() -> None:
    assert level_sets([[5, 7, 0], [0, 5, 9], [0, 0, 7]]).labels(3).tolist() == [[1, 2, 0], [-1, 1, 3], [-1, -1, 2]]


def _partitions(count: int) -> Iterator[tuple[int, ...]]:
    """List every set partition of `count` things, as the block number of each."""
    for blocks in itertools.product(*(range(index + 1) for index in range(count))):
        if all(block <= max(blocks[:index], default=-1) + 1 for index, block in enumerate(blocks)):
            yield blocks


@pytest.mark.parametrize("values", [(0, 1), (0, 1, 2), (1, 2, 3)])
def test_no_relation_represents_a_pattern_with_fewer_parameters(values: tuple[int, ...]) -> None:
    size = 2 if len(values) == 3 else 3
    pairs = _pairs(size)
    for entries in itertools.product(values, repeat=len(pairs)):
        pattern = np.zeros((size, size), dtype=int)
        for pair, entry in zip(pairs, entries, strict=True):
            pattern[pair] = entry
        costs = []
        for blocks in _partitions(len(pairs)):
            theta = dict(zip(blocks, entries, strict=True))
            if all(theta[block] == entry for block, entry in zip(blocks, entries, strict=True)):
                costs.append(sum(entry != 0 for entry in theta.values()))
        assert lrc(pattern) == min(costs)


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
