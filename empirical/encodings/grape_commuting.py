"""GRAPE-M on commuting planes: RoPE in a learned orthogonal basis of each head, with learned frequencies.

Source: GRAPE, arXiv 2512.07805, commuting multi-subspace mode.  Symbolic twin: theory/encodings/grape_commuting.py.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.rotary import apply_rotary

BASE = 10000.0


class GrapeCommuting(PositionEncoding):
    """q at position p -> E R(p) E^T q, where R(p) turns plane l by p theta_l; same for keys.  Initially it is RoPE.

    E = exp(K - K^T) reaches every rotation of the head.  Parameters: the entries of K below the diagonal and
    log(theta_l / RoPE's), float32 [H, C(C-1)/2] and [H, C/2], all initially 0.  Shared by layers.  The published runs
    keep E = I, share frequencies between heads and store their logarithms sixteenfold.  Their planes are coordinates l
    and l + C/2 and turn the other way: they are the planes here with the coordinates l + C/2 and l.  Their learned gain
    on queries and keys after the rotation breaks the relative law (claim grape-14): a gain belongs before `rotate`.
    """

    def __init__(self, *, heads: int, head_dim: int) -> None:
        """Allocate the parameters; `heads` is H, `head_dim` is C.

        Raises:
            ValueError: heads is below 1, or head_dim not a positive even number.
        """
        super().__init__()
        if heads < 1:
            raise ValueError(f"heads must be at least 1, not {heads}")
        self.base_frequencies = rope_frequencies(head_dim)
        self.head_dim = head_dim
        self.turns = nn.Parameter(torch.zeros(heads, head_dim * (head_dim - 1) // 2))
        self.log_ratios = nn.Parameter(torch.zeros(heads, head_dim // 2))

    def frequencies(self) -> Tensor:
        """Angle by which each plane turns in one position step: float64 [H, C/2]."""
        base = torch.tensor(self.base_frequencies, dtype=torch.float64, device=self.log_ratios.device)
        return torch.exp(self.log_ratios.double()) * base

    def basis(self) -> Tensor:
        """Orthogonal basis E, float64 [H, C, C]; columns 2l and 2l + 1 span plane l."""
        basis_HCC: Tensor = torch.linalg.matrix_exp(skew(self.turns.double(), self.head_dim))
        return basis_HCC

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotated queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Basis, angles and their cosines are float64, products at least float32.

        Raises:
            ValueError: positions are not integers, or heads or width differ from those given at construction.
        """
        require_integers(positions)
        if q_BHLC.shape[1::2] != (len(self.turns), self.head_dim):
            expected = (len(self.turns), self.head_dim)
            raise ValueError(f"queries have heads and width {tuple(q_BHLC.shape[1::2])}, not {expected}")
        angles = positions[..., None, :, None] * self.frequencies()[:, None]
        turn, basis_HCC = torch.polar(torch.ones_like(angles), angles), self.basis()
        return _rotate_in_basis(q_BHLC, turn, basis_HCC), _rotate_in_basis(k_BHLC, turn, basis_HCC)


def _rotate_in_basis(x_BHLC: Tensor, turn: Tensor, basis_HCC: Tensor) -> Tensor:
    """Rotate the coordinates of x in the basis E: E R E^T x."""
    wide = torch.promote_types(x_BHLC.dtype, torch.float32)
    basis_HCC = basis_HCC.to(wide)
    coordinates = apply_rotary(x_BHLC.to(wide) @ basis_HCC, turn, "interleaved")
    return (coordinates @ basis_HCC.transpose(-1, -2)).to(x_BHLC.dtype)


def rope_frequencies(head_dim: int) -> tuple[float, ...]:
    """RoPE's frequencies base^(-2l/C) for l = 0 .. C/2 - 1.

    Raises:
        ValueError: head_dim is not a positive even number.
    """
    if head_dim <= 0 or head_dim % 2:
        raise ValueError(f"head_dim must be a positive even number, not {head_dim}")
    return tuple(BASE ** (-2 * plane / head_dim) for plane in range(head_dim // 2))


def skew(entries: Tensor, size: int) -> Tensor:
    """K - K^T with the entries [..., size (size - 1) / 2] below the diagonal of K, row by row: [..., size, size]."""
    rows, columns = torch.tril_indices(size, size, -1, device=entries.device)
    lower = entries.new_zeros(*entries.shape[:-1], size, size)
    lower[..., rows, columns] = entries
    return lower - lower.transpose(-1, -2)


MODULES = {"grape-commuting": GrapeCommuting}
