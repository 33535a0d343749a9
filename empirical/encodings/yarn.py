"""YaRN: RoPE in which slow planes are interpolated and fast ones kept, with queries and keys slightly lengthened.

A plane is slow if it turns seldom within the trained length.
Source: Peng, Quesnelle, Fan, Shippole, arXiv 2309.00071.  Symbolic twin: theory/encodings/yarn.py.
"""

import math
from typing import Literal

import torch
from torch import Tensor

from lengthgen.empirical.encodings.interpolation import require_scale, require_trained_length
from lengthgen.empirical.encodings.rotary import Layout, Rotary

Ramp = Literal["paper", "code"]
"""Variable in which gamma is linear: the turns of a plane (paper), or the index of a plane (released code)."""


class YaRN(Rotary):
    """RoPE with the frequencies (1 - gamma_l) theta_l / s + gamma_l theta_l, and q and k times 0.1 ln s + 1.  [P]"""

    def __init__(
        self,
        *,
        head_dim: int,
        trained_length: int,
        scale: float = 2.0,
        ramp: Ramp = "paper",
        alpha: float = 1.0,
        beta: float = 32.0,
        base: float = 10000.0,
        layout: Layout = "interleaved",
    ) -> None:
        """Set the frequencies; no trainable parameters.

        `head_dim` is C, `scale` is s.  Planes with at most `alpha` turns are interpolated, those with `beta` or more
        are kept.

        Raises:
            ValueError: scale is not a finite number, at least 1; trained_length is not positive; not 0 < alpha < beta;
                the code's ramp is empty for these numbers; or RoPE refuses head_dim or base.
        """
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        require_scale(scale)
        require_trained_length(trained_length)
        if not (0 < alpha < beta < math.inf):
            raise ValueError(f"alpha and beta must be finite with 0 < alpha < beta, not {alpha} and {beta}")
        if ramp not in ("paper", "code"):
            raise ValueError(f"ramp must be 'paper' or 'code', not {ramp!r}")
        self.scale, self.trained_length, self.alpha, self.beta = scale, trained_length, alpha, beta
        self.ramp_planes = self._index_range() if ramp == "code" else None

    def gamma(self) -> Tensor:
        """gamma, float64 [C/2]: share of its frequency that each plane keeps, in 0..1."""
        if self.ramp_planes is None:
            turns = self.trained_length * super().frequencies(self.trained_length) / (2 * math.pi)
            return ((turns - self.alpha) / (self.beta - self.alpha)).clamp(0, 1)
        first, last = self.ramp_planes
        planes = torch.arange(self.head_dim // 2, dtype=torch.float64)
        return 1 - ((planes - first) / (last - first)).clamp(0, 1)

    def frequencies(self, length: int) -> Tensor:
        """Blended frequencies, the same at every length: float64 [C/2]."""
        frequencies, gamma = super().frequencies(length), self.gamma()
        return (1 - gamma) * frequencies / self.scale + gamma * frequencies

    def magnitude(self) -> float:
        """Factor of queries and keys, sqrt(1/t) = 0.1 ln s + 1: logits are divided by the temperature t."""
        return 0.1 * math.log(self.scale) + 1

    def _index_range(self) -> tuple[int, int]:
        """First and last plane of the code's ramp, between which gamma falls from 1 to 0."""
        if self.base <= 1:
            raise ValueError(f"ramp='code' needs a base above 1, not {self.base}")
        first = max(math.floor(self._plane_with(self.beta)), 0)
        last = min(math.ceil(self._plane_with(self.alpha)), self.head_dim - 1)
        if first >= last:
            raise ValueError(
                f"ramp='code' would fall from plane {first} to plane {last}: trained_length = {self.trained_length} "
                f"does not fit base = {self.base}, alpha = {self.alpha}, beta = {self.beta}"
            )
        return first, last

    def _plane_with(self, turns: float) -> float:
        """c(n) = C ln(L / (2 pi n)) / (2 ln base): fractional index of a plane that turns n times."""
        return self.head_dim * math.log(self.trained_length / (2 * math.pi * turns)) / (2 * math.log(self.base))


MODULES = {"yarn": YaRN}
