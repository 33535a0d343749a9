"""FIRE: a small network of the distance, normalised by how far the query can look back.

Source: Li et al., arXiv 2310.04418.  Symbolic twin: theory/encodings/fire.py.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.blocks import block_by_block
from lengthgen.theory.encodings.fire import HIDDEN


class FIRE(PositionEncoding):
    """f_h(psi(|j - i|) / psi(max(j + 1, L))), psi(x) = log(|c| x + 1), with separate f, c and L in every layer.

    f is a ReLU network 1 -> 32 -> H; a factor of L is learned.  The formula is the paper's, which counts positions from
    1, hence j + 1.  Its listing counts from 0 and adds 1e-6 to the denominator.  Here the denominator is positive for
    every c but 0, and nothing is added (initially this would change the fraction by less than 3e-7 of itself).

    Parameters of each layer, float32: c [], the factor of L [], and weights and biases of f.
    """

    def __init__(self, *, heads: int, layers: int, rate: float = 0.1, threshold: float = 512.0) -> None:
        """Make one network per layer; `rate` and `threshold` are the initial c and L.

        Raises:
            ValueError: heads or layers below 1; rate or threshold not a positive finite number.
        """
        super().__init__()
        for name, count in (("heads", heads), ("layers", layers)):
            if count < 1:
                raise ValueError(f"{name} must be at least 1, not {count}")
        for name, number in (("rate", rate), ("threshold", threshold)):
            if not (math.isfinite(number) and number > 0):
                raise ValueError(f"{name} must be a positive finite number, not {number}")
        self.laws = nn.ModuleList(_LayerBias(heads=heads, rate=rate, threshold=threshold) for _ in range(layers))

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [H, J, I], or [B, H, J, I] if positions have a batch axis, by the network of the content's layer.

        Raises:
            ValueError: positions are not integers, or the content names a layer that FIRE was not made for.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        of_layer = self._bias_of_layer(content)

        def of_block(block: slice) -> Tensor:
            bias: Tensor = of_layer(query_positions[..., block, None], key_positions[..., None, :], dtype)
            return bias.movedim(-1, -3).to(dtype)

        return block_by_block(of_block, query_positions.shape[-1], key_positions.shape[-1])

    def _bias_of_layer(self, content: Content | None) -> "_LayerBias":
        """Network of the content's layer."""
        layer = content.layer if content else 0
        if layer >= len(self.laws):
            raise ValueError(f"there is no layer {layer}: FIRE was made for {len(self.laws)} layers, counted from 0")
        layer_bias = self.laws[layer]
        assert isinstance(layer_bias, _LayerBias)
        return layer_bias


class _LayerBias(nn.Module):
    """Bias network of one layer."""

    def __init__(self, *, heads: int, rate: float, threshold: float) -> None:
        super().__init__()
        self.threshold = threshold
        self.rate = nn.Parameter(torch.tensor(float(rate)))
        self.factor = nn.Parameter(torch.ones(()))
        self.inner = nn.Linear(1, HIDDEN)
        self.outer = nn.Linear(HIDDEN, heads)

    def forward(self, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each pair: [..., H] for positions [...], computed at least in float32."""
        fraction = self.fraction(query_position, key_position, torch.promote_types(dtype, torch.float32))[..., None]
        hidden = F.linear(fraction, self.inner.weight.to(fraction), self.inner.bias.to(fraction)).relu()
        return F.linear(hidden, self.outer.weight.to(fraction), self.outer.bias.to(fraction))

    def fraction(self, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """psi(|j - i|) / psi(max(j + 1, L)); in float32 positions up to 2^24 are exact."""
        rate = self.rate.to(dtype).abs()
        reach = torch.maximum((query_position + 1).to(dtype), (self.factor.to(dtype) * self.threshold).abs())
        return torch.log1p(rate * (query_position - key_position).abs().to(dtype)) / torch.log1p(rate * reach)


MODULES = {"fire": FIRE}
