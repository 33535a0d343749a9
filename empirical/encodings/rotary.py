"""RoPE: every plane of the head is rotated by an angle proportional to the position.

Source: Su et al., RoFormer, arXiv 2104.09864.  Symbolic twin: theory/encodings/rotary.py.
"""

import math

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.theory.encodings import rotary

Layout = rotary.Layout


class Rotary(PositionEncoding):
    """q at position p -> R(p) q, where R(p) turns plane l by p base^(-2l/C); same for keys.  No parameters."""

    def __init__(self, *, head_dim: int, base: float = 10000.0, layout: Layout = "interleaved") -> None:
        """Set the frequencies; `head_dim` is C.

        Raises:
            ValueError: head_dim is not a positive even number, or base is not a positive finite number.
        """
        super().__init__()
        if head_dim <= 0 or head_dim % 2:
            raise ValueError(f"head_dim must be a positive even number, not {head_dim}")
        if not (math.isfinite(base) and base > 0):
            raise ValueError(f"base must be a positive finite number, not {base}")
        self.head_dim, self.base, self.layout = head_dim, base, layout

    def frequencies(self, length: int) -> Tensor:
        """Angle by which each plane turns in one position step, in a sequence of this length: float64 [C/2]."""
        planes = torch.arange(self.head_dim // 2, dtype=torch.float64)
        return self.base ** (-2 * planes / self.head_dim)

    def magnitude(self) -> float:
        """Factor that multiplies queries and keys besides the rotation."""
        return 1.0

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotated queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Angles and their cosines are float64, products at least float32.

        Raises:
            ValueError: positions are not integers, or the last axis is not head_dim wide.
        """
        require_integers(positions)
        if q_BHLC.shape[-1] != self.head_dim:
            raise ValueError(f"queries are {q_BHLC.shape[-1]} wide, not head_dim = {self.head_dim}")
        length = int(positions.max()) + 1 if positions.numel() else 0
        frequencies = self.frequencies(length).to(positions.device)
        angles = positions[..., None, :, None] * frequencies  # [1 or B, 1, L, C/2]: broadcasts over heads
        turn = torch.polar(torch.full_like(angles, self.magnitude()), angles)
        return apply_rotary(q_BHLC, turn, self.layout), apply_rotary(k_BHLC, turn, self.layout)


def apply_rotary(x_BHLC: Tensor, turn: Tensor, layout: Layout) -> Tensor:
    """Multiply every plane of x, as a complex number, by `turn`: complex128 [..., L, C/2].

    Interleaved planes are stored as complex numbers already: one product suffices, and only the result is allocated.
    """
    wide = x_BHLC.to(torch.promote_types(x_BHLC.dtype, torch.float32))
    if layout == "interleaved":
        numbers = torch.view_as_complex(_paired(wide))
        return torch.view_as_real(numbers * turn.to(numbers.dtype)).flatten(-2).to(x_BHLC.dtype)
    cosine, sine = turn.real.to(wide.dtype), turn.imag.to(wide.dtype)
    swapped = wide.roll(wide.shape[-1] // 2, -1)
    along = wide * torch.cat((cosine, cosine), -1)
    return along.addcmul_(swapped, torch.cat((-sine, sine), -1)).to(x_BHLC.dtype)


def _paired(x_BHLC: Tensor) -> Tensor:
    """View x as [..., L, C/2, 2]; copied only if a plane's coordinates are not stored like a complex number's parts."""
    pairs = x_BHLC.reshape(*x_BHLC.shape[:-1], x_BHLC.shape[-1] // 2, 2)
    *outer, inner = pairs.stride()
    as_stored = inner == 1 and not any(step % 2 for step in (*outer, pairs.storage_offset()))
    return pairs if as_stored else pairs.clone(memory_format=torch.contiguous_format)


MODULES = {"rope": Rotary}
