"""Relations give the labels that their definition says, and refuse what is no label."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.relation import (
    NO_LABEL,
    Relation,
    absolute,
    clipped_relative,
    constant,
    from_function,
    from_labels,
    relative,
)

BUILT_IN = {
    "relative": (relative(), lambda i, j: j - i),
    "clipped-0": (clipped_relative(0), lambda i, j: 0),
    "clipped-3": (clipped_relative(3), lambda i, j: j - i if j - i < 3 else 3),
    "constant": (constant(), lambda i, j: 0),
}
ANY = {"absolute": absolute(), **{name: relation for name, (relation, _) in BUILT_IN.items()}}
SQUARE = [[0, 3, 1], [9, 2, 2], [9, 9, 0]]


@pytest.mark.parametrize("name", BUILT_IN)
def test_labels_follow_the_definition(name: str) -> None:
    relation, definition = BUILT_IN[name]
    for length in (1, 2, 7):
        labels = relation.labels(length)
        assert labels.dtype == np.int64
        for i in range(1, length + 1):
            for j in range(1, length + 1):
                assert labels[i - 1, j - 1] == (definition(i, j) if i <= j else NO_LABEL)


def test_absolute_gives_every_pair_its_own_label_by_the_documented_number() -> None:
    labels = absolute().labels(12)
    pairs = {(i, j): int(labels[i - 1, j - 1]) for j in range(1, 13) for i in range(1, j + 1)}
    assert len(set(pairs.values())) == len(pairs) == 78
    assert all(label == i + j * (j - 1) // 2 for (i, j), label in pairs.items())


@pytest.mark.parametrize("name", ANY)
def test_a_longer_length_agrees_on_the_shorter(name: str) -> None:
    longest = ANY[name].labels(9)
    for length in range(1, 9):
        assert (ANY[name].labels(length) == longest[:length, :length]).all()


@given(table=st.lists(st.lists(st.integers(0, 9), min_size=6, max_size=6), min_size=6, max_size=6))
def test_labels_and_functions_are_two_ways_to_give_one_relation(table: list[list[int]]) -> None:
    by_table = from_labels(table, name="table")
    by_function = from_function(lambda i, j: table[i - 1][j - 1], name="function")
    for length in (1, 4, 6):
        assert (by_table.labels(length) == by_function.labels(length)).all()


def test_given_matrices_are_read_above_the_diagonal_only_and_copied() -> None:
    matrix = np.array(SQUARE)
    relation = from_labels(matrix, name="given")
    matrix[:] = 7
    assert relation.labels(3).tolist() == [[0, 3, 1], [NO_LABEL, 2, 2], [NO_LABEL, NO_LABEL, 0]]


def test_a_function_sees_python_integers() -> None:
    kinds = set()
    from_function(lambda i, j: kinds.add((type(i), type(j))) or 0, name="spy").labels(3)
    assert kinds == {(int, int)}


def test_with_scale_hint_the_label_follows_the_scale() -> None:
    relation = from_function(lambda i, j, n: n - i, name="from-end", scale_hint=True)
    assert relation.labels(2, 2).tolist() == [[1, 1], [NO_LABEL, 0]]
    assert relation.labels(2, 5).tolist() == [[4, 4], [NO_LABEL, 3]]


def test_a_matrix_a_scale_is_a_scale_hint() -> None:
    relation = from_labels({1: [[4]], 2: [[0, 1], [0, 2]]}, name="by-scale")
    assert relation.scale_hint
    assert relation.labels(1, 1).tolist() == [[4]]
    assert relation.labels(2, 2).tolist() == [[0, 1], [NO_LABEL, 2]]
    assert relation.labels(1, 2).tolist() == [[0]]


def test_without_scale_hint_the_scale_is_not_looked_at() -> None:
    assert (relative().labels(4, 99) == relative().labels(4)).all()
    scales = []
    Relation(name="spy", law=lambda key, query, scale: scales.append(scale) or key).labels(2, 99)
    assert scales == [None]


HINTED = from_labels({2: [[0, 1], [0, 2]]}, name="by-scale")
GIVEN = from_labels(SQUARE, name="given")


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: relative().labels(0), "length must be at least 1, not 0"),
        (lambda: relative().labels(-3), "length must be at least 1, not -3"),
        (lambda: clipped_relative(-1), "at least 0, not -1"),
        (lambda: HINTED.labels(2), "pass scale=n"),
        (lambda: HINTED.labels(2, 3), r"scales \['2'\], not 3"),
        (lambda: HINTED.labels(3, 2), r"positions 1\.\.2, not 3"),
        (lambda: GIVEN.labels(4), r"positions 1\.\.3, not 4"),
        (lambda: from_labels([[0, 1]], name="flat"), r"'flat' must be square, not of shape \(1, 2\)"),
        (lambda: from_labels([0, 1], name="row"), "'row' must be square"),
        (lambda: from_labels([[0.5]], name="half"), "'half' must hold integers, not float64"),
        (lambda: from_labels({1: [[0]], 2: [[0]] * 2}, name="mixed"), "'mixed' must be square"),
        (lambda: from_labels([[0, -1], [0, 0]], name="neg").labels(2), "no label for key 1, query 2"),
        (lambda: from_function(lambda i, j: i - j, name="back").labels(2), "no label for key 1, query 2"),
        (lambda: from_function(lambda i, j: j / i, name="ratio").labels(2), "gave 1.0 for key 1, query 1"),
        (lambda: from_function(lambda i, j: None, name="none").labels(2), "gave None"),
        (lambda: Relation(name="short", law=lambda k, q, n: k[:1]).labels(3), "gave shape"),
    ],
)
def test_what_is_no_label_is_refused(ask: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_a_law_of_fractions_is_refused_and_not_rounded() -> None:
    half = Relation(name="half", law=lambda key, query, _: (query - key) / 2)
    with pytest.raises(ValueError, match="half"):
        half.labels(3)


def test_a_label_beyond_64_bits_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="huge"):
        from_function(lambda i, j: 2**70, name="huge").labels(2)
