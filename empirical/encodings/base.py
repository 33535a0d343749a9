"""The hooks through which a position encoding acts on attention.

Shapes: B batch, L length, D width, H heads, J query, I key, C head width.  Positions are int64, 0-based, [L] or [B, L],
and always explicit: padding, packing and caching are choices of positions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a law may read beside positions.

    Attributes:
        layer: which layer asks, from 0; an encoding may have parameters of its own in each.
        x_BLD: the layer's (normed) input.
        q_BHJC, k_BHIC: queries and keys, before `rotate`.
        labels_BJI: labels of the run's relation, int64 [1 or B, J, I], 0 above the diagonal, where the causal mask
            hides them.
        scales_B: the scale of each instance, int64 [B].
    """

    layer: int = 0
    x_BLD: Tensor | None = None
    q_BHJC: Tensor | None = None
    k_BHIC: Tensor | None = None
    labels_BJI: Tensor | None = None
    scales_B: Tensor | None = None


class PositionEncoding(nn.Module):
    """An encoding that does nothing: NoPE, and the base of all others.  Every hook is the identity by default.

    The logit of query j and key i is  scores(rotate(q), rotate(k)) / sqrt(C) + bias  [B, H, J, I].
    """

    needs_labels = False
    """Whether the hooks read `Content.labels_BJI`."""
    changes_values = False
    """Whether `values` adds anything; if so, the attention weights are formed in the open."""
    scores_pairwise = False
    """Whether `scores` replaces the scalar product; if so, the logits are formed in the open."""
    takes_last_queries = True
    """Whether `bias`, `scores` and `values` take the last J of the I tokens as queries; if not, J = I always."""

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Token embeddings -> what enters the first layer."""
        return x_BLD

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys at these positions, transformed: in their own dtype; `content` for laws that read it."""
        return q_BHLC, k_BHLC

    def scores(self, q_BHJC: Tensor, k_BHIC: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """[B, H, J, I], before the division by sqrt(C)."""
        return q_BHJC @ k_BHIC.transpose(-1, -2)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor | None:
        """What is added to the logits after their scaling: [H, J, I] or [B, H, J, I] of `dtype`; None for nothing."""
        return None

    def values(self, weights_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """What is added to the attention output: [B, H, J, C]."""
        raise NotImplementedError(f"{type(self).__name__} does not change values")


class PairBias(PositionEncoding):
    """A bias that is a law of head, query position and key position alone."""

    def __init__(self, *, heads: int) -> None:
        """`heads` is H, at least 1."""
        super().__init__()
        if heads < 1:
            raise ValueError(f"heads must be at least 1, not {heads}")
        self.heads = heads

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """The bias of each triple, of `dtype`; the three int64 tensors broadcast against each other."""
        raise NotImplementedError

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """[H, J, I], or [B, H, J, I] where positions have a batch."""
        require_integers(query_positions)
        require_integers(key_positions)
        heads = torch.arange(self.heads, device=query_positions.device)[:, None, None]
        return self.law(heads, query_positions[..., None, :, None], key_positions[..., None, None, :], dtype)


def require_integers(positions: Tensor) -> None:
    """Raises ValueError unless positions are integers: rounded positions are the commonest silent error here."""
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise ValueError(f"positions must be integers, not {positions.dtype}: pass int64 positions")
