"""Relations give the labels that their definition says, and refuse what is no label."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.relation import (
    NO_LABEL,
    Relation,
    absolute,
    clipped_relative,
    constant,
    diagonal_apart,
    from_function,
    from_labels,
    key_position,
    query_position,
    relative,
    t5_buckets,
)

BUILT_IN = {
    "relative": (relative(), lambda i, j: j - i),
    "clipped-0": (clipped_relative(0), lambda i, j: 0),
    "clipped-3": (clipped_relative(3), lambda i, j: j - i if j - i < 3 else 3),
    "constant": (constant(), lambda i, j: 0),
    "key": (key_position(), lambda i, j: i),
    "query": (query_position(), lambda i, j: j),
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


@pytest.mark.parametrize("name", ANY)
def test_a_diagonal_apart_shares_its_label_with_no_other_pair(name: str) -> None:
    labels, apart = ANY[name].labels(9), diagonal_apart(ANY[name]).labels(9)
    above = np.triu_indices(9, 1)
    assert (np.diag(apart) == 0).all()
    assert (apart[above] == labels[above] + 1).all() and (apart[np.tril_indices(9, -1)] == NO_LABEL).all()


def test_a_diagonal_apart_keeps_the_scale_hint() -> None:
    relation = diagonal_apart(from_function(lambda i, j, n: n - i, name="from-end", scale_hint=True))
    assert relation.scale_hint and relation.labels(3, 4).tolist() == [[0, 4, 4], [-1, 0, 3], [-1, -1, 0]]


def t5_by_logarithms(distance: int, buckets: int, longest: int) -> int:
    """The rule of T5's published code for causal attention, with its logarithms in float64."""
    exact = buckets // 2
    if distance < exact:
        return distance
    share = math.log(distance / exact) / math.log(longest / exact)
    return min(exact + int(share * (buckets - exact)), buckets - 1)


@pytest.mark.parametrize(
    ("buckets", "longest"), [(32, 128), (32, 256), (33, 100), (64, 2048), (8, 20), (6, 4), (3, 9), (2, 2)]
)
def test_t5_buckets_are_those_of_the_published_rule(buckets: int, longest: int) -> None:
    distances = np.arange(3 * longest)
    labels = t5_buckets(buckets, longest).label(np.ones_like(distances), distances + 1)
    assert labels.tolist() == [t5_by_logarithms(distance, buckets, longest) for distance in distances.tolist()]


# With longest = e r^p, distance e r^s starts bucket e + m s/p whenever m s/p is whole (m buckets beyond e).
WHOLE_STARTS = [
    (buckets, buckets // 2 * ratio**power, buckets // 2 * ratio**step, Fraction(buckets - buckets // 2) * step / power)
    for buckets in (10, 12, 20, 32)
    for ratio in (2, 5, 7)
    for power in range(2, 6)
    for step in range(1, power)
    if ((buckets - buckets // 2) * step) % power == 0
]


def test_a_t5_bucket_starts_exactly_where_its_logarithm_is_whole() -> None:
    for buckets, longest, distance, beyond in WHOLE_STARTS:
        before, at = t5_buckets(buckets, longest).label(np.array([1, 1]), np.array([distance, distance + 1])).tolist()
        assert at == buckets // 2 + beyond, (buckets, longest, distance)
        assert before == at - 1, (buckets, longest, distance)


@given(
    seed=st.integers(0, 10**6),
    size=st.integers(0, 30),
    name=st.sampled_from(["absolute", "clipped-3", "key", "n - i", "n"]),
)
def test_labels_of_single_pairs_are_those_of_the_matrix_of_their_scale(seed: int, size: int, name: str) -> None:
    hinted = {
        "n - i": from_function(lambda i, j, n: n - i, name="n - i", scale_hint=True),
        "n": Relation(name="n", law=lambda key, query, scale: np.full_like(key, scale), scale_hint=True),
    }
    relation = {**ANY, **hinted}[name]
    rng = np.random.default_rng(seed)
    scales = rng.integers(1, 8, size)
    queries = np.minimum(rng.integers(1, 8, size), scales)
    keys = np.minimum(rng.integers(1, 8, size), queries)
    labels = relation.label(keys, queries, scales)
    assert labels.dtype == np.int64
    expected = [relation.labels(n, n)[i - 1, j - 1] for i, j, n in zip(keys, queries, scales.tolist(), strict=True)]
    assert labels.tolist() == expected


def test_one_scale_may_stand_for_all_pairs() -> None:
    relation = from_function(lambda i, j, n: n - i, name="from-end", scale_hint=True)
    assert relation.label(np.array([1, 2]), np.array([2, 2]), 5).tolist() == [4, 3]


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


def test_a_relation_without_scale_hint_does_not_look_at_the_scale() -> None:
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
        (lambda: t5_buckets(1, 9), "buckets=1, longest=9"),
        (lambda: t5_buckets(32, 16), "buckets=32, longest=16"),
        (lambda: relative().label(np.array([2]), np.array([1])), r"key 2 is not in 1\.\.1"),
        (lambda: relative().label(np.array([1, 0]), np.array([1, 3])), r"key 0 is not in 1\.\.3"),
        (lambda: relative().label(np.array([1]), np.array([1, 2])), "two lists of one length"),
        (lambda: HINTED.label(np.array([1]), np.array([1])), "pass scale=n"),
        (lambda: HINTED.label(np.array([1]), np.array([1]), np.array([1, 2])), "two lists of one length"),
        (lambda: HINTED.label(np.array([1]), np.array([1]), np.array([3])), r"scales \['2'\], not 3"),
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
def test_values_that_are_no_label_are_refused(ask: Callable[[], object], says: str) -> None:
    with pytest.raises(LengthgenError, match=says) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_a_law_of_fractions_is_refused_and_not_rounded() -> None:
    half = Relation(name="half", law=lambda key, query, _: (query - key) / 2)
    with pytest.raises(ValueError, match="half"):
        half.labels(3)


def test_a_label_beyond_64_bits_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="huge"):
        from_function(lambda i, j: 2**70, name="huge").labels(2)


def test_the_largest_label_is_the_largest_signed_number_of_64_bits() -> None:
    assert from_function(lambda i, j: 2**63 - 1, name="largest").labels(1).tolist() == [[2**63 - 1]]
    for label in (2**63, 2**64 - 1):
        with pytest.raises(LengthgenError, match="not an integer below"):
            from_function(lambda i, j, label=label: label, name="beyond").labels(1)
