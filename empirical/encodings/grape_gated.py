"""GRAPE-A with gates: ALiBi whose slope is set by the query, by the key, or by both.

Source: GRAPE, arXiv 2512.07805, gated additive forms.  Symbolic twin: theory/encodings/grape_gated.py.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.grape_additive import alibi_slopes, learned_slopes


class GrapeGated(PositionEncoding):
    """-omega_h (j - i) (softplus(v.q_j / sqrt C) + softplus(u.k_i / sqrt C)), v and u of length 1.

    Parameters, separate in each layer: w as in `GrapeAdditive`, float32 [layers, H], initially 0; v and u before
    normalisation to length 1, float32 [layers, H, C], initialised N(0, 1/C).  Queries and keys are those before
    `rotate`.

    Snapshots of the released code differ; this is the last one at hand.  In the first, the slope of both gates is
    v.q_j - u.k_i without division by sqrt C, of either sign; in the second it is softplus((v.q_j - u.k_i) / sqrt C).
    Both have omega_h = w_h times ALiBi's slope, initially w_h = 1, of either sign as well.
    """

    def __init__(
        self, *, heads: int, head_dim: int, layers: int, gates: Literal["both", "query", "key"] = "both"
    ) -> None:
        """Draw the parameters; `heads` is H, `head_dim` is C, `gates` names the gates in use.

        Raises:
            ValueError: a size is below 1, or gates is none of the three.
        """
        super().__init__()
        if min(heads, head_dim, layers) < 1:
            raise ValueError(f"heads, head_dim and layers must be at least 1, not {heads}, {head_dim} and {layers}")
        if gates not in ("both", "query", "key"):
            raise ValueError(f"gates must be both, query or key, not {gates!r}")
        self.slopes = alibi_slopes(heads)
        self.log_factors = nn.Parameter(torch.zeros(layers, heads))

        def vectors() -> nn.Parameter:
            return nn.Parameter(torch.randn(layers, heads, head_dim) / head_dim**0.5)

        self.query_vectors = vectors() if gates != "key" else None
        self.key_vectors = vectors() if gates != "query" else None

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], computed at least in float32 and rounded once.

        Raises:
            ValueError: positions are not integers, or queries and keys are missing.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        slopes_H, query_gates_BHJ, key_gates_BHI = self._gates(content, torch.promote_types(dtype, torch.float32))
        distance = query_positions[..., None, :, None] - key_positions[..., None, None, :]
        rates_BHJI = query_gates_BHJ[..., :, None] + key_gates_BHI[..., None, :]
        return (-slopes_H[:, None, None] * distance * rates_BHJI).to(dtype)

    def _gates(self, content: Content | None, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        """Slopes [H], gates of queries [B, H, J] and gates of keys [B, H, I]; an unused gate is 0."""
        if content is None or content.q_BHJC is None or content.k_BHIC is None:
            raise ValueError("gated GRAPE-A reads queries and keys: pass content with q_BHJC and k_BHIC")
        dtype = torch.promote_types(dtype, content.q_BHJC.dtype)
        return (
            learned_slopes(self.log_factors[content.layer], self.slopes).to(dtype),
            _gate(content.q_BHJC, self.query_vectors, content.layer, dtype),
            _gate(content.k_BHIC, self.key_vectors, content.layer, dtype),
        )


def _gate(x_BHLC: Tensor, vectors: Tensor | None, layer: int, dtype: torch.dtype) -> Tensor:
    """softplus(u.x / sqrt C) of each head and token, [B, H, L]; 0 without vectors."""
    if vectors is None:
        return x_BHLC.new_zeros(x_BHLC.shape[:-1], dtype=dtype)
    direction_HC = F.normalize(vectors[layer].to(dtype), dim=-1)
    return F.softplus((x_BHLC.to(dtype) * direction_HC[:, None]).sum(-1) / x_BHLC.shape[-1] ** 0.5)


MODULES = {"grape-gated": GrapeGated}
