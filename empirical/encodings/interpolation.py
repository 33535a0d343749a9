"""Position interpolation: RoPE at positions divided by s, so that s times the trained length maps into it.

Source: Chen, Wong, Chen, Tian, arXiv 2306.15595.  Symbolic twin: theory/encodings/interpolation.py.
"""

import math

from torch import Tensor

from lengthgen.empirical.encodings.rotary import Layout, Rotary


class PositionInterpolation(Rotary):
    """q at position p -> R(p/s) q; same for keys.  Positions stay integers; the frequencies are divided by s.  [P]"""

    def __init__(
        self, *, head_dim: int, scale: float = 2.0, base: float = 10000.0, layout: Layout = "interleaved"
    ) -> None:
        """Set the frequencies; no trainable parameters.  `head_dim` is C, `scale` is s.

        Raises:
            ValueError: scale is not a finite number, at least 1; or head_dim or base is refused by RoPE.
        """
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        require_scale(scale)
        self.scale = scale

    def frequencies(self, length: int) -> Tensor:
        """Frequencies base^(-2l/C) / s, the same at every length: float64 [C/2]."""
        return super().frequencies(length) / self.scale


def require_scale(scale: float) -> None:
    """Raise ValueError unless the scale s = new length / trained length is a finite number, at least 1."""
    if not (math.isfinite(scale) and scale >= 1):
        raise ValueError(f"scale must be a finite number, at least 1, not {scale}")


def require_trained_length(length: int) -> None:
    """Raise ValueError unless the length is positive."""
    if length < 1:
        raise ValueError(f"trained_length must be at least 1, not {length}")


MODULES = {"interpolation": PositionInterpolation}
