"""What a learned relation came to: its strongest labels, and the pairs where it is not the ideal relation.

A learned relation gives every pair weights p of K labels; the label of the largest weight is taken for its label.  Its
numbers mean nothing, so they are first named: each means the ideal label that most of its pairs have, the same at every
scale.  So what is asked is whether it refines the ideal relation: one role may be spread over several labels, but two
roles in one label disagree.  [F]  K labels cannot tell more than K kinds of pairs apart, and there are far more pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuits.prediction import Analysis
from theory.relation import NO_LABEL, Labels, Relation
from theory.system.errors import LengthgenError

Weights = NDArray[np.floating]


class LearnedRelationError(LengthgenError):
    """Weights that are none, or no pairs to compare."""


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """A pair whose learned label does not mean its ideal label; positions are 1-based.

    `learned` is the number of the label in p, `means` the ideal label that it means.
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
        meaning: learned label -> ideal label; the smaller one where two have as many of its pairs.
        scales: scale -> ideal label -> at how many pairs the learned label means it, and how many pairs have it.
        disagreements: the first of the others, by scale, query and key.
    """

    meaning: Mapping[int, int]
    scales: Mapping[int, Mapping[int, tuple[int, int]]]
    disagreements: tuple[Disagreement, ...]

    @property
    def agreeing(self) -> dict[int, int]:
        """Ideal label -> at how many of its pairs the learned label means it, over all scales."""
        return self._over_scales(0)

    @property
    def pairs(self) -> dict[int, int]:
        """Ideal label -> how many pairs have it, over all scales."""
        return self._over_scales(1)

    @property
    def share(self) -> float:
        """Of all pairs.  Most are irrelevant: one label for everything has a high share, so look at each label's."""
        return sum(self.agreeing.values()) / sum(self.pairs.values())

    def _over_scales(self, which: int) -> dict[int, int]:
        found: dict[int, int] = {}
        for counts in self.scales.values():
            for label, both in counts.items():
                found[label] = found.get(label, 0) + both[which]
        return dict(sorted(found.items()))


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


def open_queries(analysis: Analysis) -> dict[int, tuple[int, ...]]:
    """Scale -> the queries that compute a step which their own token does not decide, 1-based.  [F]

    At the others a circuit says nothing of the model's labels: nothing is computed there, or a model, which always
    knows the query's own token, needs no other key, whatever the circuit reads. The Select tasks end so: a digit is
    always followed by `$`. A token decides if all steps that follow it, at all scales of the analysis, are the same.
    """
    followed: dict[int, set[int]] = {}
    for trace in analysis.traces:
        for position in trace.steps:
            pairs = np.unique(trace.tokens[position - 2 : position].astype(np.int64), axis=1)
            for own, next_token in pairs.T.tolist():
                followed.setdefault(own, set()).add(next_token)
    deciding = [token for token, outcomes in followed.items() if len(outcomes) == 1]
    return {
        trace.scale: tuple(
            position - 1 for position in trace.steps if not np.isin(trace.tokens[position - 2], deciding).all()
        )
        for trace in analysis.traces
    }


def compare(
    weights: Mapping[int, Weights], ideal: Relation, *, queries: Mapping[int, Sequence[int]], most: int = 20
) -> Comparison:
    """Pair by pair, for all keys of the given queries, under one meaning of each label for all scales.

    Args:
        weights: scale -> [J, I, K], queries by keys by labels, positions from 1 on.
        ideal: with or without scale hint.
        queries: scale -> the queries that count, 1-based, such as `open_queries`.
        most: how many disagreements are listed.

    Raises:
        LearnedRelationError: weights are no such arrays, scales differ in their labels, a scale has no weights, a query
            is not among its positions, or no queries are given.
        RelationError: the ideal relation has no such scale or position.
    """
    scales, keys, asking, right, learned = _pairs(weights, ideal, queries)
    counts = np.zeros((int(learned.max()) + 1, int(right.max()) + 1), dtype=np.int64)
    np.add.at(counts, (learned, right), 1)
    means = counts.argmax(axis=1)[learned]
    wrong = np.flatnonzero(means != right)[:most]
    listed = zip(*(column[wrong].tolist() for column in (scales, keys, asking, right, learned, means)), strict=True)
    return Comparison(
        meaning={int(label): int(counts[label].argmax()) for label in np.unique(learned)},
        scales={int(scale): _counts(right[scales == scale], means[scales == scale]) for scale in np.unique(scales)},
        disagreements=tuple(
            Disagreement(scale=scale, key=key, query=query, ideal=ideal_label, learned=label, means=meaning)
            for scale, key, query, ideal_label, label, meaning in listed
        ),
    )


def _counts(right: Labels, means: Labels) -> dict[int, tuple[int, int]]:
    """Ideal label -> at how many of its pairs it is meant, and how many it has."""
    labels = np.unique(right)
    return {int(label): (int((means[right == label] == label).sum()), int((right == label).sum())) for label in labels}


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
