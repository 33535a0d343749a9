"""NTK-aware scaling: RoPE with a larger base, so that slow planes are interpolated and fast ones kept.

Sources: the formula of YaRN (arXiv 2309.00071); the dynamic rule of transformers ("dynamic" in modeling_rope_utils).
Symbolic twins: theory/encodings/ntk.py.
"""

import math

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content
from lengthgen.empirical.encodings.interpolation import require_scale, require_trained_length
from lengthgen.empirical.encodings.rotary import Layout, Rotary


class NTKAware(Rotary):
    """RoPE with the base b s^(C/(C-2)): plane l is slower than RoPE's by s^(2l/(C-2)).  [P]"""

    def __init__(
        self, *, head_dim: int, scale: float = 2.0, base: float = 10000.0, layout: Layout = "interleaved"
    ) -> None:
        """Set the frequencies; no trainable parameters.  `head_dim` is C, `scale` is s.

        Raises:
            ValueError: head_dim is 2, scale is not a finite number, at least 1; or RoPE refuses head_dim or base.
        """
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        _require_planes(head_dim)
        require_scale(scale)
        self.scale = scale

    def frequencies(self, length: int) -> Tensor:
        """Frequencies base^(-2l/C) s^(-2l/(C-2)), the same at every length: float64 [C/2]."""
        return _slowed(super().frequencies(length), self.scale)


class DynamicNTK(Rotary):
    """NTK-aware scaling with s = max(1, factor T/L - (factor - 1)) in a sequence of T tokens, L the trained length.

    T is the largest position of the row, plus 1, and all queries and keys of the row are rotated for this T.  A key
    that was rotated when the sequence was shorter has another base, and the relative law fails with it (claim dntk-2):
    a cache must hold unrotated keys.  [P, code]
    """

    def __init__(
        self,
        *,
        head_dim: int,
        trained_length: int,
        factor: float = 1.0,
        base: float = 10000.0,
        layout: Layout = "interleaved",
    ) -> None:
        """Set the frequencies; no trainable parameters.

        `head_dim` is C, `trained_length` is L; with `factor` 1, s is T/L.

        Raises:
            ValueError: head_dim is 2, trained_length or factor is not a positive finite number; or RoPE refuses
                head_dim or base.
        """
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        _require_planes(head_dim)
        require_trained_length(trained_length)
        if not (math.isfinite(factor) and factor > 0):
            raise ValueError(f"factor must be a positive finite number, not {factor}")
        self.trained_length, self.factor = trained_length, factor

    def frequencies(self, length: int) -> Tensor:
        """Frequencies at this length: RoPE's up to the trained length, scaled beyond it: float64 [C/2]."""
        scale = max(1.0, self.factor * length / self.trained_length - (self.factor - 1))
        return _slowed(super().frequencies(length), scale)

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotate as RoPE does, each row of a batch with the frequencies of its own length."""
        if positions.ndim == 1 or not positions.numel():
            return super().rotate(q_BHLC, k_BHLC, positions)
        q_rotated, k_rotated = torch.empty_like(q_BHLC), torch.empty_like(k_BHLC)
        last = positions.amax(-1)
        for longest in sorted(set(last.tolist())):
            rows = last == longest
            q_rotated[rows], k_rotated[rows] = super().rotate(q_BHLC[rows], k_BHLC[rows], positions[rows])
        return q_rotated, k_rotated


def _slowed(frequencies: Tensor, scale: float) -> Tensor:
    """Divide the frequency of plane l by s^(2l/(C-2)): the first by 1, the last by s."""
    exponents = torch.linspace(0, 1, len(frequencies), dtype=torch.float64)
    return frequencies * scale**-exponents


def _require_planes(head_dim: int) -> None:
    """Raise ValueError for a head with a single plane."""
    if head_dim == 2:
        raise ValueError("head_dim must be above 2: one plane cannot be both the fastest and the slowest")


MODULES = {"ntk": NTKAware, "dynamic-ntk": DynamicNTK}
