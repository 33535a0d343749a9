"""Rotary encodings in torch: RoPE, its variants for longer texts, and the decaying ones.

Formulas and sources: theory/encodings/rotary.py and hope.py.
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
    QueryAndKey,
    Rotation,
    pair_distances,
    require_planes,
    require_positive,
    require_sizes,
    require_width,
)
from lengthgen.empirical.encodings.biases import linear_bias
from lengthgen.empirical.encodings.decay import DecayedScores
from lengthgen.empirical.encodings.tensors import rope_frequencies
from lengthgen.theory.encodings import rotary

Layout = rotary.Layout
Ramp = Literal["paper", "code"]
"""Variable in which gamma is linear: the turns of a plane (paper), or the index of a plane (released code)."""


class Rotary(Rotation):
    """q at position p -> R(p) q, where R(p) turns plane l by p base^(-2l/C); same for keys.  No parameters."""

    stretches_by_plane = False
    """True if planes are slowed differently, the first not at all and the last most: a head then has several."""

    def __init__(self, *, head_dim: int, base: float = 10000.0, layout: Layout = "interleaved") -> None:
        """Set the frequencies; `head_dim` is C, even."""
        super().__init__()
        require_planes(head_dim=head_dim)
        require_positive(base=base)
        if self.stretches_by_plane and head_dim == 2:
            raise ValueError("head_dim must be above 2: one plane cannot be both the fastest and the slowest")
        self.head_dim, self.base, self.layout = head_dim, base, layout

    def frequencies(self, length: int) -> Tensor:
        """Angle by which each plane turns in one position step, in a sequence of this length: float64 [C/2]."""
        return rope_frequencies(self.head_dim, self.base)

    def magnitude(self) -> float:
        """Factor that multiplies queries and keys besides the rotation."""
        return 1.0

    def map_at(self, q_BHLC: Tensor, positions: Tensor, content: Content) -> Callable[[Tensor], Tensor]:
        require_width(q_BHLC, self.head_dim)
        length = int(positions.max()) + 1 if positions.numel() else 0
        frequencies = self.frequencies(length).to(positions.device)
        angles = positions[..., None, :, None] * frequencies  # [1 or B, 1, L, C/2]: broadcasts over heads
        turn = torch.polar(torch.full_like(angles, self.magnitude()), angles)
        return partial(apply_rotary, turn=turn, layout=self.layout)


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


def require_scale(scale: float) -> None:
    """Raise ValueError unless the scale s = new length / trained length is a finite number, at least 1."""
    if not (math.isfinite(scale) and scale >= 1):
        raise ValueError(f"scale must be a finite number, at least 1, not {scale}")


class PositionInterpolation(Rotary):
    """q at position p -> R(p/s) q; same for keys.  Positions stay integers; the frequencies are divided by s.  [P]"""

    def __init__(
        self, *, head_dim: int, scale: float = 2.0, base: float = 10000.0, layout: Layout = "interleaved"
    ) -> None:
        """Set the frequencies; `scale` is s, at least 1."""
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        require_scale(scale)
        self.scale = scale

    def frequencies(self, length: int) -> Tensor:
        """Frequencies base^(-2l/C) / s, the same at every length: float64 [C/2]."""
        return super().frequencies(length) / self.scale


class NTKAware(PositionInterpolation):
    """RoPE with the base b s^(C/(C-2)): plane l is slower than RoPE's by s^(2l/(C-2)).  [P]"""

    stretches_by_plane = True

    def frequencies(self, length: int) -> Tensor:
        """Frequencies base^(-2l/C) s^(-2l/(C-2)), the same at every length: float64 [C/2]."""
        return _slowed(rope_frequencies(self.head_dim, self.base), self.scale)


class DynamicNTK(Rotary):
    """NTK-aware scaling with s = max(1, factor T/L - (factor - 1)) in a sequence of T tokens, L the trained length.

    T is the largest position of the row, plus 1, and all queries and keys of the row are rotated for this T.  A key
    that was rotated when the sequence was shorter has another base, and the relative law fails with it (claim dntk-2):
    a cache must hold unrotated keys.  [P, code: "dynamic" of transformers' modeling_rope_utils]
    """

    stretches_by_plane = True

    def __init__(
        self,
        *,
        head_dim: int,
        trained_length: int,
        factor: float = 1.0,
        base: float = 10000.0,
        layout: Layout = "interleaved",
    ) -> None:
        """Set the frequencies; `head_dim` is C, above 2, `trained_length` is L; with `factor` 1, s is T/L."""
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        require_sizes(trained_length=trained_length)
        require_positive(factor=factor)
        self.trained_length, self.factor = trained_length, factor

    def frequencies(self, length: int) -> Tensor:
        """Frequencies at this length: RoPE's up to the trained length, scaled beyond it: float64 [C/2]."""
        scale = max(1.0, self.factor * length / self.trained_length - (self.factor - 1))
        return _slowed(super().frequencies(length), scale)

    def rotate(self, q_BHLC: Tensor, k_BHLC: Tensor, positions: Tensor, content: Content | None = None) -> QueryAndKey:
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
        """Set the frequencies; `head_dim` is C, `scale` is s, at least 1.

        Planes with at most `alpha` turns are interpolated, those with `beta` or more are kept; 0 < alpha < beta.
        ValueError too if the code's ramp is empty for these numbers.
        """
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        require_scale(scale)
        require_sizes(trained_length=trained_length)
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
        """First and last plane of the code's ramp, between which gamma falls from 1 to 0.

        A plane that turns n times has the fractional index c(n) = C ln(L / (2 pi n)) / (2 ln base).
        """
        if self.base <= 1:
            raise ValueError(f"ramp='code' needs a base above 1, not {self.base}")
        fastest, slowest = (
            self.head_dim * math.log(self.trained_length / (2 * math.pi * turns)) / (2 * math.log(self.base))
            for turns in (self.beta, self.alpha)
        )
        first, last = max(math.floor(fastest), 0), min(math.ceil(slowest), self.head_dim - 1)
        if first >= last:
            raise ValueError(
                f"ramp='code' would fall from plane {first} to plane {last}: trained_length = {self.trained_length} "
                f"does not fit base = {self.base}, alpha = {self.alpha}, beta = {self.beta}"
            )
        return first, last


class XPos(DecayedScores, Rotary):
    """score(j, i) = sum over planes l of zeta_l^((j - i)/512) k_l^T R(j - i) q_l, i <= j; zeta_l = (2l/C + 0.4)/1.4.

    The published code scales queries by zeta^(j/512) and keys by zeta^(-i/512), which overflows (claim xpos-3: float32
    at position 36261; torchscale counts from the middle, so for 72521 tokens).  Here `rotate` only rotates, and
    `scores` computes the decay of a pair from its distance, so any positions are safe.  The price: the logits must be
    computed explicitly.  A key after its query scores 0, because the formula grows without bound there (claim xpos-2).
    """

    def __init__(
        self, *, head_dim: int, base: float = 10000.0, scale_base: float = 512.0, layout: Layout = "interleaved"
    ) -> None:
        """Set frequencies and rates; over `scale_base` positions plane l decays by the factor zeta_l."""
        super().__init__(head_dim=head_dim, base=base, layout=layout)
        require_positive(scale_base=scale_base)
        self.scale_base = scale_base
        self.zetas = tuple(float(rotary.xpos_zeta(plane, head_dim=head_dim)) for plane in range(head_dim // 2))

    def decay_rates(self) -> Tensor:
        """Decay rate -log(zeta) / scale_base of each coordinate's plane: float64 [C]."""
        planes = -torch.tensor(self.zetas, dtype=torch.float64).log() / self.scale_base
        return planes.repeat_interleave(2) if self.layout == "interleaved" else planes.repeat(2)


class SWAT(Rotary, Bias):
    """Weight sigma(logit + s_h (p_j - p_i)) of the keys with p_j - p_i < W, else 0, after RoPE.  No parameters."""

    def __init__(
        self,
        *,
        heads: int,
        head_dim: int,
        slopes: rotary.SwatSlopes = "balanced",
        window: int = 128,
        base: float = 10000.0,
    ) -> None:
        """Set slopes, window W and frequencies; `heads` is H, `head_dim` is C."""
        super().__init__(head_dim=head_dim, base=base)
        require_sizes(window=window)
        self.slopes, self.window = tuple(float(slope) for slope in rotary.swat_slopes(heads, slopes)), window

    def pair_bias(self, query_positions: Tensor, key_positions: Tensor, content: Content, dtype: torch.dtype) -> Tensor:
        slope = torch.tensor(self.slopes, dtype=torch.float64, device=query_positions.device)[:, None, None]
        return linear_bias(-slope, pair_distances(query_positions, key_positions), dtype)

    def normalise(self, logits_BHJI: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Weights [B, H, J, I]: the logistic function within the window, 0 beyond it."""
        beyond = pair_distances(query_positions, key_positions) >= self.window
        return logits_BHJI.masked_fill(beyond, -torch.inf).sigmoid()


class HoPE(DecayedScores):
    """Score of every plane (2l, 2l + 1): e^(-D theta') (S cosh D theta + A sinh D theta), with D = j - i.

    It is computed in the light-cone coordinates q1 + q2 and q1 - q2 as 1/2 (P e^(-D (theta' - theta)) +
    N e^(-D (theta' + theta))), from distances: the paper's separate factors of queries and of keys cancel and overflow
    (claim hope-9).  theta is base^(-2l/C) [P]; theta' is one number for all planes, heads and layers [P].
    """

    def __init__(self, *, head_dim: int, base: float = 10000.0, damping: float = 1.1, learned: bool = True) -> None:
        """Set the rates; `head_dim` is C.

        `damping` is theta', above max theta, or its initial value if it is learned.  Then theta' = max theta +
        softplus(r) with the parameter r, float32 [], which keeps theta' above every theta [F; the paper prints neither
        a value nor a parametrisation].
        """
        super().__init__()
        require_planes(head_dim=head_dim)
        require_positive(base=base)
        self.head_dim, self.base = head_dim, base
        largest = float(self.thetas().max())
        if not (math.isfinite(damping) and damping > largest):
            raise ValueError(f"damping must be a finite number above the largest rate {largest:g}, not {damping}")
        self.fixed_margin = margin = damping - largest
        start = torch.tensor(margin + math.log(-math.expm1(-margin)))
        self.raw_margin = nn.Parameter(start) if learned else None

    def thetas(self) -> Tensor:
        """Rapidity of each plane in one position step: float64 [C/2]."""
        return rope_frequencies(self.head_dim, self.base)

    def margin(self) -> Tensor:
        """theta' - max theta: float64 []."""
        if self.raw_margin is None:
            return torch.tensor(self.fixed_margin, dtype=torch.float64)
        return F.softplus(self.raw_margin.double())

    def decay_rates(self) -> Tensor:
        """theta' - theta of every plane, then theta' + theta: float64 [C].  A small margin is not lost by rounding."""
        margin = self.margin()
        thetas = self.thetas().to(margin.device)
        return torch.cat((margin + (thetas.max() - thetas), margin + (thetas.max() + thetas)))

    def channels(self, q_BHJC: Tensor, k_BHIC: Tensor) -> QueryAndKey:
        wide = torch.promote_types(q_BHJC.dtype, torch.float32)
        return light_cone(q_BHJC.to(wide)) / 2, light_cone(k_BHIC.to(wide))


def light_cone(x_BHLC: Tensor) -> Tensor:
    """x1 + x2 of every plane (x1, x2), then x1 - x2 of every plane: [..., C]."""
    first, second = x_BHLC[..., 0::2], x_BHLC[..., 1::2]
    return torch.cat((first + second, first - second), -1)


MODULES = {
    "rope": Rotary,
    "interpolation": PositionInterpolation,
    "ntk": NTKAware,
    "dynamic-ntk": DynamicNTK,
    "yarn": YaRN,
    "xpos": XPos,
    "swat": SWAT,
    "hope": HoPE,
}
