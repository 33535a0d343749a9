"""The hooks through which a position encoding acts on the decoder.

Shapes: B batch, L length, D width, H heads, J query position, I key position, C head width.
"""

from torch import Tensor, nn


class PositionEncoding(nn.Module):
    """An encoding that does nothing: NoPE, and the base of all others.

    Every hook takes what it may depend on explicitly. `labels_BJI` are the labels of the run's relation, int64
    [1 or B, J, I], 0 above the diagonal, where the causal mask hides them.
    """

    needs_labels = False
    """Whether `bias` and `values` read the labels."""
    changes_values = False
    """Whether `values` adds anything; if so, the attention weights are formed in the open."""

    def embed(self, x_BLD: Tensor) -> Tensor:
        """Token embeddings at positions 1..L -> what enters the first layer."""
        return x_BLD

    def bias(self, layer: int, q_BHJC: Tensor, labels_BJI: Tensor | None) -> Tensor | None:
        """What is added to the logits, after their scaling: [B, H, J, I], or None for nothing."""
        return None

    def values(self, layer: int, weights_BHJI: Tensor, labels_BJI: Tensor | None) -> Tensor:
        """What is added to the attention output: [B, H, J, C]."""
        raise NotImplementedError(f"{type(self).__name__} does not change values")
