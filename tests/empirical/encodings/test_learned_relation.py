"""A learned relation beside the ideal one: strongest labels, the best matching, and pairs named one by one."""

import itertools
from dataclasses import astuple

import numpy as np
import pytest

from lengthgen.circuits.analysis import analyse
from lengthgen.circuits.roles import ideal_relation
from lengthgen.circuits.tasks import load
from lengthgen.empirical.encodings.learned_relation import (
    Disagreement,
    LearnedRelationError,
    compare,
    open_queries,
    strongest_labels,
)
from lengthgen.theory.relation import NO_LABEL, RelationError, from_function


def one_hot(labels_IJ, count):
    """[J, I, count], sure of the labels [I, J]; whatever below the diagonal."""
    return np.eye(count)[np.where(labels_IJ == NO_LABEL, 0, labels_IJ).T]


def share(comparison):
    """Share of agreeing pairs among all pairs."""
    return sum(comparison.agreeing.values()) / sum(comparison.pairs.values())


def compared(weights, ideal, **options):
    """Comparison at all queries."""
    queries = {scale: range(1, len(scale_weights) + 1) for scale, scale_weights in weights.items()}
    return compare(weights, ideal, queries=queries, **options)


FIRST = from_function(lambda i, j: int(i == 1), name="first")


def test_the_strongest_labels_are_those_of_a_sorted_list_the_smaller_of_equal_weights_first():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(5), size=(6, 6))
    labels, their_weights = strongest_labels(weights, 3)
    assert labels.shape == their_weights.shape == (6, 6, 3) and labels.dtype == np.int64
    for j, i in itertools.product(range(6), range(6)):
        ranked = sorted(range(5), key=lambda label, at=(j, i): -weights[*at, label])[:3]
        if i <= j:
            assert labels[j, i].tolist() == ranked
            assert their_weights[j, i].tolist() == [weights[j, i, label] for label in ranked]
        else:
            assert (labels[j, i] == NO_LABEL).all() and (their_weights[j, i] == 0).all()
    assert strongest_labels(np.full((1, 1, 100), 0.01), 100)[0][0, 0].tolist() == list(range(100))


@pytest.mark.parametrize("seed", range(8))
def test_no_other_meaning_of_the_labels_agrees_at_more_pairs_and_the_pairs_that_disagree_are_named(seed):
    rng = np.random.default_rng(seed)
    count, ideal_count = ((4, 3), (3, 4))[seed % 2]
    learned, table = rng.integers(count, size=(5, 5)), rng.integers(ideal_count, size=(5, 5))
    ideal = from_function(lambda i, j: int(table[i - 1, j - 1]), name="random")
    comparison = compared({5: one_hot(learned, count)}, ideal, most=100)
    pairs = [(i, j) for j in range(5) for i in range(j + 1)]
    choices = itertools.product(range(ideal_count), repeat=count)
    best = max(sum(choice[learned[pair]] == table[pair] for pair in pairs) for choice in choices)
    assert sum(comparison.agreeing.values()) == best
    expected = [
        (5, i + 1, j + 1, table[i, j], learned[i, j], comparison.meaning[learned[i, j]])
        for i, j in pairs
        if comparison.meaning[learned[i, j]] != table[i, j]
    ]
    assert [astuple(disagreement) for disagreement in comparison.disagreements] == expected
    wrong = {(i - 1, j - 1) for _, i, j, *_ in expected}
    for label in np.unique(table):
        right = [pair for pair in pairs if table[pair] == label]
        assert comparison.pairs.get(label, 0) == len(right)
        assert comparison.agreeing.get(label, 0) == len([pair for pair in right if pair not in wrong])


def test_a_permuted_ideal_relation_is_the_ideal_relation():
    ideal = from_function(lambda i, j: (j - i) % 4, name="cyclic")
    names = np.array([2, 0, 3, 1])
    comparison = compared({n: one_hot(names[ideal.labels(n)], 5) for n in (3, 6)}, ideal)
    assert share(comparison) == 1 and not comparison.disagreements
    assert comparison.meaning == {int(name): label for label, name in enumerate(names)}


def test_names_must_be_the_same_at_every_scale():
    """A relation that swaps its names at a larger scale would agree wholly if each scale were matched alone."""
    ideal = from_function(lambda i, j: int(i == j), name="diagonal")
    weights = {n: one_hot(ideal.labels(n) if n == 3 else 1 - np.maximum(ideal.labels(n), 0), 2) for n in (3, 4)}
    assert all(share(compared({n: scale_weights}, ideal)) == 1 for n, scale_weights in weights.items())
    comparison = compared(weights, ideal)
    assert share(comparison) < 1 and {disagreement.scale for disagreement in comparison.disagreements} == {3}


def test_one_label_for_everything_has_a_high_share_and_misses_every_role():
    comparison = compare({9: np.full((9, 9, 3), 1 / 3)}, FIRST, queries={9: [9]})
    assert comparison.agreeing == {0: 8, 1: 0} and comparison.pairs == {0: 8, 1: 1}
    assert comparison.disagreements == (Disagreement(scale=9, key=1, query=9, ideal=1, learned=0, means=0),)


def test_a_finer_relation_agrees_and_a_coarser_one_does_not():
    fine, coarse = (from_function(lambda i, j, of=of: (j - i) % of, name=f"mod {of}") for of in (4, 2))
    refining = compared({8: one_hot(fine.labels(8), 4)}, coarse)
    assert share(refining) == 1 and refining.meaning == {0: 0, 1: 1, 2: 0, 3: 1}
    assert share(compared({8: one_hot(coarse.labels(8), 4)}, fine)) < 0.7


def test_counts_are_given_by_scale_and_the_list_is_cut():
    weights = {n: one_hot(FIRST.labels(n), 2) for n in (2, 3)}
    weights[3][2, 0] = weights[3][2, 0, ::-1]
    comparison = compared(weights, FIRST)
    assert comparison.scales == {2: {0: (1, 1), 1: (2, 2)}, 3: {0: (3, 3), 1: (2, 3)}}
    assert comparison.agreeing == {0: 4, 1: 4} and comparison.pairs == {0: 4, 1: 5}
    full, cut = (compared({6: np.ones((6, 6, 2))}, FIRST, most=most) for most in (100, 4))
    assert cut.disagreements == full.disagreements[:4] and len(full.disagreements) == 6
    assert cut.scales == full.scales


def test_only_steps_that_their_own_token_leaves_open_count():
    """The answer of select-middle follows '=', and a digit is always followed by '$'."""
    analysis = analyse(load("select-middle"), "unaligned", 6)
    ideal = ideal_relation(analysis.circuit, scale_hint=True)
    rng, queries, weights = np.random.default_rng(0), open_queries(analysis), {}
    assert queries == {n: (n + 1,) for n in range(1, 7)}
    for n in range(1, 7):
        weights[n] = one_hot(ideal.labels(n + 3, n), 2)
        noise = [at for at in range(n + 3) if at != n]
        weights[n][noise, :] = rng.dirichlet(np.ones(2), size=(n + 2, n + 3))
    comparison = compare(weights, ideal, queries=queries)
    assert share(comparison) == 1
    assert comparison.pairs[1] == 6, "one key for each of six scales"
    weights[4][4, 1] = weights[4][4, 1, ::-1]
    [wrong] = compare(weights, ideal, queries=queries).disagreements
    assert (wrong.scale, wrong.key, wrong.query, wrong.ideal) == (4, 2, 5, 1)
    with pytest.raises(RelationError):
        compare({3: np.ones((9, 9, 2))}, ideal, queries={3: [9]})


def test_steps_that_hang_on_more_than_their_own_token_are_open():
    analysis = analyse(load("parity"), "aligned", 3)
    assert open_queries(analysis) == {trace.scale: tuple(at - 1 for at in trace.steps) for trace in analysis.traces}


@pytest.mark.parametrize(
    ("weights", "queries", "message"),
    [
        ({2: np.ones((2, 2))}, {2: [1]}, r"\[queries, keys, labels\]"),
        ({2: np.ones((2, 3, 2))}, {2: [1]}, "as many queries as keys"),
        ({2: np.ones((2, 2, 0))}, {2: [1]}, r"\[queries, keys, labels\]"),
        ({2: -np.ones((2, 2, 2))}, {2: [1]}, "finite numbers >= 0"),
        ({2: np.full((2, 2, 2), np.nan)}, {2: [1]}, "finite numbers >= 0"),
        ({2: np.ones((2, 2, 2))}, {3: [1]}, "no weights of scale 3"),
        ({2: np.ones((2, 2, 2))}, {2: [3]}, r"query 3 of scale 2 is not in 1\.\.2"),
        ({2: np.ones((2, 2, 2))}, {2: [0]}, r"query 0 of scale 2 is not in 1\.\.2"),
        ({2: np.ones((2, 2, 2))}, {2: []}, "no pair to compare"),
        ({2: np.ones((2, 2, 2)), 3: np.ones((3, 3, 4))}, {2: [1]}, "the same number of labels"),
    ],
)
def test_weights_and_queries_that_cannot_be_compared_are_refused(weights, queries, message):
    with pytest.raises(LearnedRelationError, match=message):
        compare(weights, FIRST, queries=queries)
    for count in (0, 3):
        with pytest.raises(LearnedRelationError, match=r"there are 2 labels, so ask for 1\.\.2 of them"):
            strongest_labels(np.ones((1, 1, 2)), count)
