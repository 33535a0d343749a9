"""RPE-Square: a relative encoding of distances to an anchor that attention finds in the text (arXiv 2410.08898).

The score of query j and key i is

    sum over k <= j, l <= i of softmax_k(W1 x_j . W2 x_k) softmax_l(W3 x_i . W4 x_l) R_((j-k) - (i-l))        [P]

where k and l range over possible anchors (special tokens). If both softmaxes are sharp, at a_j and a_i, the score is R
at the index (j - a_j) - (i - a_i): the relation phi(i, j) = (j - a_j) - (i - a_i) [F]. It needs no scale hint, since
the anchors are found from content. The relations here number the integers as 0, -1, 1, -2, 2, ... -> 0, 1, 2, 3, 4
(`zigzag`), which, unlike an offset, does not depend on the length.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.relation import Labels, Relation

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]


class RpeSquareError(LengthgenError):
    """Raised for anchors, weights or a table that do not fit the text."""


@dataclass(frozen=True, kw_only=True)
class AnchorAttention:
    """Weight matrices by which a position finds its anchor: softmax_k(Q x_p . K x_k) over k <= p.

    Attributes:
        query: Q, float64 [h, d].
        key: K, float64 [h, d].
    """

    query: Floats
    key: Floats

    def sharpened(self, scale: float) -> "AnchorAttention":
        """Same attention with all logits multiplied by `scale`."""
        return AnchorAttention(query=scale * self.query, key=self.key)


def anchor_logits(embedded: Floats, attention: AnchorAttention) -> Floats:
    """Anchor logits Q x_p . K x_k for k <= p and minus infinity for k > p: [T, d] -> [T, T], rows p, columns k.

    Raises:
        RpeSquareError: the shapes do not fit, or there is no token.
    """
    size = attention.query.shape[-1]
    if embedded.ndim != 2 or not len(embedded) or attention.query.shape != attention.key.shape:
        raise RpeSquareError(
            f"tokens {embedded.shape}, weights {attention.query.shape} and {attention.key.shape} must be [T, d], "
            "[h, d] and [h, d] with T >= 1"
        )
    if embedded.shape[1] != size:
        raise RpeSquareError(f"tokens of size {embedded.shape[1]} do not fit weights for size {size}")
    logits = (embedded @ attention.query.T) @ (embedded @ attention.key.T).T
    return np.asarray(np.where(np.tri(len(logits), dtype=bool), logits, -np.inf))


def offset_law(embedded: Floats, attention: AnchorAttention) -> Floats:
    """Probability that the anchor of position p lies u back: float64 [T, T], rows p, columns u = p - k in 0..T-1.

    Raises as `anchor_logits` does.
    """
    logits = anchor_logits(embedded, attention)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    position, offset = np.nonzero(np.tri(len(weights), dtype=bool))
    law: Floats = np.zeros(weights.shape)
    law[position, offset] = weights[position, position - offset]
    return law


def soft_scores(embedded: Floats, table: Floats, *, query: AnchorAttention, key: AnchorAttention) -> Floats:
    """Score of every query and key [P], in O(T^3): float64 [T, T] + trailing, rows keys i, columns queries j.

    Args:
        embedded: tokens x, float64 [T, d].
        table: R at the indices -(S-1)..S-1, in this order: float64 [2S-1] + trailing (scalars or vectors), S >= T.
        query: W1, W2, which find the anchor of the query.
        key: W3, W4, which find the anchor of the key.

    Returns:
        The scores; 0 below the diagonal.

    Raises:
        RpeSquareError: the shapes do not fit, or the table is too short for the text.
    """
    query_law, key_law = offset_law(embedded, query), offset_law(embedded, key)
    length = len(query_law)
    offsets = np.arange(length)
    gathered = gather(table, offsets[None, :] - offsets[:, None])
    scores = np.tensordot(key_law, np.tensordot(query_law, gathered, axes=(1, 1)), axes=(1, 1))
    scores[np.tril_indices(length, -1)] = 0
    return scores


def hard_scores(anchors: ArrayLike, table: Floats) -> Floats:
    """Scores R at (j - a_j) - (i - a_i), the limit of `soft_scores` for sharp attention: the same shape and table [F].

    Raises:
        RpeSquareError: the anchors are invalid (`anchor_index`), or the table is too short for the text.
    """
    index = anchor_index(anchors)
    keys, queries = np.triu_indices(len(index))
    scores = np.zeros(index.shape + table.shape[1:])
    scores[keys, queries] = gather(table, index[keys, queries])
    return scores


def gather(table: Floats, index: Positions) -> Floats:
    """Table entries R at checked indices: [2S-1] + trailing and integers [...] -> [...] + trailing.

    Raises:
        RpeSquareError: the table has an even number of entries, or an index is not in -(S-1)..S-1.
    """
    if table.ndim == 0 or len(table) % 2 == 0:
        raise RpeSquareError(f"a table must have an odd number of entries, -(S-1)..S-1, not shape {table.shape}")
    reach = len(table) // 2
    if np.abs(index).max(initial=0) > reach:
        raise RpeSquareError(
            f"the table covers indices up to {reach} and the text needs {np.abs(index).max()}: pass a longer table"
        )
    return np.asarray(table[index + reach], dtype=np.float64)


def hard_anchors(embedded: Floats, attention: AnchorAttention) -> tuple[Positions, float]:
    """Position of the largest logit for every p, 1-based int64 [T], and the smallest margin by which it leads.

    Raises:
        RpeSquareError: the shapes do not fit, or two positions tie, so that sharp attention has no limit anchor.
    """
    logits = anchor_logits(embedded, attention)
    anchors = logits.argmax(axis=1)
    others = logits.copy()
    others[np.arange(len(anchors)), anchors] = -np.inf
    lead = float((logits.max(axis=1) - others.max(axis=1)).min())
    if lead <= 0:
        raise RpeSquareError("two positions tie for an anchor: give anchors different keys, or mark which is meant")
    return anchors.astype(np.int64) + 1, lead


def hard_limit_error(table: Floats, *, lead: float, length: int) -> float:
    """Upper bound on |soft - hard| for every pair: 4 max|R| (T-1) e^-lead, if the anchors lead by `lead` [F].

    Each of the p <= T weights but the largest is at most e^-lead times it, so at most (T-1) e^-lead of the mass is off
    the anchor. Off either anchor the table's entry changes by at most 2 max|R|.
    """
    return float(4 * np.abs(table).max() * (length - 1) * np.exp(-lead))


def anchor_index(anchors: ArrayLike) -> Positions:
    """Index (j - a_j) - (i - a_i) for every pair: anchors [T] -> int64 [T, T], rows keys i, columns queries j [P].

    Raises:
        RpeSquareError: an anchor is not one of the positions up to its own.
    """
    anchor_of = np.asarray(anchors)
    if anchor_of.ndim != 1 or not anchor_of.size or anchor_of.dtype.kind != "i":
        raise RpeSquareError(
            f"anchors must be one position per token, not shape {anchor_of.shape} of {anchor_of.dtype}"
        )
    positions = np.arange(1, len(anchor_of) + 1)
    misplaced = (anchor_of < 1) | (anchor_of > positions)
    if misplaced.any():
        index = int(misplaced.argmax())
        raise RpeSquareError(f"the anchor of position {index + 1} must be in 1..{index + 1}, not {anchor_of[index]}")
    offset = positions - anchor_of
    return np.asarray(offset[None, :] - offset[:, None], dtype=np.int64)


def zigzag(index: Positions) -> Labels:
    """One-to-one map from the integers to labels: 0, -1, 1, -2, 2, ... become 0, 1, 2, 3, 4, ..."""
    return np.where(index >= 0, 2 * index, -2 * index - 1)


def rpe_square(anchors_at: Callable[[int], ArrayLike], *, name: str = "rpe-square") -> Relation:
    """Relation of sharp RPE-Square, zigzag((j - a_j) - (i - a_i)), for texts whose anchors the scale determines [F].

    It is written with the scale, because a relation sees positions and no text. The encoding itself reads the anchors
    from the text and needs no scale.

    Args:
        anchors_at: function that gives the anchors of the text of scale n, [T], such as `copy_anchors`.
        name: name of the relation in tables and figures.

    Raises (when labels are computed):
        RpeSquareError: the anchors are invalid (`anchor_index`), or the text of that scale is too short.
    """

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        assert scale is not None
        index = anchor_index(anchors_at(scale))
        if queries.max(initial=0) > len(index):
            raise RpeSquareError(f"the text of scale {scale} has {len(index)} positions, not {queries.max()}")
        return zigzag(index[keys - 1, queries - 1])

    return Relation(name=name, law=law, scale_hint=True)


def last_anchor(specials: Sequence[int], *, length: int) -> Positions:
    """Last special position up to each position: int64 [T], 1-based.

    Args:
        specials: positions of the anchors, increasing; the first is 1, so that every position has one.
        length: T.

    Raises:
        RpeSquareError: the specials do not start at 1 or do not increase.
    """
    starts = np.asarray(specials, dtype=np.int64)
    if not starts.size or starts[0] != 1 or (np.diff(starts) <= 0).any():
        raise RpeSquareError(f"anchors must be at increasing positions from 1 on, not {list(specials)}")
    return starts[np.searchsorted(starts, np.arange(1, length + 1), side="right") - 1]


def copy_anchors(scale: int) -> Positions:
    """Anchors in unaligned copy, [BOS] x1..xn = x1..xn [EOS]: BOS before '=', then '=': int64 [2n+3] [F]."""
    return last_anchor((1, scale + 2), length=2 * scale + 3)


def addition_anchors(first: int, second: int) -> Positions:
    """Anchors in unaligned reversed addition of operands with m and k digits [F].

    [BOS] a1..am + b1..bk = c1..c_(max(m,k)+1) [EOS], low digit first; anchors BOS, '+', '='. int64
    [m + k + max(m,k) + 5].
    """
    equals = first + second + 3
    return last_anchor((1, first + 2, equals), length=equals + max(first, second) + 2)
