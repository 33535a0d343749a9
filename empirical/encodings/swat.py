"""SWAT: the logistic function of each logit in place of softmax, a window, RoPE, and linear biases of both signs.

Source: Fu et al., arXiv 2502.18845.  Symbolic twin: theory/encodings/swat.py.
"""

import torch
from torch import Tensor

from lengthgen.empirical.encodings.alibi import linear_bias
from lengthgen.empirical.encodings.base import Content, require_integers
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings import swat


class SWAT(Rotary):
    """Weight sigma(logit + s_h (p_j - p_i)) of the keys with p_j - p_i < W, else 0, after RoPE.  No parameters."""

    def __init__(
        self,
        *,
        heads: int,
        head_dim: int,
        slopes: swat.Slopes = "balanced",
        window: int = 128,
        base: float = 10000.0,
    ) -> None:
        """Set slopes, window W and frequencies; `heads` is H, `head_dim` is C.

        Raises:
            ValueError: heads or window is not positive, slopes is none of the three kinds, or as `Rotary`.
        """
        super().__init__(head_dim=head_dim, base=base)
        if window < 1:
            raise ValueError(f"window must be at least 1, not {window}")
        self.slopes, self.window = tuple(float(slope) for slope in swat.slopes(heads, slopes)), window

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias of all pairs: [H, J, I], or [B, H, J, I] if positions have a batch axis."""
        slope = torch.tensor(self.slopes, dtype=torch.float64, device=query_positions.device)[:, None, None]
        return linear_bias(-slope, _distances(query_positions, key_positions), dtype)

    def normalise(self, logits_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Weights [B, H, J, I]: the logistic function within the window, 0 beyond it."""
        beyond = _distances(query_positions, key_positions) >= self.window
        return logits_BHJI.masked_fill(beyond, -torch.inf).sigmoid()


def _distances(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Distance p_j - p_i of each pair: int64 [1, J, I] or [B, 1, J, I].

    Raises:
        ValueError: positions are not integers.
    """
    require_integers(query_positions)
    require_integers(key_positions)
    return query_positions[..., None, :, None] - key_positions[..., None, None, :]


MODULES = {"swat": SWAT}
