"""GRAPE-AP: the bias of a key is the sum of edge potentials on the path from it to the query, as the query sees them.

Source: GRAPE, arXiv 2512.07805, path-integral additive form.  Symbolic twin: theory/encodings/grape_path.py.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.grape_additive import alibi_slopes
from lengthgen.empirical.encodings.ordering import order_by_position
from lengthgen.empirical.encodings.path_sums import running_sums
from lengthgen.empirical.encodings.rotary import apply_rotary
from lengthgen.theory.encodings.grape_path import PROBE_DIM

_ROWS = 256
"""Queries processed at a time."""


class GrapePath(PositionEncoding):
    """b(j, i) = sum over tokens l after i, up to j, of m_h log sigma(<R_j p_j, R_l p_l> / d), where p = W x in R^d.

    R_t turns every plane by t; m_h is ALiBi's slope.  Parameter: W, float32 [layers, H, d, D], initialised N(0,
    1/(4D)). The paper's formula and code rotate p_l alone, which makes the bias depend on where positions begin (claim
    grape-16), and the code normalises p_l alone.  Here both are rotated and neither is normalised.

    Cost: O(T^2 d) operations and T^2 numbers per head.  No state carries over from one query to the next, because all
    edges of a row change with the query.
    """

    takes_last_queries = False

    def __init__(self, *, heads: int, width: int, layers: int) -> None:
        """Draw the probes; `heads` is H, `width` is D.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        if min(heads, width, layers) < 1:
            raise ValueError(f"heads, width and layers must be at least 1, not {heads}, {width} and {layers}")
        self.slopes = alibi_slopes(heads)
        self.probes = nn.Parameter(torch.randn(layers, heads, PROBE_DIM, width) / (2 * width**0.5))

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], 0 for a key after the query.  Edges and sums are at least float32.

        Raises:
            ValueError: positions are not integers, the layer's input is missing or not D wide, or queries and
                keys are not exactly all its tokens.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        if content is None or content.x_BLD is None:
            raise ValueError("GRAPE-AP reads the layer's input: pass content with x_BLD")
        x_BLD = content.x_BLD
        if x_BLD.shape[-1] != self.probes.shape[-1]:
            raise ValueError(f"the layer's input is {x_BLD.shape[-1]} wide, not width = {self.probes.shape[-1]}")
        if query_positions.shape[-1] != x_BLD.shape[1] or not torch.equal(query_positions, key_positions):
            raise ValueError("GRAPE-AP sums over tokens: queries and keys must both be all tokens of the layer's input")
        by_place_BL, place_BL = order_by_position(query_positions, len(x_BLD))
        p_BHLP = self._rotated_probes(x_BLD, query_positions, content.layer)
        from_last_BHLP = p_BHLP.take_along_dim(by_place_BL.flip(-1)[:, None, :, None], 2)
        from_last_BL = x_BLD.shape[1] - 1 - place_BL
        blocks = []
        for start in range(0, max(x_BLD.shape[1], 1), _ROWS):
            rows = slice(start, start + _ROWS)
            sums = self._row_sums(p_BHLP[:, :, rows], from_last_BHLP, from_last_BL[:, rows])
            blocks.append(sums.take_along_dim(from_last_BL[:, None, None, :], 3).to(dtype))
        return torch.cat(blocks, 2)

    def _rotated_probes(self, x_BLD: Tensor, positions: Tensor, layer: int) -> Tensor:
        """Rotated probes R_t W x_t, [B, H, L, d]: angles in float64, the rest at least in float32."""
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        p_BHLP = torch.einsum("bld,hpd->bhlp", x_BLD.to(wide), self.probes[layer].to(wide))
        angles = positions[..., None, :, None].double()
        return apply_rotary(p_BHLP, torch.polar(torch.ones_like(angles), angles), "interleaved")

    def _row_sums(self, rows_BHJP: Tensor, from_last_BHLP: Tensor, from_last_BJ: Tensor) -> Tensor:
        """Sum of the edges after each place, up to the query's: [B, H, J, L], places counted from the last back."""
        slopes = torch.tensor(self.slopes, dtype=rows_BHJP.dtype, device=rows_BHJP.device)[:, None, None]
        edges = slopes * F.logsigmoid(rows_BHJP @ from_last_BHLP.transpose(-1, -2) / PROBE_DIM)
        places = torch.arange(edges.shape[-1], device=edges.device)
        edges = edges.masked_fill(places < from_last_BJ[:, None, :, None], 0)
        return F.pad(running_sums(edges[..., :-1]), (1, 0))


MODULES = {"grape-path": GrapePath}
