"""Sinusoidal position codes, added to the token embeddings.

Source: Vaswani et al., arXiv 1706.03762, Section 3.5.  Symbolic twin: theory/encodings/sinusoidal.py.
"""

import math

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import PositionEncoding, require_integers


class Sinusoidal(PositionEncoding):
    """x_p + PE(p); coordinates 2l and 2l + 1 of PE(p) are the sine and cosine of p base^(-2l/D).  No parameters.

    The paper multiplies token embeddings by sqrt(D) first, because its tables have a variance of 1/D; here the model
    must do so.
    """

    def __init__(self, *, width: int, base: float = 10000.0) -> None:
        """Set the width D and the base.

        Raises:
            ValueError: width is not a positive even number, or base is not a positive finite number.
        """
        super().__init__()
        if width <= 0 or width % 2:
            raise ValueError(f"width must be a positive even number, not {width}")
        if not (math.isfinite(base) and base > 0):
            raise ValueError(f"base must be a positive finite number, not {base}")
        self.width, self.base = width, base

    def code(self, positions: Tensor) -> Tensor:
        """Codes PE of the positions: float64 [..., L, D]."""
        planes = torch.arange(self.width // 2, dtype=torch.float64, device=positions.device)
        angles = positions[..., None] * self.base ** (-2 * planes / self.width)
        return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Add the codes at least in float32 and round the sum once: [B, L, D].

        Raises:
            ValueError: positions are not integers, or the last axis is not as wide as the code.
        """
        require_integers(positions)
        if x_BLD.shape[-1] != self.width:
            raise ValueError(f"embeddings are {x_BLD.shape[-1]} wide, not width = {self.width}")
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        return (x_BLD.to(wide) + self.code(positions).to(wide)).to(x_BLD.dtype)


MODULES = {"sinusoidal": Sinusoidal}
