"""Learned relation of a trained LBPE: strongest labels of each pair, and where they disagree with the ideal relation.

A learned relation gives every pair weights p over K labels; the label of largest weight counts as the pair's label.
The numbers of the labels are arbitrary, so they are first given a meaning: each stands for the ideal label of most of
its pairs, the same at every scale.  The comparison thus tests whether the learned relation refines the ideal one: one
role may be spread over several labels, but two roles in one label disagree.  [F]  K labels cannot separate more than K
kinds of pairs, and there are far more pairs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.analysis import Analysis
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.relation import NO_LABEL, Labels, Relation

Weights = NDArray[np.floating]


class LearnedRelationError(LengthgenError):
    """The weights are malformed, or there is no pair to compare."""


@dataclass(frozen=True)
class Disagreement:
    """Pair whose learned label stands for another label than its ideal one; positions are 1-based.

    `learned` is the index of the label in p, `means` the ideal label that it stands for.
    """

    scale: int
    key: int
    query: int
    ideal: int
    learned: int
    means: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Comparison of a learned relation with the ideal one.

    Attributes:
        meaning: learned label -> ideal label that it stands for; the smaller one if two tie.
        scales: scale -> ideal label -> (pairs with this ideal label whose learned label stands for it, pairs with this
            ideal label).
        disagreements: first pairs that disagree, by scale, query and key.
    """

    meaning: Mapping[int, int]
    scales: Mapping[int, Mapping[int, tuple[int, int]]]
    disagreements: tuple[Disagreement, ...]

    @property
    def agreeing(self) -> dict[int, int]:
        """Ideal label -> number of its pairs whose learned label stands for it, over all scales."""
        return self._over_scales(0)

    @property
    def pairs(self) -> dict[int, int]:
        """Ideal label -> number of its pairs, over all scales."""
        return self._over_scales(1)

    def _over_scales(self, which: int) -> dict[int, int]:
        """Sum one of the two counts over all scales: 0 for agreeing pairs, 1 for all pairs."""
        totals = Counter[int]()
        for counts in self.scales.values():
            totals.update({label: agreeing_and_all[which] for label, agreeing_and_all in counts.items()})
        return dict(sorted(totals.items()))


def strongest_labels(weights_JIK: Weights, count: int = 3) -> tuple[Labels, Weights]:
    """Return the `count` labels of largest weight of every pair with their weights, the largest first  [P, Fig. 5].

    Args:
        weights_JIK: weights of one scale, float [queries J, keys I, labels K], as `LBPE.label_weights` returns them.
        count: number of labels, at most K.

    Returns:
        Labels int64 [J, I, count], among equal weights the smaller label first, and their weights.  If the key is
        after the query, they are NO_LABEL and 0.

    Raises:
        LearnedRelationError: the weights have another form, or fewer than `count` labels.
    """
    labels = _require_weights(weights_JIK)
    if not 1 <= count <= labels:
        raise LearnedRelationError(f"there are {labels} labels, so ask for 1..{labels} of them, not {count}")
    top_labels = np.argsort(-weights_JIK, axis=-1, kind="stable")[..., :count].astype(np.int64)
    weights = np.take_along_axis(weights_JIK, top_labels, axis=-1)
    later = ~np.tri(len(top_labels), dtype=bool)
    top_labels[later], weights[later] = NO_LABEL, 0
    return top_labels, weights


def open_queries(analysis: Analysis) -> dict[int, tuple[int, ...]]:
    """Scale -> 1-based queries that compute a step which their own token does not determine.  [F]

    At all other queries a circuit does not constrain the model's labels: nothing is computed there, or the model needs
    no other key, because it always knows the query's own token, whatever the circuit reads.  The Select tasks end so: a
    digit is always followed by `$`.  A token determines the step if all steps that follow it, at all scales of the
    analysis, are the same.
    """
    next_tokens: dict[int, set[int]] = {}
    for trace in analysis.traces:
        for position in trace.steps:
            pairs = np.unique(trace.tokens_at(position)[position - 2 : position].astype(np.int64), axis=1)
            for own, next_token in pairs.T.tolist():
                next_tokens.setdefault(own, set()).add(next_token)
    determining = [token for token, outcomes in next_tokens.items() if len(outcomes) == 1]
    return {
        trace.scale: tuple(
            position - 1
            for position in trace.steps
            if not np.isin(trace.tokens_at(position)[position - 2], determining).all()
        )
        for trace in analysis.traces
    }


def compare(
    weights: Mapping[int, Weights], ideal: Relation, *, queries: Mapping[int, Sequence[int]], most: int = 20
) -> Comparison:
    """Compare pair by pair, for all keys of the given queries, with one meaning of each label at all scales.

    Args:
        weights: scale -> weights [J, I, K], queries by keys by labels, for positions 1, 2, ...
        ideal: ideal relation, with or without scale hint.
        queries: scale -> 1-based queries to compare, such as `open_queries`.
        most: largest number of listed disagreements.

    Raises:
        LearnedRelationError: weights are malformed, scales differ in their labels, a scale has no weights, a query is
            not among its positions, or no queries are given.
        RelationError: the ideal relation has no such scale or position.
    """
    pairs = _pairs(weights, ideal, queries)
    scales, _, _, right, learned = pairs
    counts = np.zeros((int(learned.max()) + 1, int(right.max()) + 1), dtype=np.int64)
    np.add.at(counts, (learned, right), 1)
    means = counts.argmax(axis=1)[learned]
    wrong = np.flatnonzero(means != right)[:most]
    return Comparison(
        meaning={int(label): int(counts[label].argmax()) for label in np.unique(learned)},
        scales={
            int(scale): {
                int(label): (
                    int(((scales == scale) & (right == label) & (means == label)).sum()),
                    int(((scales == scale) & (right == label)).sum()),
                )
                for label in np.unique(right[scales == scale])
            }
            for scale in np.unique(scales)
        },
        disagreements=tuple(Disagreement(*row) for row in np.stack([*pairs, means])[:, wrong].T.tolist()),
    )


def _pairs(weights: Mapping[int, Weights], ideal: Relation, queries: Mapping[int, Sequence[int]]) -> Labels:
    """Scale, key, query, ideal label and strongest label of every compared pair: int64 [5, pairs]."""
    columns = []
    if len({weights_JIK.shape[-1:] for weights_JIK in weights.values()}) > 1:
        raise LearnedRelationError("weights of all scales must have the same number of labels")
    for scale, scale_queries in sorted(queries.items()):
        if scale not in weights:
            raise LearnedRelationError(f"there are queries but no weights of scale {scale}")
        top_labels, _ = strongest_labels(weights[scale], 1)
        table = ideal.labels(len(top_labels), scale)
        for query in sorted(set(scale_queries)):
            if not 1 <= query <= len(top_labels):
                raise LearnedRelationError(f"query {query} of scale {scale} is not in 1..{len(top_labels)}")
            keys, same = np.arange(1, query + 1), np.ones(query, dtype=np.int64)
            ideal_labels, learned = table[:query, query - 1], top_labels[query - 1, :query, 0]
            columns.append(np.stack([scale * same, keys, query * same, ideal_labels, learned]))
    if not columns:
        raise LearnedRelationError("there is no pair to compare: give at least one query")
    return np.concatenate(columns, axis=1)


def _require_weights(weights_JIK: Weights) -> int:
    """Check the weights and return the number of labels."""
    shape = weights_JIK.shape
    if len(shape) != 3 or shape[0] != shape[1] or not shape[2]:
        raise LearnedRelationError(f"weights must be [queries, keys, labels] with as many queries as keys, not {shape}")
    if not ((weights_JIK >= 0) & np.isfinite(weights_JIK)).all():
        raise LearnedRelationError("weights must be finite numbers >= 0: give p itself, not its logarithm")
    return int(shape[2])
