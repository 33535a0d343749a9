"""ALiBi: a bias that falls linearly with the distance between query and key.

Source: Press, Smith, Lewis, arXiv 2108.12409.  Symbolic twin: theory/encodings/alibi.py.
"""

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import PairBias
from lengthgen.theory.encodings import alibi


class ALiBi(PairBias):
    """-m_h |j - i| with the published slopes m_h; in causal attention the paper's -m_h (j - i).  No parameters."""

    def __init__(self, *, heads: int) -> None:
        """Compute the slopes, kept as Python numbers: a module moved to half precision must not round them."""
        super().__init__(heads=heads)
        self.slopes = tuple(float(slope) for slope in alibi.slopes(heads))

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each triple."""
        distance = (query_position - key_position).abs()
        return linear_bias(self._slopes(query_position)[head], distance, dtype)

    def _slopes(self, positions: Tensor) -> Tensor:
        """Slopes of the heads, float64 [H]."""
        return torch.tensor(self.slopes, dtype=torch.float64, device=positions.device)


def linear_bias(slope: Tensor, distance: Tensor, dtype: torch.dtype) -> Tensor:
    """-slope D, at least in float32, where distances up to 2^24 are exact: only slope and product are rounded."""
    wide = torch.promote_types(dtype, torch.float32)
    return (-slope.to(wide) * distance.to(wide)).to(dtype)


MODULES = {"alibi": ALiBi}
