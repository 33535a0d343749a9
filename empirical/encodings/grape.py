"""GRAPE-M with one plane: queries and keys are rotated in a learned plane of each head.

Source: GRAPE, arXiv 2512.07805, multiplicative part.  Symbolic twin: theory/encodings/grape.py.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers

SMALL = 1e-7
"""Bound of z^2 below which two terms of the series of sin z/z and (1 - cos z)/z^2 are exact in float64.

The third terms are z^4/120 and, relative to 1/2, z^4/360: at most 1e-16 and 3e-17.
"""


class Grape(PositionEncoding):
    """x at position p -> exp(p L) x, L = a b^T - b a^T, by its closed form: O(C) operations per vector.

    Parameters: a and b, float32 [H, C], initially orthonormal, so that the plane turns by angle 1 per step; |a| |b|
    takes the place of the paper's omega.  Shared by layers.
    """

    def __init__(self, *, heads: int, head_dim: int) -> None:
        """Draw a and b; `heads` is H, `head_dim` is C.

        Raises:
            ValueError: heads is below 1, or head_dim below 2.
        """
        super().__init__()
        if heads < 1 or head_dim < 2:
            raise ValueError(f"heads must be at least 1 and head_dim at least 2, not {heads} and {head_dim}")
        plane_HCx = torch.linalg.qr(torch.randn(heads, head_dim, 2)).Q
        self.a = nn.Parameter(plane_HCx[..., 0].clone())
        self.b = nn.Parameter(plane_HCx[..., 1].clone())

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotated queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Angles and the plane's scalars are float64, vectors at least float32.

        Raises:
            ValueError: positions are not integers, or the heads are not those of a and b.
        """
        require_integers(positions)
        if q_BHLC.shape[1::2] != self.a.shape:
            raise ValueError(f"queries have heads and width {tuple(q_BHLC.shape[1::2])}, not {tuple(self.a.shape)}")
        turn, retreat = self._factors(positions)
        return self._rotate_vectors(q_BHLC, turn, retreat), self._rotate_vectors(k_BHLC, turn, retreat)

    def _factors(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """sin(ps)/s and (1 - cos ps)/s^2, float64 [1 or B, H, L]; s^2 is half the squared norm of L (Lagrange)."""
        a_HC, b_HC = self.a.double(), self.b.double()
        generator_HCC = a_HC[:, :, None] * b_HC[:, None, :] - b_HC[:, :, None] * a_HC[:, None, :]
        squared_speed_H = generator_HCC.square().sum((-1, -2)) / 2
        time = positions[..., None, :].double()
        square = time.square() * squared_speed_H[:, None]
        small = square < SMALL
        angle = torch.where(small, 1.0, square).sqrt()  # the square root has an infinite slope at 0
        sine = torch.where(small, 1 - square / 6, angle.sin() / angle)
        cosine = torch.where(small, 0.5 - square / 24, 2 * (angle / 2).sin().square() / angle.square())
        return time * sine, time.square() * cosine

    def _rotate_vectors(self, x_BHLC: Tensor, turn: Tensor, retreat: Tensor) -> Tensor:
        """x + f1 (a v - b u) + f2 (g (a v + b u) - |b|^2 a u - |a|^2 b v), u = a.x, v = b.x, g = a.b."""
        wide = torch.promote_types(x_BHLC.dtype, torch.float32)
        x, a, b = x_BHLC.to(wide), self.a.to(wide)[:, None], self.b.to(wide)[:, None]
        u, v = (x * a).sum(-1).double(), (x * b).sum(-1).double()
        alpha, beta, gamma = (
            (first.double() * second.double()).sum(-1)[:, None]
            for first, second in ((self.a, self.a), (self.b, self.b), (self.a, self.b))
        )
        along_a = turn * v + retreat * (gamma * v - beta * u)
        along_b = retreat * (gamma * u - alpha * v) - turn * u
        rotated = x + along_a[..., None].to(wide) * a + along_b[..., None].to(wide) * b
        return rotated.to(x_BHLC.dtype)


MODULES = {"grape": Grape}
