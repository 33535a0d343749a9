"""GRAPE-M with a thin generator whose planes need not commute: a skew r x r matrix inside a learned subspace.

Source: GRAPE, arXiv 2512.07805, non-commuting mode.  In its own basis every skew generator is a sum of commuting planes
(theory/encodings/grape_commuting.py; claim grape-7), so this encoding too learns planes and frequencies.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.empirical.encodings.grape_commuting import rope_frequencies, skew


class GrapeThin(PositionEncoding):
    """x at position p -> exp(p E S E^T) x, E orthonormal [C, r], S skew [r, r]: O(rC + r^2) operations per vector.

    The subspace is spanned by the first r columns of exp([[0, -K^T], [K, 0]]), which reaches every subspace.
    Parameters: K, float32 [H, C - r, r], initialised N(0, 1/C); and the entries of S below the diagonal, float32
    [H, r(r-1)/2], initially RoPE's frequencies for width r, so that no two eigenvalues are equal.  Shared by layers.

    exp(pS) is computed from the eigenvalues of iS, the complex form of the real Schur form.  Its gradient is undefined
    where two eigenvalues are equal, as at S = 0.
    """

    def __init__(self, *, heads: int, head_dim: int, rank: int) -> None:
        """Draw the parameters; `heads` is H, `head_dim` is C, `rank` is r.

        Raises:
            ValueError: heads is below 1, rank is not a positive even number, or above head_dim.
        """
        super().__init__()
        if heads < 1:
            raise ValueError(f"heads must be at least 1, not {heads}")
        if not 0 < rank <= head_dim or rank % 2:
            raise ValueError(f"rank must be a positive even number up to head_dim = {head_dim}, not {rank}")
        self.head_dim, self.rank = head_dim, rank
        self.tilts = nn.Parameter(torch.randn(heads, head_dim - rank, rank) / head_dim**0.5)
        start = torch.zeros(rank, rank)
        for plane, frequency in enumerate(rope_frequencies(rank)):
            start[2 * plane + 1, 2 * plane] = frequency
        rows, columns = torch.tril_indices(rank, rank, -1)
        self.generator = nn.Parameter(start[rows, columns].repeat(heads, 1))

    def subspace(self) -> Tensor:
        """E with orthonormal columns: float64 [H, C, r]."""
        tilts = self.tilts.double()
        generator = tilts.new_zeros(len(tilts), self.head_dim, self.head_dim)
        generator[:, self.rank :, : self.rank] = tilts
        turn: Tensor = torch.linalg.matrix_exp(generator - generator.transpose(-1, -2))
        return turn[..., : self.rank]

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotated queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Subspace, eigenvalues and angles are float64, products at least float32.

        Raises:
            ValueError: positions are not integers, or heads or width differ from those given at construction.
        """
        require_integers(positions)
        if q_BHLC.shape[1::2] != (len(self.tilts), self.head_dim):
            expected = (len(self.tilts), self.head_dim)
            raise ValueError(f"queries have heads and width {tuple(q_BHLC.shape[1::2])}, not {expected}")
        eigenvalues_Hr, vectors_Hrr = torch.linalg.eigh(1j * skew(self.generator.double(), self.rank))
        angles = -positions[..., None, :, None] * eigenvalues_Hr[:, None]
        turn = torch.polar(torch.ones_like(angles), angles)
        subspace_HCr = self.subspace()
        return (
            _rotate_vectors(q_BHLC, turn, vectors_Hrr, subspace_HCr),
            _rotate_vectors(k_BHLC, turn, vectors_Hrr, subspace_HCr),
        )


def _rotate_vectors(x_BHLC: Tensor, turn: Tensor, vectors_Hrr: Tensor, subspace_HCr: Tensor) -> Tensor:
    """x + E (V exp(-ip mu) V^H - I) E^T x, where iS = V mu V^H."""
    wide = torch.promote_types(x_BHLC.dtype, torch.float32)
    complex_wide = torch.promote_types(wide, torch.complex64)
    x, subspace_HCr, vectors_Hrr = x_BHLC.to(wide), subspace_HCr.to(wide), vectors_Hrr.to(complex_wide)
    coordinates = x @ subspace_HCr
    rotated = coordinates.to(complex_wide) @ vectors_Hrr.conj() * turn.to(complex_wide) @ vectors_Hrr.transpose(-1, -2)
    return (x + (rotated.real - coordinates) @ subspace_HCr.transpose(-1, -2)).to(x_BHLC.dtype)


MODULES = {"grape-thin": GrapeThin}
