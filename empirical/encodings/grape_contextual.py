"""Contextual GRAPE-M: RoPE whose positions advance by amounts computed from the tokens.

Source: GRAPE, arXiv 2512.07805, contextual multiplicative form.  Symbolic twin: theory/encodings/grape_contextual.py.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.grape_additive import unit_softplus
from lengthgen.empirical.encodings.grape_commuting import rope_frequencies
from lengthgen.empirical.encodings.ordering import order_by_position
from lengthgen.empirical.encodings.rotary import apply_rotary


class GrapeContextual(PositionEncoding):
    """Plane l of the token at place t is turned by Phi_t theta_l, Phi_t the sum of w_s over the tokens s before it.

    w = softplus(W x + b + log(e - 1)) of the layer's input, one number per token, shared by heads: initially 1, so that
    the encoding starts as RoPE.  Parameters: W, float32 [layers, D], b, float32 [layers], and log(theta_l / RoPE's),
    float32 [C/2]; all initially 0.  The released code deviates: it intends to start at w = 0.001 but draws W at random,
    and in a later version the link is a sigmoid of a sixteenth, which starts at 0.394.
    """

    def __init__(self, *, width: int, head_dim: int, layers: int) -> None:
        """Allocate the parameters; `width` is D, `head_dim` is C.

        Raises:
            ValueError: width or layers is below 1, or head_dim not a positive even number.
        """
        super().__init__()
        if width < 1 or layers < 1:
            raise ValueError(f"width and layers must be at least 1, not {width} and {layers}")
        self.base_frequencies = rope_frequencies(head_dim)
        self.head_dim = head_dim
        self.weights = nn.Parameter(torch.zeros(layers, width))
        self.offsets = nn.Parameter(torch.zeros(layers))
        self.log_ratios = nn.Parameter(torch.zeros(head_dim // 2))

    def phases(self, positions: Tensor, content: Content | None) -> Tensor:
        """Phases Phi, float64 [B, L]: sums over the earlier tokens in order of position, without the token itself.

        Raises:
            ValueError: positions are not integers, or the layer's input is missing or not D wide.
        """
        require_integers(positions)
        if content is None or content.x_BLD is None:
            raise ValueError("contextual GRAPE-M reads the layer's input: pass content with x_BLD")
        x_BLD = content.x_BLD
        if x_BLD.shape[-1] != self.weights.shape[-1]:
            raise ValueError(f"the layer's input is {x_BLD.shape[-1]} wide, not width = {self.weights.shape[-1]}")
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        logits_BL = x_BLD.to(wide) @ self.weights[content.layer].to(wide) + self.offsets[content.layer].to(wide)
        rates_BL = unit_softplus(logits_BL)
        by_place, place = order_by_position(positions, len(x_BLD))
        ordered = rates_BL.gather(1, by_place)
        return (ordered.cumsum(1) - ordered).gather(1, place)

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotated queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Phases, angles and their cosines are float64, products at least float32.

        Raises:
            ValueError: see `phases`; or the last axis is not head_dim wide.
        """
        if q_BHLC.shape[-1] != self.head_dim:
            raise ValueError(f"queries are {q_BHLC.shape[-1]} wide, not head_dim = {self.head_dim}")
        base = torch.tensor(self.base_frequencies, dtype=torch.float64, device=q_BHLC.device)
        angles = self.phases(positions, content)[:, None, :, None] * (base * self.log_ratios.double().exp())
        turn = torch.polar(torch.ones_like(angles), angles)
        return apply_rotary(q_BHLC, turn, "interleaved"), apply_rotary(k_BHLC, turn, "interleaved")


MODULES = {"grape-contextual": GrapeContextual}
