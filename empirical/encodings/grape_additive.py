"""GRAPE-A: ALiBi with slopes that are learned.

Source: GRAPE, arXiv 2512.07805, additive part.  Symbolic twin: theory/encodings/grape_additive.py.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import PairBias
from lengthgen.theory.encodings import alibi


class GrapeAdditive(PairBias):
    """-omega_h (j - i), omega_h = softplus(w_h + log(e - 1)) times ALiBi's slope: causal, because it grows for i > j.

    Parameter: w, float32 [H], initially 0, so that the encoding starts as ALiBi.  Shared by layers.
    """

    def __init__(self, *, heads: int) -> None:
        """Allocate w; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.slopes = alibi_slopes(heads)
        self.log_factors = nn.Parameter(torch.zeros(heads))

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each triple."""
        return _linear_bias(learned_slopes(self.log_factors, self.slopes)[head], query_position, key_position, dtype)


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """ALiBi's slopes, H numbers, each rounded once."""
    return tuple(float(slope) for slope in alibi.slopes(heads))


def learned_slopes(logits_H: Tensor, slopes: tuple[float, ...]) -> Tensor:
    """softplus(w_h + log(e - 1)) times the slope of head h: float64 [H]."""
    return unit_softplus(logits_H) * torch.tensor(slopes, dtype=torch.float64, device=logits_H.device)


def unit_softplus(logits: Tensor) -> Tensor:
    """softplus(z + log(e - 1)) in float64, which is 1 at z = 0."""
    return F.softplus(logits.double() + math.log(math.e - 1))


def _linear_bias(slope: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
    """-slope (j - i), at least in float32, where distances up to 2^24 are exact: only slope and product are rounded."""
    wide = torch.promote_types(dtype, torch.float32)
    return (-slope.to(wide) * (query_position - key_position).to(wide)).to(dtype)


MODULES = {"grape-additive": GrapeAdditive}
