"""Wavelets of the distance, added to the key for each query: score = q . (k + p), p of fixed scales and shifts.

Source: Oka et al., arXiv 2502.02004.  Symbolic twin: theory/encodings/wavelet.py.
"""

from typing import get_args

import torch
from torch import Tensor

from lengthgen.empirical.encodings.base import Content, PositionEncoding, require_integers
from lengthgen.theory.encodings.wavelet import Name, grid


class Wavelet(PositionEncoding):
    """score(j, i) = q_j . (k_i + p(j - i)); coordinate c of p(D) is psi((D - b_c)/a_c), with a, b from `grid`.

    psi is `ricker`, (1 - t^2) e^(-t^2/2); `haar`, 1 on (0, 1/2] and -1 on (1/2, 1]; `gaussian`, e^(-t^2); or `morlet`,
    e^(-t^2) cos(a t).  The vectors are the same in all heads and layers, and nothing is trained.

    The products of the queries with the vectors are taken once for each distance that occurs, and then gathered by
    pair.  So besides the scores there are d numbers for each distance, and one product for each query and distance:
    for J queries and I keys at consecutive positions there are J + I - 1 distances.
    """

    scores_pairwise = True

    def __init__(self, *, head_dim: int, wavelet: Name = "ricker", scales: int = 8) -> None:
        """Set the head width d, the wavelet psi and the number s of scales 1, 2, ..., 2^(s-1).

        Raises:
            ValueError: head_dim is below 1, `wavelet` is no name of one, or scales is not from 1 to 32.
        """
        super().__init__()
        if head_dim < 1:
            raise ValueError(f"head_dim must be at least 1, not {head_dim}")
        if wavelet not in get_args(Name):
            raise ValueError(f"wavelet must be {', '.join(get_args(Name))}, not {wavelet!r}")
        if not 1 <= scales <= 32:
            raise ValueError(f"scales must be from 1 to 32, not {scales}")
        self.head_dim, self.wavelet, self.scales = head_dim, wavelet, scales

    def vectors(self, distances: Tensor) -> Tensor:
        """Vectors p of the distances, int64 [R]: float64 [R, C]."""
        scales_C, shifts_C = torch.tensor(grid(self.head_dim, self.scales), device=distances.device).T
        offsets = distances[:, None] - shifts_C
        t = offsets.double() / scales_C  # exact: scales are powers of two
        if self.wavelet == "haar":
            return ((t > 0) & (t <= 0.5)).double() - ((t > 0.5) & (t <= 1)).double()
        square = t * t
        if self.wavelet == "ricker":
            return (1 - square) * torch.exp(-square / 2)
        bell = torch.exp(-square)
        return bell * offsets.double().cos() if self.wavelet == "morlet" else bell

    def scores(
        self,
        q_BHJC: Tensor,
        k_BHIC: Tensor,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
    ) -> Tensor:
        """Scores [B, H, J, I] of the dtype of q; products and sums at least in float32.

        Raises:
            ValueError: the last axis is not head_dim wide, or positions are not integers.
        """
        require_integers(query_positions)
        require_integers(key_positions)
        if q_BHJC.shape[-1] != self.head_dim:
            raise ValueError(f"queries are {q_BHJC.shape[-1]} wide, not head_dim = {self.head_dim}")
        wide = torch.promote_types(q_BHJC.dtype, torch.float32)
        q_BHJC, k_BHIC, narrow = q_BHJC.to(wide), k_BHIC.to(wide), q_BHJC.dtype
        distances_R, places = distinct_distances(query_positions[..., :, None] - key_positions[..., None, :])
        by_distance = q_BHJC @ self.vectors(distances_R).to(wide).T
        scores = q_BHJC @ k_BHIC.transpose(-1, -2)
        return (scores + by_distance.gather(-1, places[..., None, :, :].expand(scores.shape))).to(narrow)


def distinct_distances(distances: Tensor) -> tuple[Tensor, Tensor]:
    """Distances that a table needs, int64 [R], and the place of each given distance in it, of their shape.

    The table is the range of the distances, or only those that occur if there are fewer pairs than the range is long.
    """
    if not distances.numel():
        return distances.new_zeros(1), distances
    least, greatest = (int(end) for end in distances.aminmax())
    if greatest - least < distances.numel():
        return torch.arange(least, greatest + 1, device=distances.device), distances - least
    table, places = distances.unique(return_inverse=True)
    return table, places


MODULES = {"wavelet": Wavelet}
