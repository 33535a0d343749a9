"""What a learned relation came to: its strongest labels, and the pairs where it is not the ideal relation.

A learned relation gives every pair weights p of K labels; the label of the largest weight is taken for its label.  Its
numbers mean nothing, so they are first named: the one-to-one matching of learned with ideal labels under which most
pairs agree.  Labels that act alike (equal vectors) are not merged: one role spread over two labels counts as
disagreement, however little it may change what the model computes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from circuits.circuit import Circuit
from theory.errors import LengthgenError
from theory.relation import NO_LABEL, Labels, Relation

Weights = NDArray[np.floating]


class LearnedRelationError(LengthgenError):
    """Weights that are none, or no pairs to compare."""


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A pair whose learned label is not the one matched with its ideal label; positions are 1-based.

    `learned` is the number of the label in p, `means` the ideal label it is matched with (NO_LABEL if none).
    """

    scale: int
    key: int
    query: int
    ideal: int
    learned: int
    means: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A learned relation beside the ideal one.

    Attributes:
        matching: learned label -> ideal label.
        pairs: ideal label -> how many of the pairs have it.
        agreeing: ideal label -> at how many of these the learned label means it.
        disagreements: the first of the others, by scale, query and key.
    """

    matching: Mapping[int, int]
    pairs: Mapping[int, int]
    agreeing: Mapping[int, int]
    disagreements: tuple[Disagreement, ...]

    @property
    def share(self) -> float:
        """Of all pairs.  Most are irrelevant: one label for everything has a high share, so look at each label's."""
        return sum(self.agreeing.values()) / sum(self.pairs.values())


def strongest(weights_JIK: Weights, count: int = 3) -> tuple[Labels, Weights]:
    """The `count` labels of largest weight of every pair, and these weights, the largest first  [P, Fig. 5].

    Args:
        weights_JIK: queries by keys by labels, of one scale, as `LBPE.label_weights` gives them.
        count: at most K.

    Returns:
        Labels int64 [J, I, count], of equal weights the smaller first, and their weights.  Where the key is after the
        query they are NO_LABEL and 0.

    Raises:
        LearnedRelationError: the weights are no such array, or have fewer than `count` labels.
    """
    labels = _require_weights(weights_JIK)
    if not 1 <= count <= labels:
        raise LearnedRelationError(f"there are {labels} labels, so ask for 1..{labels} of them, not {count}")
    found = np.argsort(-weights_JIK, axis=-1, kind="stable")[..., :count].astype(np.int64)
    weights = np.take_along_axis(weights_JIK, found, axis=-1)
    later = ~np.tri(len(found), dtype=bool)
    found[later], weights[later] = NO_LABEL, 0
    return found, weights


def step_queries(circuit: Circuit, scale: int) -> tuple[int, ...]:
    """The queries that compute a step, 1-based: those at which a circuit says what keys are for.

    At the others nothing is asked of the model, so that its labels there are free (in a model of several layers they
    may serve a later step, about which a circuit says nothing).  They are free as well at a step that the query's own
    token decides, as `$` in the Select tasks: a model may learn it without the key that the circuit reads.  [F]
    """
    return tuple(wiring.position - 1 for wiring in circuit.wirings[scale])


def compare(
    weights: Mapping[int, Weights], ideal: Relation, *, queries: Mapping[int, Sequence[int]], most: int = 20
) -> Comparison:
    """Pair by pair, for all keys of the given queries, under one matching for all scales.

    Args:
        weights: scale -> [J, I, K], queries by keys by labels, positions from 1 on.
        ideal: with or without scale hint.
        queries: scale -> the queries that count, 1-based, such as `step_queries`.
        most: how many disagreements are listed.

    Raises:
        LearnedRelationError: weights are no such arrays, scales differ in their labels, a scale has no weights, a query
            is not among its positions, or no queries are given.
        RelationError: the ideal relation has no such scale or position.
    """
    scales, keys, asking, right, learned = _pairs(weights, ideal, queries)
    counts = np.zeros((int(learned.max()) + 1, int(right.max()) + 1), dtype=np.int64)
    np.add.at(counts, (learned, right), 1)
    matching = {
        int(mine): int(theirs)
        for mine, theirs in zip(*linear_sum_assignment(counts, maximize=True), strict=True)
        if counts[mine, theirs]
    }
    means = np.array([matching.get(label, NO_LABEL) for label in range(len(counts))])[learned]
    wrong = np.flatnonzero(means != right)[:most]
    listed = zip(*(column[wrong].tolist() for column in (scales, keys, asking, right, learned, means)), strict=True)
    return Comparison(
        matching=matching,
        pairs={int(label): int((right == label).sum()) for label in np.unique(right)},
        agreeing={int(label): int(((right == label) & (means == label)).sum()) for label in np.unique(right)},
        disagreements=tuple(
            Disagreement(scale=scale, key=key, query=query, ideal=ideal_label, learned=label, means=meaning)
            for scale, key, query, ideal_label, label, meaning in listed
        ),
    )


def _pairs(
    weights: Mapping[int, Weights], ideal: Relation, queries: Mapping[int, Sequence[int]]
) -> tuple[Labels, Labels, Labels, Labels, Labels]:
    """Scale, key, query, ideal label and strongest label of every pair that counts: int64 [pairs] each."""
    columns = []
    if len({one.shape[-1:] for one in weights.values()}) > 1:
        raise LearnedRelationError("weights of all scales must be of the same labels")
    for scale, asked in sorted(queries.items()):
        if scale not in weights:
            raise LearnedRelationError(f"there are queries but no weights of scale {scale}")
        found, _ = strongest(weights[scale], 1)
        table = ideal.labels(len(found), scale)
        for query in sorted(set(asked)):
            if not 1 <= query <= len(found):
                raise LearnedRelationError(f"query {query} of scale {scale} is not in 1..{len(found)}")
            keys = np.arange(1, query + 1)
            same = [np.full(query, scale), keys, np.full(query, query), table[:query, query - 1]]
            columns.append(np.stack([*same, found[query - 1, :query, 0]]))
    if not columns:
        raise LearnedRelationError("there is no pair to compare: give at least one query")
    scales, keys, asking, right, learned = np.concatenate(columns, axis=1)
    return scales, keys, asking, right, learned


def _require_weights(weights_JIK: Weights) -> int:
    """How many labels there are."""
    shape = weights_JIK.shape
    if len(shape) != 3 or shape[0] != shape[1] or not shape[2]:
        raise LearnedRelationError(f"weights must be [queries, keys, labels] of as many queries as keys, not {shape}")
    if not ((weights_JIK >= 0) & np.isfinite(weights_JIK)).all():
        raise LearnedRelationError("weights must be finite numbers >= 0: give p itself, not its logarithm")
    return int(shape[2])
