"""HoPE: two channels per plane, which decay with the distance at the rates theta' - theta and theta' + theta.

Source: HoPE (hyperbolic rotary encoding), arXiv 2509.05218.  Symbolic twin: theory/encodings/hope.py.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding
from lengthgen.empirical.encodings.decay import decayed_scores


class HoPE(PositionEncoding):
    """Score of every plane (2l, 2l + 1): e^(-D theta') (S cosh D theta + A sinh D theta), with D = j - i.

    It is computed in the light-cone coordinates q1 + q2 and q1 - q2 as 1/2 (P e^(-D (theta' - theta)) +
    N e^(-D (theta' + theta))), from distances: the paper's separate factors of queries and of keys cancel and overflow
    (claim hope-9).  theta is base^(-2l/C) [P]; theta' is one number for all planes, heads and layers [P].
    """

    scores_pairwise = True

    def __init__(self, *, head_dim: int, base: float = 10000.0, damping: float = 1.1, learned: bool = True) -> None:
        """Set the rates; `head_dim` is C.

        `damping` is theta', or its initial value if it is learned.  Then theta' = max theta + softplus(r) with the
        parameter r, float32 [], which keeps theta' above every theta [F; the paper prints neither a value nor a
        parametrisation].

        Raises:
            ValueError: head_dim is not a positive even number, base is not a positive finite number, or damping is not
                a finite number above max theta.
        """
        super().__init__()
        if head_dim <= 0 or head_dim % 2:
            raise ValueError(f"head_dim must be a positive even number, not {head_dim}")
        if not (math.isfinite(base) and base > 0):
            raise ValueError(f"base must be a positive finite number, not {base}")
        self.head_dim, self.base = head_dim, base
        largest = float(self.thetas().max())
        if not (math.isfinite(damping) and damping > largest):
            raise ValueError(f"damping must be a finite number above the largest rate {largest:g}, not {damping}")
        margin = damping - largest
        self.raw_margin: nn.Parameter | None
        if learned:
            self.raw_margin = nn.Parameter(torch.tensor(margin + math.log(-math.expm1(-margin))))
        else:
            self.raw_margin, self.fixed_margin = None, margin

    def thetas(self) -> Tensor:
        """Rapidity of each plane in one position step: float64 [C/2]."""
        return self.base ** (-2 * torch.arange(self.head_dim // 2, dtype=torch.float64) / self.head_dim)

    def margin(self) -> Tensor:
        """theta' - max theta: float64 []."""
        if self.raw_margin is None:
            return torch.tensor(self.fixed_margin, dtype=torch.float64)
        return F.softplus(self.raw_margin.double())

    def decay_rates(self) -> Tensor:
        """theta' - theta of every plane, then theta' + theta: float64 [C].  A small margin is not lost by rounding."""
        margin = self.margin()
        thetas = self.thetas().to(margin.device)
        return torch.cat((margin + (thetas.max() - thetas), margin + (thetas.max() + thetas)))

    def scores(
        self,
        q_BHJC: Tensor,
        k_BHIC: Tensor,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
    ) -> Tensor:
        """Scores [B, H, J, I] of the dtype of q, 0 for a key after the query; coordinates and sums at least in float32.

        Raises:
            ValueError: the last axis is not head_dim wide, or positions are not integers or decrease.
        """
        if q_BHJC.shape[-1] != self.head_dim:
            raise ValueError(f"queries are {q_BHJC.shape[-1]} wide, not head_dim = {self.head_dim}")
        wide = torch.promote_types(q_BHJC.dtype, torch.float32)
        q, k = light_cone(q_BHJC.to(wide)) / 2, light_cone(k_BHIC.to(wide))
        rates_C = self.decay_rates().to(q.device)
        return decayed_scores(q, k, rates_C, query_positions, key_positions).to(q_BHJC.dtype)


def light_cone(x_BHLC: Tensor) -> Tensor:
    """x1 + x2 of every plane (x1, x2), then x1 - x2 of every plane: [..., C]."""
    first, second = x_BHLC[..., 0::2], x_BHLC[..., 1::2]
    return torch.cat((first + second, first - second), -1)


MODULES = {"hope": HoPE}
