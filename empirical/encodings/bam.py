"""BAM (Bayesian attention mechanism): a bias that is the logarithm of a learned prior over offsets; also with SSMax.

Source: Bianchessi, Aguirre, Barros, Kupssinsku, arXiv 2505.22842, and its released code (ArthurSBianchessi/BAM), whose
snapshots differ.  In the first ones all layers share a prior that starts as ALiBi, as here; with SSMax its scale is
inside the power, and the prior is not multiplied.  In the last ones each layer has its own, which starts as NoPE, and
SSMax multiplies the prior as well as the content, as here.  Symbolic twins: theory/encodings/bam.py.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.alibi import ALiBi
from lengthgen.empirical.encodings.base import Content, PairBias, require_integers
from lengthgen.theory.encodings import bam


class BAM(PairBias):
    """Bias -e^a (|i - j - mu| + eps)^b of key i and query j, eps = 1e-5; keys may be on both sides of the query.

    Parameters, float32 [H], shared by all layers: `log_scale` a, which starts at the logarithm of ALiBi's slopes, and
    `exponent` b, which starts at 1 and has any sign.  With the option `location` also `shift` t, mu = e^t - e^-t, which
    starts at 0; without it mu = 0.

    A bias below the least number of its dtype is that number: the first query has one key, and -inf would make it NaN.
    In float32 gradients are finite for b >= -7 and a <= 0; below, those at distance 0 overflow.
    """

    def __init__(self, *, heads: int, location: bool = False) -> None:
        """Allocate the parameters; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.log_scale = nn.Parameter(torch.tensor(ALiBi(heads=heads).slopes).log())
        self.exponent = nn.Parameter(torch.ones(heads))
        self.shift = nn.Parameter(torch.zeros(heads)) if location else None

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each triple, at least in float32, where offsets up to 2^24 are exact."""
        wide = torch.promote_types(dtype, torch.float32)
        return _rounded(self._log_prior(head, query_position, key_position, wide), dtype)

    def _log_prior(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Log prior of each triple, of `dtype`."""
        offset = (key_position - query_position).to(dtype)
        if self.shift is not None:
            offset = offset - 2 * self.shift.to(dtype).sinh()[head]
        distance = offset.abs() + float(bam.RELEASED_SMALLEST)
        power: Tensor = distance ** self.exponent.to(dtype)[head]
        return -self.log_scale.to(dtype).exp()[head] * power


class BAMWithSSMax(BAM):
    """BAM with all logits of query j, content and log prior, multiplied by s ln(j + 1), for causal attention.

    A query at j sees j + 1 keys.  Parameters: those of BAM, and `factors` s, float32 [layers, H], which start at 1.
    """

    def __init__(self, *, heads: int, layers: int, location: bool = False) -> None:
        """Allocate the parameters; `layers` is the number of layers, at least 1."""
        super().__init__(heads=heads, location=location)
        if layers < 1:
            raise ValueError(f"layers must be at least 1, not {layers}")
        self.factors = nn.Parameter(torch.ones(layers, heads))

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Queries times s ln(j + 1), and keys as they are.

        Raises:
            ValueError: positions are not integers, or the content names a layer that there is not.
        """
        require_integers(positions)
        wide = torch.promote_types(q_BHLC.dtype, torch.float32)
        return (q_BHLC.to(wide) * self._temperature(positions, content, wide)).to(q_BHLC.dtype), k_BHLC

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [H, J, I], or [B, H, J, I] if positions have a batch axis, with the factor of the content's layer."""
        wide = torch.promote_types(dtype, torch.float32)
        log_prior = super().bias(query_positions, key_positions, content, dtype=wide)
        return _rounded(log_prior * self._temperature(query_positions, content, wide), dtype)

    def _temperature(self, positions: Tensor, content: Content | None, dtype: torch.dtype) -> Tensor:
        """s ln(j + 1): [H, J, 1], or [B, H, J, 1] if positions have a batch axis."""
        layer = content.layer if content else 0
        if layer >= len(self.factors):
            raise ValueError(
                f"there is no layer {layer}: BAM has factors of {len(self.factors)} layers, counted from 0"
            )
        return self.factors[layer].to(dtype)[:, None, None] * positions[..., None, :, None].to(dtype).log1p()


def _rounded(bias: Tensor, dtype: torch.dtype) -> Tensor:
    """Bias in `dtype`, with the least number of that dtype in place of numbers below it."""
    return bias.clamp(min=torch.finfo(dtype).min).to(dtype)


MODULES = {"bam": BAM, "bam-ssmax": BAMWithSSMax}
