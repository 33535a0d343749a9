"""xPos: RoPE whose planes decay with the distance between query and key, each at its own rate.

Source: Sun et al., arXiv 2212.10554.  Symbolic twin: theory/encodings/xpos.py.
"""

import math

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.decay import decayed_scores
from lengthgen.empirical.encodings.rotary import Layout, Rotary
from lengthgen.theory.encodings import xpos


class XPos(Rotary):
    """score(j, i) = sum over planes l of zeta_l^((j - i)/512) k_l^T R(j - i) q_l, i <= j; zeta_l = (2l/C + 0.4)/1.4.

    The published code scales queries by zeta^(j/512) and keys by zeta^(-i/512), which overflows (claim xpos-3: float32
    at position 36261; torchscale counts from the middle, so for 72521 tokens).  Here `rotate` only rotates, and
    `scores` computes the decay of a pair from its distance, so any positions are safe.  The price: the logits must be
    computed explicitly.  A key after its query scores 0, because the formula grows without bound there (claim xpos-2).
    """

    scores_pairwise = True

    def __init__(
        self, *, head_dim: int, base: float = 10000.0, scale_base: float = 512.0, layout: Layout = "interleaved"
    ) -> None:
        """Set frequencies and rates; no trainable parameters.

        `head_dim` is C; over `scale_base` positions plane l decays by the factor zeta_l.

        Raises:
            ValueError: scale_base is not a positive finite number, or RoPE refuses head_dim or base.
        """
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        if not (math.isfinite(scale_base) and scale_base > 0):
            raise ValueError(f"scale_base must be a positive finite number, not {scale_base}")
        self.scale_base = scale_base
        self.zetas = tuple(float(xpos.zeta(plane, head_dim=head_dim)) for plane in range(head_dim // 2))

    def rates(self) -> Tensor:
        """Decay rate -log(zeta) / scale_base of each coordinate's plane: float64 [C]."""
        planes = -torch.tensor(self.zetas, dtype=torch.float64).log() / self.scale_base
        return planes.repeat_interleave(2) if self.layout == "interleaved" else planes.repeat(2)

    def scores(
        self,
        q_BHJC: Tensor,
        k_BHIC: Tensor,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
    ) -> Tensor:
        """Scores of rotated queries and keys, [B, H, J, I]; see `decayed_scores`.

        Raises:
            ValueError: positions are not integers, or decrease along the sequence.
        """
        return decayed_scores(q_BHJC, k_BHIC, self.rates().to(q_BHJC.device), query_positions, key_positions)


MODULES = {"xpos": XPos}
