"""Scores whose channels decay with the distance between query and key, computed without overflow.

Written as exp(-rate p_j) q_j times exp(rate p_i) k_i, the key's factor overflows: float32 holds e^88, so a rate of 1
fails at position 88.  Here a block of pairs is factorised only around a position between its keys and its queries,
where both exponents are negative.  A factor can then only underflow, and in that case the pair's own decay, which is
smaller, underflows too.
"""

from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers, require_width

_DIRECT = 16
"""Largest side of a block of interleaved queries and keys that is computed pair by pair."""


class DecayedScores(PositionEncoding):
    """Base class of encodings whose channels decay with the distance; a key after the query scores 0."""

    head_dim: int
    scores_pairwise = True

    def decay_rates(self) -> Tensor:
        """Decay rate of each channel per position: float64 [C]."""
        raise NotImplementedError

    def channels(self, q_BHJC: Tensor, k_BHIC: Tensor) -> tuple[Tensor, Tensor]:
        """Channels of queries and of keys, at least float32."""
        return q_BHJC, k_BHIC

    def scores(
        self,
        q_BHJC: Tensor,
        k_BHIC: Tensor,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
    ) -> Tensor:
        """Return the scores, [B, H, J, I] of the dtype of q, by `decayed_scores`."""
        require_width(q_BHJC, self.head_dim)
        q, k = self.channels(q_BHJC, k_BHIC)
        rates_C = self.decay_rates().to(q.device)
        return decayed_scores(q, k, rates_C, query_positions, key_positions).to(q_BHJC.dtype)


def decayed_scores(
    q_BHJC: Tensor, k_BHIC: Tensor, rates_C: Tensor, query_positions: Tensor, key_positions: Tensor
) -> Tensor:
    """sum over c of q_jc k_ic exp(-rate_c (p_j - p_i)) for p_i <= p_j, 0 for a key after the query: [B, H, J, I].

    Sums and factors are at least float32, exponents float64, and the result is rounded once, to the dtype of q.
    Blocks are halved until their keys are before their queries, or they are 16 by 16.  Memory besides the T^2 scores:
    about T C (16 + log T) factors, and more if rows of a batch differ in their positions.

    Raises:
        ValueError: positions are not integers or decrease along the sequence, or a rate is negative or not finite.
    """
    _require_order("query", query_positions)
    _require_order("key", key_positions)
    refused = rates_C[~(rates_C.isfinite() & (rates_C >= 0))]
    if refused.numel():
        raise ValueError(f"rates must be finite and at least 0, not {float(refused[0])}")
    wide = torch.promote_types(q_BHJC.dtype, torch.float32)
    queries, keys = (
        _Side(content.to(wide), positions, positions.cpu().numpy())
        for content, positions in ((q_BHJC, query_positions), (k_BHIC, key_positions))
    )
    return _scores(queries, keys, rates_C.double()).to(q_BHJC.dtype)


def _require_order(name: str, positions: Tensor) -> None:
    """Raise ValueError unless positions are integers that do not decrease."""
    require_integers(positions)
    falls = (positions.diff(dim=-1) < 0).nonzero()
    if len(falls):
        *row, index = falls[0].tolist()
        before, after = positions[(*row, slice(index, index + 2))].tolist()
        raise ValueError(f"{name} positions must not decrease along the sequence: {after} follows {before}")


class _Side(NamedTuple):
    """Consecutive queries or keys with their positions.

    `host` is a CPU copy of the positions, so that no comparison waits for a device.
    """

    content_BHLC: Tensor
    positions: Tensor
    host: NDArray[Any]

    @property
    def length(self) -> int:
        return self.positions.shape[-1]

    def halves(self) -> list["_Side"]:
        """Split the side in the middle."""
        parts = slice(None, self.length // 2), slice(self.length // 2, None)
        return [_Side(self.content_BHLC[:, :, part], self.positions[..., part], self.host[..., part]) for part in parts]


def _scores(queries: _Side, keys: _Side, rates_C: Tensor) -> Tensor:
    """Scores of a block, split recursively until a part can be factorised or is small."""
    if not (queries.length and keys.length) or (keys.host[..., 0] > queries.host[..., -1]).all():
        return queries.content_BHLC.new_zeros(*queries.content_BHLC.shape[:3], keys.length)
    if (keys.host[..., -1] <= queries.host[..., 0]).all():
        return _factorised(queries, keys, rates_C)
    if max(queries.length, keys.length) <= _DIRECT:
        return _pair_by_pair(queries, keys, rates_C)
    if queries.length >= keys.length:
        return torch.cat([_scores(half, keys, rates_C) for half in queries.halves()], -2)
    return torch.cat([_scores(queries, half, rates_C) for half in keys.halves()], -1)


def _factorised(queries: _Side, keys: _Side, rates_C: Tensor) -> Tensor:
    """Scores of keys before all queries: exp(-rate (p_j - r)) exp(-rate (r - p_i)), r the first query's position."""
    reference = queries.positions[..., :1]
    after, before = queries.positions - reference, reference - keys.positions
    q_BHJC = queries.content_BHLC * _decay(after[..., None, :], rates_C, queries.content_BHLC.dtype)
    k_BHIC = keys.content_BHLC * _decay(before[..., None, :], rates_C, keys.content_BHLC.dtype)
    return q_BHJC @ k_BHIC.transpose(-1, -2)


def _pair_by_pair(queries: _Side, keys: _Side, rates_C: Tensor) -> Tensor:
    """Scores with a separate decay for every pair and channel; 0 for a key after the query."""
    distance_HJI = (queries.positions[..., :, None] - keys.positions[..., None, :])[..., None, :, :]
    decay_HJIC = _decay(distance_HJI.clamp(min=0), rates_C, queries.content_BHLC.dtype)
    scores = (queries.content_BHLC[..., :, None, :] * decay_HJIC * keys.content_BHLC[..., None, :, :]).sum(-1)
    return scores.masked_fill(distance_HJI < 0, 0)


def _decay(distance: Tensor, rates_C: Tensor, dtype: torch.dtype) -> Tensor:
    """exp(-rate_c distance), [..., C], for distances that are not negative.

    Values below the least normal number become 0: products of subnormal numbers take ten times as long on a CPU.
    """
    decay = torch.exp(-rates_C * distance[..., None])
    return decay.masked_fill(decay < torch.finfo(dtype).tiny, 0).to(dtype)
