"""GRAPE in torch: rotations of learned planes (GRAPE-M), and biases with learned slopes, gates and edges (GRAPE-A).

Source: GRAPE, arXiv 2512.07805.  Formulas: theory/encodings/grape.py.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    Bias,
    Content,
    PairBias,
    Rotation,
    pair_distances,
    require_heads,
    require_planes,
    require_sizes,
    require_width,
)
from lengthgen.empirical.encodings.biases import alibi_slopes, linear_bias
from lengthgen.empirical.encodings.paths import running_sums
from lengthgen.empirical.encodings.rotary import apply_rotary
from lengthgen.empirical.encodings.tensors import order_by_position
from lengthgen.theory.encodings.grape import PROBE_DIM

SMALL = 1e-7
"""Bound of z^2 below which two terms of the series of sin z/z and (1 - cos z)/z^2 are exact in float64.

The third terms are z^4/120 and, relative to 1/2, z^4/360: at most 1e-16 and 3e-17.
"""


class Grape(Rotation):
    """x at position p -> exp(p L) x, L = a b^T - b a^T, by its closed form: O(C) operations per vector.

    Parameters: a and b, float32 [H, C], initially orthonormal, so that the plane turns by angle 1 per step; |a| |b|
    takes the place of the paper's omega.  Shared by layers.
    """

    def __init__(self, *, heads: int, head_dim: int) -> None:
        """Draw a and b; `heads` is H, `head_dim` is C, at least 2."""
        super().__init__()
        if heads < 1 or head_dim < 2:
            raise ValueError(f"heads must be at least 1 and head_dim at least 2, not {heads} and {head_dim}")
        plane_HCx = torch.linalg.qr(torch.randn(heads, head_dim, 2)).Q
        self.a = nn.Parameter(plane_HCx[..., 0].clone())
        self.b = nn.Parameter(plane_HCx[..., 1].clone())

    def map_at(self, q_BHLC: Tensor, positions: Tensor, content: Content) -> Callable[[Tensor], Tensor]:
        require_heads(q_BHLC, *self.a.shape)
        turn, retreat = self._factors(positions)
        return partial(self._rotate_vectors, turn=turn, retreat=retreat)

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


BASE = 10000.0


class GrapeCommuting(Rotation):
    """q at position p -> E R(p) E^T q, where R(p) turns plane l by p theta_l; same for keys.  Initially it is RoPE.

    This is GRAPE-M on commuting planes.  E = exp(K - K^T) reaches every rotation of the head.  Parameters: the entries
    of K below the diagonal and log(theta_l / RoPE's), float32 [H, C(C-1)/2] and [H, C/2], all initially 0.  Shared by
    layers.  A learned gain on queries and keys after the rotation breaks the relative law (claim grape-14): it belongs
    before `rotate`.
    """

    def __init__(self, *, heads: int, head_dim: int) -> None:
        """Allocate the parameters; `heads` is H, `head_dim` is C, even."""
        super().__init__()
        require_sizes(heads=heads)
        self.base_frequencies = rope_frequencies(head_dim)
        self.head_dim = head_dim
        self.turns = nn.Parameter(torch.zeros(heads, head_dim * (head_dim - 1) // 2))
        self.log_ratios = nn.Parameter(torch.zeros(heads, head_dim // 2))

    def frequencies(self) -> Tensor:
        """Angle by which each plane turns in one position step: float64 [H, C/2]."""
        return learned_frequencies(self.log_ratios, self.base_frequencies)

    def basis(self) -> Tensor:
        """Orthogonal basis E, float64 [H, C, C]; columns 2l and 2l + 1 span plane l."""
        basis_HCC: Tensor = torch.linalg.matrix_exp(skew(self.turns.double(), self.head_dim))
        return basis_HCC

    def map_at(self, q_BHLC: Tensor, positions: Tensor, content: Content) -> Callable[[Tensor], Tensor]:
        require_heads(q_BHLC, len(self.turns), self.head_dim)
        turn = _unit(positions[..., None, :, None] * self.frequencies()[:, None])
        return partial(_rotate_in_basis, turn=turn, basis_HCC=self.basis())


def _unit(angles: Tensor) -> Tensor:
    """Complex numbers of length 1 with these angles."""
    return torch.polar(torch.ones_like(angles), angles)


def _rotate_in_basis(x_BHLC: Tensor, turn: Tensor, basis_HCC: Tensor) -> Tensor:
    """Rotate the coordinates of x in the basis E: E R E^T x."""
    wide = torch.promote_types(x_BHLC.dtype, torch.float32)
    basis_HCC = basis_HCC.to(wide)
    coordinates = apply_rotary(x_BHLC.to(wide) @ basis_HCC, turn, "interleaved")
    return (coordinates @ basis_HCC.transpose(-1, -2)).to(x_BHLC.dtype)


def rope_frequencies(head_dim: int) -> tuple[float, ...]:
    """RoPE's frequencies base^(-2l/C) for l = 0 .. C/2 - 1; raises ValueError for an odd head width."""
    require_planes(head_dim=head_dim)
    return tuple(BASE ** (-2 * plane / head_dim) for plane in range(head_dim // 2))


def learned_frequencies(log_ratios: Tensor, base_frequencies: tuple[float, ...]) -> Tensor:
    """Frequencies whose ratios to those of RoPE are learned, by their logarithms [..., C/2]: float64."""
    base = torch.tensor(base_frequencies, dtype=torch.float64, device=log_ratios.device)
    return log_ratios.double().exp() * base


def skew(entries: Tensor, size: int) -> Tensor:
    """K - K^T with the entries [..., size (size - 1) / 2] below the diagonal of K, row by row: [..., size, size]."""
    rows, columns = torch.tril_indices(size, size, -1, device=entries.device)
    lower = entries.new_zeros(*entries.shape[:-1], size, size)
    lower[..., rows, columns] = entries
    return lower - lower.transpose(-1, -2)


class GrapeThin(Rotation):
    """x at position p -> exp(p E S E^T) x, E orthonormal [C, r], S skew [r, r]: O(rC + r^2) operations per vector.

    This is GRAPE-M with a thin generator whose planes need not commute.  In its own basis every skew generator is a sum
    of commuting planes (claim grape-7), so this encoding too learns planes and frequencies.
    The subspace is spanned by the first r columns of exp([[0, -K^T], [K, 0]]), which reaches every subspace.
    Parameters: K, float32 [H, C - r, r], initialised N(0, 1/C); and the entries of S below the diagonal, float32
    [H, r(r-1)/2], initially RoPE's frequencies for width r, so that no two eigenvalues are equal.  Shared by layers.

    exp(pS) is computed from the eigenvalues of iS, the complex form of the real Schur form.  Its gradient is undefined
    where two eigenvalues are equal, as at S = 0.
    """

    def __init__(self, *, heads: int, head_dim: int, rank: int) -> None:
        """Draw the parameters; `heads` is H, `head_dim` is C, `rank` is r, even."""
        super().__init__()
        require_sizes(heads=heads)
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

    def map_at(self, q_BHLC: Tensor, positions: Tensor, content: Content) -> Callable[[Tensor], Tensor]:
        require_heads(q_BHLC, len(self.tilts), self.head_dim)
        eigenvalues_Hr, vectors_Hrr = torch.linalg.eigh(1j * skew(self.generator.double(), self.rank))
        turn = _unit(-positions[..., None, :, None] * eigenvalues_Hr[:, None])
        return partial(_rotate_in_subspace, turn=turn, vectors_Hrr=vectors_Hrr, subspace_HCr=self.subspace())


def _rotate_in_subspace(x_BHLC: Tensor, turn: Tensor, vectors_Hrr: Tensor, subspace_HCr: Tensor) -> Tensor:
    """x + E (V exp(-ip mu) V^H - I) E^T x, where iS = V mu V^H."""
    wide = torch.promote_types(x_BHLC.dtype, torch.float32)
    complex_wide = torch.promote_types(wide, torch.complex64)
    x, subspace_HCr, vectors_Hrr = x_BHLC.to(wide), subspace_HCr.to(wide), vectors_Hrr.to(complex_wide)
    coordinates = x @ subspace_HCr
    rotated = coordinates.to(complex_wide) @ vectors_Hrr.conj() * turn.to(complex_wide) @ vectors_Hrr.transpose(-1, -2)
    return (x + (rotated.real - coordinates) @ subspace_HCr.transpose(-1, -2)).to(x_BHLC.dtype)


def _input_of(content: Content, encoding: str, width: int) -> Tensor:
    """Layer's input, at least float32: [B, L, D]; raises ValueError if it is missing or not D wide."""
    if content.x_BLD is None:
        raise ValueError(f"{encoding} reads the layer's input: pass content with x_BLD")
    if content.x_BLD.shape[-1] != width:
        raise ValueError(f"the layer's input is {content.x_BLD.shape[-1]} wide, not width = {width}")
    return content.x_BLD.to(torch.promote_types(content.x_BLD.dtype, torch.float32))


class GrapeContextual(Rotation):
    """Plane l of the token at place t is turned by Phi_t theta_l, Phi_t the sum of w_s over the tokens s before it.

    w = softplus(W x + b + log(e - 1)) of the layer's input, one number per token, shared by heads: initially 1, so that
    the encoding starts as RoPE.  Parameters: W, float32 [layers, D], b, float32 [layers], and log(theta_l / RoPE's),
    float32 [C/2]; all initially 0.
    """

    def __init__(self, *, width: int, head_dim: int, layers: int) -> None:
        """Allocate the parameters; `width` is D, `head_dim` is C, even."""
        super().__init__()
        if width < 1 or layers < 1:
            raise ValueError(f"width and layers must be at least 1, not {width} and {layers}")
        self.base_frequencies = rope_frequencies(head_dim)
        self.head_dim = head_dim
        self.weights = nn.Parameter(torch.zeros(layers, width))
        self.offsets = nn.Parameter(torch.zeros(layers))
        self.log_ratios = nn.Parameter(torch.zeros(head_dim // 2))

    def phases(self, positions: Tensor, content: Content) -> Tensor:
        """Phases Phi, float64 [B, L]: sums over the earlier tokens in order of position, without the token itself."""
        x_BLD = _input_of(content, "contextual GRAPE-M", self.weights.shape[-1])
        logits_BL = x_BLD @ self.weights[content.layer].to(x_BLD) + self.offsets[content.layer].to(x_BLD)
        by_place, place = order_by_position(positions, len(x_BLD))
        ordered = unit_softplus(logits_BL).gather(1, by_place)
        return (ordered.cumsum(1) - ordered).gather(1, place)

    def map_at(self, q_BHLC: Tensor, positions: Tensor, content: Content) -> Callable[[Tensor], Tensor]:
        require_width(q_BHLC, self.head_dim)
        frequencies = learned_frequencies(self.log_ratios, self.base_frequencies)
        turn = _unit(self.phases(positions, content)[:, None, :, None] * frequencies)
        return partial(apply_rotary, turn=turn, layout="interleaved")


class GrapeAdditive(PairBias):
    """-omega_h (j - i), omega_h = softplus(w_h + log(e - 1)) times ALiBi's slope: causal, because it grows for i > j.

    Parameter: w, float32 [H], initially 0, so that the encoding starts as ALiBi.  Shared by layers.
    """

    def __init__(self, *, heads: int) -> None:
        """Allocate w; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.slopes = alibi_slopes(heads)
        self.log_factors = nn.Parameter(torch.zeros(heads))

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        slopes = learned_slopes(self.log_factors, self.slopes)
        return linear_bias(slopes[head], query_position - key_position, dtype)


def learned_slopes(logits_H: Tensor, slopes: tuple[float, ...]) -> Tensor:
    """softplus(w_h + log(e - 1)) times the slope of head h: float64 [H]."""
    return unit_softplus(logits_H) * torch.tensor(slopes, dtype=torch.float64, device=logits_H.device)


def unit_softplus(logits: Tensor) -> Tensor:
    """softplus(z + log(e - 1)) in float64, which is 1 at z = 0."""
    return F.softplus(logits.double() + math.log(math.e - 1))


class GrapeGated(Bias):
    """-omega_h (j - i) (softplus(v.q_j / sqrt C) + softplus(u.k_i / sqrt C)), v and u of length 1: [B, H, J, I].

    Parameters, separate in each layer: w as in `GrapeAdditive`, float32 [layers, H], initially 0; v and u before
    normalisation to length 1, float32 [layers, H, C], initialised N(0, 1/C).  Queries and keys are those before
    `rotate`.
    """

    def __init__(
        self, *, heads: int, head_dim: int, layers: int, gates: Literal["both", "query", "key"] = "both"
    ) -> None:
        """Draw the parameters; `heads` is H, `head_dim` is C, `gates` names the gates in use."""
        super().__init__()
        if min(heads, head_dim, layers) < 1:
            raise ValueError(f"heads, head_dim and layers must be at least 1, not {heads}, {head_dim} and {layers}")
        if gates not in ("both", "query", "key"):
            raise ValueError(f"gates must be both, query or key, not {gates!r}")
        self.slopes = alibi_slopes(heads)
        self.log_factors = nn.Parameter(torch.zeros(layers, heads))
        self.query_vectors, self.key_vectors = (
            nn.Parameter(torch.randn(layers, heads, head_dim) / head_dim**0.5) if gates in ("both", side) else None
            for side in ("query", "key")
        )

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        distance = pair_distances(query_positions, key_positions)
        slopes_H, query_gates_BHJ, key_gates_BHI = self._gates(content, torch.promote_types(dtype, torch.float32))
        rates_BHJI = query_gates_BHJ[..., :, None] + key_gates_BHI[..., None, :]
        return -slopes_H[:, None, None] * distance * rates_BHJI

    def _gates(self, content: Content, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        """Slopes [H], gates of queries [B, H, J] and gates of keys [B, H, I]; an unused gate is 0."""
        if content.q_BHJC is None or content.k_BHIC is None:
            raise ValueError("gated GRAPE-A reads queries and keys: pass content with q_BHJC and k_BHIC")
        dtype = torch.promote_types(dtype, content.q_BHJC.dtype)
        return (
            learned_slopes(self.log_factors[content.layer], self.slopes).to(dtype),
            _gate(content.q_BHJC, self.query_vectors, content.layer, dtype),
            _gate(content.k_BHIC, self.key_vectors, content.layer, dtype),
        )


def _gate(x_BHLC: Tensor, vectors: Tensor | None, layer: int, dtype: torch.dtype) -> Tensor:
    """softplus(u.x / sqrt C) of each head and token, [B, H, L]; 0 without vectors."""
    if vectors is None:
        return x_BHLC.new_zeros(x_BHLC.shape[:-1], dtype=dtype)
    direction_HC = F.normalize(vectors[layer].to(dtype), dim=-1)
    return F.softplus((x_BHLC.to(dtype) * direction_HC[:, None]).sum(-1) / x_BHLC.shape[-1] ** 0.5)


_ROWS = 256
"""Queries processed at a time."""


class GrapePath(Bias):
    """b(j, i) = sum over tokens l after i, up to j, of m_h log sigma(<R_j p_j, R_l p_l> / d), where p = W x in R^d.

    R_t turns every plane by t; m_h is ALiBi's slope; b is 0 for a key after the query, [B, H, J, I].  Parameter: W,
    float32 [layers, H, d, D], initialised N(0, 1/(4D)). The paper's formula rotates p_l alone, which makes the bias
    depend on where positions begin (claim grape-16).

    Cost: O(T^2 d) operations and T^2 numbers per head.  No state carries over from one query to the next, because all
    edges of a row change with the query: queries and keys are exactly all tokens.
    """

    takes_last_queries = False

    def __init__(self, *, heads: int, width: int, layers: int) -> None:
        """Draw the probes; `heads` is H, `width` is D."""
        super().__init__()
        if min(heads, width, layers) < 1:
            raise ValueError(f"heads, width and layers must be at least 1, not {heads}, {width} and {layers}")
        self.slopes = alibi_slopes(heads)
        self.probes = nn.Parameter(torch.randn(layers, heads, PROBE_DIM, width) / (2 * width**0.5))

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        x_BLD = _input_of(content, "GRAPE-AP", self.probes.shape[-1])
        if query_positions.shape[-1] != x_BLD.shape[1] or not torch.equal(query_positions, key_positions):
            raise ValueError("GRAPE-AP sums over tokens: queries and keys must both be all tokens of the layer's input")
        by_place_BL, place_BL = order_by_position(query_positions, len(x_BLD))
        p_BHLP = torch.einsum("bld,hpd->bhlp", x_BLD, self.probes[content.layer].to(x_BLD))
        p_BHLP = apply_rotary(p_BHLP, _unit(query_positions[..., None, :, None].double()), "interleaved")
        from_last_BHLP = p_BHLP.take_along_dim(by_place_BL.flip(-1)[:, None, :, None], 2)
        from_last_BL = x_BLD.shape[1] - 1 - place_BL
        blocks = []
        for start in range(0, max(x_BLD.shape[1], 1), _ROWS):
            rows = slice(start, start + _ROWS)
            sums = self._row_sums(p_BHLP[:, :, rows], from_last_BHLP, from_last_BL[:, rows])
            blocks.append(sums.take_along_dim(from_last_BL[:, None, None, :], 3).to(dtype))
        return torch.cat(blocks, 2)

    def _row_sums(self, rows_BHJP: Tensor, from_last_BHLP: Tensor, from_last_BJ: Tensor) -> Tensor:
        """Sum of the edges after each place, up to the query's: [B, H, J, L], places counted from the last back."""
        slopes = torch.tensor(self.slopes, dtype=rows_BHJP.dtype, device=rows_BHJP.device)[:, None, None]
        edges = slopes * F.logsigmoid(rows_BHJP @ from_last_BHLP.transpose(-1, -2) / PROBE_DIM)
        places = torch.arange(edges.shape[-1], device=edges.device)
        edges = edges.masked_fill(places < from_last_BJ[:, None, :, None], 0)
        return F.pad(running_sums(edges[..., :-1]), (1, 0))


MODULES = {
    "grape": Grape,
    "grape-commuting": GrapeCommuting,
    "grape-thin": GrapeThin,
    "grape-contextual": GrapeContextual,
    "grape-additive": GrapeAdditive,
    "grape-gated": GrapeGated,
    "grape-path": GrapePath,
}
