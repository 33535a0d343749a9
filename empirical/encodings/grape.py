"""GRAPE in torch: rotations of learned planes (GRAPE-M), and biases with learned slopes, gates and edges (GRAPE-A).

Source: GRAPE, arXiv 2512.07805.  Formulas: theory/encodings/grape.py.
"""

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    Content,
    PairBias,
    PositionEncoding,
    pair_distances,
    require_integers,
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


BASE = 10000.0


class GrapeCommuting(PositionEncoding):
    """q at position p -> E R(p) E^T q, where R(p) turns plane l by p theta_l; same for keys.  Initially it is RoPE.

    This is GRAPE-M on commuting planes.  E = exp(K - K^T) reaches every rotation of the head.  Parameters: the entries
    of K below the diagonal and log(theta_l / RoPE's), float32 [H, C(C-1)/2] and [H, C/2], all initially 0.  Shared by
    layers.  The published runs keep E = I, share frequencies between heads and store their logarithms sixteenfold.
    Their planes are coordinates l and l + C/2 and turn the other way: they are the planes here with the coordinates l +
    C/2 and l.  Their learned gain on queries and keys after the rotation breaks the relative law (claim grape-14): a
    gain belongs before `rotate`.
    """

    def __init__(self, *, heads: int, head_dim: int) -> None:
        """Allocate the parameters; `heads` is H, `head_dim` is C.

        Raises:
            ValueError: heads is below 1, or head_dim not a positive even number.
        """
        super().__init__()
        require_sizes(heads=heads)
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


class GrapeThin(PositionEncoding):
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
        """Draw the parameters; `heads` is H, `head_dim` is C, `rank` is r.

        Raises:
            ValueError: heads is below 1, rank is not a positive even number, or above head_dim.
        """
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
            _rotate_in_subspace(q_BHLC, turn, vectors_Hrr, subspace_HCr),
            _rotate_in_subspace(k_BHLC, turn, vectors_Hrr, subspace_HCr),
        )


def _rotate_in_subspace(x_BHLC: Tensor, turn: Tensor, vectors_Hrr: Tensor, subspace_HCr: Tensor) -> Tensor:
    """x + E (V exp(-ip mu) V^H - I) E^T x, where iS = V mu V^H."""
    wide = torch.promote_types(x_BHLC.dtype, torch.float32)
    complex_wide = torch.promote_types(wide, torch.complex64)
    x, subspace_HCr, vectors_Hrr = x_BHLC.to(wide), subspace_HCr.to(wide), vectors_Hrr.to(complex_wide)
    coordinates = x @ subspace_HCr
    rotated = coordinates.to(complex_wide) @ vectors_Hrr.conj() * turn.to(complex_wide) @ vectors_Hrr.transpose(-1, -2)
    return (x + (rotated.real - coordinates) @ subspace_HCr.transpose(-1, -2)).to(x_BHLC.dtype)


class GrapeContextual(PositionEncoding):
    """Plane l of the token at place t is turned by Phi_t theta_l, Phi_t the sum of w_s over the tokens s before it.

    w = softplus(W x + b + log(e - 1)) of the layer's input, one number per token, shared by heads: initially 1, so that
    the encoding starts as RoPE.  Parameters: W, float32 [layers, D], b, float32 [layers], and log(theta_l / RoPE's),
    float32 [C/2]; all initially 0.  The released code deviates: it intends to start at w = 0.001 but draws W at random,
    and in a later version the link is a sigmoid of a sixteenth, which starts at 0.394.
    """

    def __init__(self, *, width: int, head_dim: int, layers: int) -> None:
        """Allocate the parameters; `width` is D, `head_dim` is C.

        Raises:
            ValueError: width or layers is below 1, or head_dim not a positive even number.
        """
        super().__init__()
        if width < 1 or layers < 1:
            raise ValueError(f"width and layers must be at least 1, not {width} and {layers}")
        self.base_frequencies = rope_frequencies(head_dim)
        self.head_dim = head_dim
        self.weights = nn.Parameter(torch.zeros(layers, width))
        self.offsets = nn.Parameter(torch.zeros(layers))
        self.log_ratios = nn.Parameter(torch.zeros(head_dim // 2))

    def phases(self, positions: Tensor, content: Content | None) -> Tensor:
        """Phases Phi, float64 [B, L]: sums over the earlier tokens in order of position, without the token itself.

        Raises:
            ValueError: positions are not integers, or the layer's input is missing or not D wide.
        """
        require_integers(positions)
        if content is None or content.x_BLD is None:
            raise ValueError("contextual GRAPE-M reads the layer's input: pass content with x_BLD")
        x_BLD = content.x_BLD
        if x_BLD.shape[-1] != self.weights.shape[-1]:
            raise ValueError(f"the layer's input is {x_BLD.shape[-1]} wide, not width = {self.weights.shape[-1]}")
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        logits_BL = x_BLD.to(wide) @ self.weights[content.layer].to(wide) + self.offsets[content.layer].to(wide)
        rates_BL = unit_softplus(logits_BL)
        by_place, place = order_by_position(positions, len(x_BLD))
        ordered = rates_BL.gather(1, by_place)
        return (ordered.cumsum(1) - ordered).gather(1, place)

    def rotate(
        self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None
    ) -> tuple[Tensor, Tensor]:
        """Rotated queries and keys, each [B, H, L, C] in its own dtype, rounded once.

        Phases, angles and their cosines are float64, products at least float32.

        Raises:
            ValueError: see `phases`; or the last axis is not head_dim wide.
        """
        require_width(q_BHLC, self.head_dim)
        base = torch.tensor(self.base_frequencies, dtype=torch.float64, device=q_BHLC.device)
        angles = self.phases(positions, content)[:, None, :, None] * (base * self.log_ratios.double().exp())
        turn = torch.polar(torch.ones_like(angles), angles)
        return apply_rotary(q_BHLC, turn, "interleaved"), apply_rotary(k_BHLC, turn, "interleaved")


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
        """Bias of each triple."""
        slopes = learned_slopes(self.log_factors, self.slopes)
        return linear_bias(slopes[head], query_position - key_position, dtype)


def learned_slopes(logits_H: Tensor, slopes: tuple[float, ...]) -> Tensor:
    """softplus(w_h + log(e - 1)) times the slope of head h: float64 [H]."""
    return unit_softplus(logits_H) * torch.tensor(slopes, dtype=torch.float64, device=logits_H.device)


def unit_softplus(logits: Tensor) -> Tensor:
    """softplus(z + log(e - 1)) in float64, which is 1 at z = 0."""
    return F.softplus(logits.double() + math.log(math.e - 1))


class GrapeGated(PositionEncoding):
    """-omega_h (j - i) (softplus(v.q_j / sqrt C) + softplus(u.k_i / sqrt C)), v and u of length 1.

    Parameters, separate in each layer: w as in `GrapeAdditive`, float32 [layers, H], initially 0; v and u before
    normalisation to length 1, float32 [layers, H, C], initialised N(0, 1/C).  Queries and keys are those before
    `rotate`.

    Snapshots of the released code differ; this is the last one at hand.  In the first, the slope of both gates is
    v.q_j - u.k_i without division by sqrt C, of either sign; in the second it is softplus((v.q_j - u.k_i) / sqrt C).
    Both have omega_h = w_h times ALiBi's slope, initially w_h = 1, of either sign as well.
    """

    def __init__(
        self, *, heads: int, head_dim: int, layers: int, gates: Literal["both", "query", "key"] = "both"
    ) -> None:
        """Draw the parameters; `heads` is H, `head_dim` is C, `gates` names the gates in use.

        Raises:
            ValueError: a size is below 1, or gates is none of the three.
        """
        super().__init__()
        if min(heads, head_dim, layers) < 1:
            raise ValueError(f"heads, head_dim and layers must be at least 1, not {heads}, {head_dim} and {layers}")
        if gates not in ("both", "query", "key"):
            raise ValueError(f"gates must be both, query or key, not {gates!r}")
        self.slopes = alibi_slopes(heads)
        self.log_factors = nn.Parameter(torch.zeros(layers, heads))

        def vectors() -> nn.Parameter:
            return nn.Parameter(torch.randn(layers, heads, head_dim) / head_dim**0.5)

        self.query_vectors = vectors() if gates != "key" else None
        self.key_vectors = vectors() if gates != "query" else None

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], computed at least in float32 and rounded once.

        Raises:
            ValueError: positions are not integers, or queries and keys are missing.
        """
        distance = pair_distances(query_positions, key_positions)
        slopes_H, query_gates_BHJ, key_gates_BHI = self._gates(content, torch.promote_types(dtype, torch.float32))
        rates_BHJI = query_gates_BHJ[..., :, None] + key_gates_BHI[..., None, :]
        return (-slopes_H[:, None, None] * distance * rates_BHJI).to(dtype)

    def _gates(self, content: Content | None, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        """Slopes [H], gates of queries [B, H, J] and gates of keys [B, H, I]; an unused gate is 0."""
        if content is None or content.q_BHJC is None or content.k_BHIC is None:
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


class GrapePath(PositionEncoding):
    """b(j, i) = sum over tokens l after i, up to j, of m_h log sigma(<R_j p_j, R_l p_l> / d), where p = W x in R^d.

    R_t turns every plane by t; m_h is ALiBi's slope.  Parameter: W, float32 [layers, H, d, D], initialised N(0,
    1/(4D)). The paper's formula and code rotate p_l alone, which makes the bias depend on where positions begin (claim
    grape-16), and the code normalises p_l alone.  Here both are rotated and neither is normalised.

    Cost: O(T^2 d) operations and T^2 numbers per head.  No state carries over from one query to the next, because all
    edges of a row change with the query.
    """

    takes_last_queries = False

    def __init__(self, *, heads: int, width: int, layers: int) -> None:
        """Draw the probes; `heads` is H, `width` is D.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        if min(heads, width, layers) < 1:
            raise ValueError(f"heads, width and layers must be at least 1, not {heads}, {width} and {layers}")
        self.slopes = alibi_slopes(heads)
        self.probes = nn.Parameter(torch.randn(layers, heads, PROBE_DIM, width) / (2 * width**0.5))

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias [B, H, J, I], 0 for a key after the query.  Edges and sums are at least float32.

        Raises:
            ValueError: positions are not integers, the layer's input is missing or not D wide, or queries and
                keys are not exactly all its tokens.
        """
        require_integers(query_positions, key_positions)
        if content is None or content.x_BLD is None:
            raise ValueError("GRAPE-AP reads the layer's input: pass content with x_BLD")
        x_BLD = content.x_BLD
        if x_BLD.shape[-1] != self.probes.shape[-1]:
            raise ValueError(f"the layer's input is {x_BLD.shape[-1]} wide, not width = {self.probes.shape[-1]}")
        if query_positions.shape[-1] != x_BLD.shape[1] or not torch.equal(query_positions, key_positions):
            raise ValueError("GRAPE-AP sums over tokens: queries and keys must both be all tokens of the layer's input")
        by_place_BL, place_BL = order_by_position(query_positions, len(x_BLD))
        p_BHLP = self._rotated_probes(x_BLD, query_positions, content.layer)
        from_last_BHLP = p_BHLP.take_along_dim(by_place_BL.flip(-1)[:, None, :, None], 2)
        from_last_BL = x_BLD.shape[1] - 1 - place_BL
        blocks = []
        for start in range(0, max(x_BLD.shape[1], 1), _ROWS):
            rows = slice(start, start + _ROWS)
            sums = self._row_sums(p_BHLP[:, :, rows], from_last_BHLP, from_last_BL[:, rows])
            blocks.append(sums.take_along_dim(from_last_BL[:, None, None, :], 3).to(dtype))
        return torch.cat(blocks, 2)

    def _rotated_probes(self, x_BLD: Tensor, positions: Tensor, layer: int) -> Tensor:
        """Rotated probes R_t W x_t, [B, H, L, d]: angles in float64, the rest at least in float32."""
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        p_BHLP = torch.einsum("bld,hpd->bhlp", x_BLD.to(wide), self.probes[layer].to(wide))
        angles = positions[..., None, :, None].double()
        return apply_rotary(p_BHLP, torch.polar(torch.ones_like(angles), angles), "interleaved")

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
