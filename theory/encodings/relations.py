"""Vectors of a pair of positions, added to the key: learned ones for each label of a relation, or fixed wavelets."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol, get_args

import sympy as sp

from lengthgen.theory.encodings import absolute
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Option, Parameter, Properties, table_start
from lengthgen.theory.relation import clipped_relative, relative

LABEL_VECTORS = "it is a learned vector for each label of its relation, and nothing else of a position"
LABEL_START = table_start(1.0)
"""Start of the vectors of labels; 1 is PyTorch's default for embeddings, and transformers often have 0.02."""

RPE = Encoding(
    name="rpe",
    title="RPE",
    arxiv="1803.02155",
    aliases=("relative", "shaw"),
    summary="relative",
    options=LABEL_START,
    no_formula=LABEL_VECTORS,
    relation=relative(),
)
"""A learned key and value vector for each distance.  Source: Shaw et al., arXiv 1803.02155, eq. 3 and 4."""

CLIPPED = Encoding(
    name="clipped",
    title="clipped RPE",
    arxiv="1803.02155",
    summary="relative, clipped",
    options={"limit": Option(default=8, least=0, most=1_000_000), **LABEL_START},
    no_formula=LABEL_VECTORS,
    relation=clipped_relative(8),
    relation_of=lambda circuit, limit: clipped_relative(limit),
)


WaveletName = Literal["ricker", "haar", "gaussian", "morlet"]
WAVELET_SCALES = sp.symbols("a1 a2", positive=True)
WAVELET_SHIFTS = sp.symbols("b1 b2", integer=True, nonnegative=True)


class Wavelet(Protocol):
    """Function psi of the point t = (D - b)/a; `scale` is a, on which only Morlet's depends."""

    def __call__(self, point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
        """Value psi(t)."""


def ricker(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Ricker's wavelet (1 - t^2) e^(-t^2/2), without the factor 1/sqrt(a).  [P]"""
    return (1 - point**2) * sp.exp(-(point**2) / 2)


def mirrored_haar(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Haar's wavelet of the paper, mirrored: 1 on (0, 1/2], -1 on (1/2, 1], 0 elsewhere.  [P; the sign of t is ours]

    The paper gives it for negative t, 1 on [-1/2, 0) and -1 on [-1, -1/2), but defines t = (m - n - b)/a >= 0 as well.
    """
    return -absolute.haar_wavelet(1 - point)


def gaussian(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Gaussian e^(-t^2), which is no wavelet: its mean is not zero.  [P]"""
    return sp.exp(-(point**2))


def morlet(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
    """Morlet's wavelet e^(-t^2) cos(a t), read with the scale a.  [P; the reading is ours]"""
    return sp.exp(-(point**2)) * sp.cos(scale * point)


WAVELETS: Mapping[str, Wavelet] = {"ricker": ricker, "haar": mirrored_haar, "gaussian": gaussian, "morlet": morlet}
"""Value of the option `wavelet` -> function psi."""


def wavelet_component(distance: sp.Expr, *, scale: sp.Expr, shift: sp.Expr, wavelet: Wavelet) -> sp.Expr:
    """Component psi((D - b)/a) of the vector at distance D.  [P]"""
    return wavelet((distance - shift) / scale, scale=scale)


def wavelet_grid(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    """Scale a and shift b of each coordinate: c has a = 2^(c mod s) and b = floor(c/s).

    If s divides d these are the scales 1 .. 2^(s-1) with the shifts 0 .. d/s - 1.  [P]  The order does not matter,
    because the projections of queries and keys are free; other widths cut the last shift short.  [F]
    """
    return tuple((2 ** (at % scales), at // scales) for at in range(head_dim))


def wavelet_vector(query_position: sp.Expr, key_position: sp.Expr, *, wavelet: Wavelet) -> sp.Matrix:
    """Vector p of one plane, 2 x 1: the components with scales a1, a2 and shifts b1, b2.  [P]"""
    distance = query_position - key_position
    grid_of_plane = zip(WAVELET_SCALES, WAVELET_SHIFTS, strict=True)
    return sp.Matrix([wavelet_component(distance, scale=a, shift=b, wavelet=wavelet) for a, b in grid_of_plane])


def restricted_wavelet(point: sp.Expr, *, turns: sp.Expr) -> sp.Expr:
    """Wavelet of the paper's reading of RoPE: cos(2 pi k t) on [0, 1), -sin(2 pi k (t - 1)) on [1, 2), 0 elsewhere.

    [P; k is `turns`]
    """
    return sp.Piecewise(
        (sp.cos(2 * sp.pi * turns * point), (point >= 0) & (point < 1)),
        (-sp.sin(2 * sp.pi * turns * (point - 1)), (point >= 1) & (point < 2)),
        (0, True),
    )


def restricted_turns(position: sp.Expr) -> sp.Expr:
    """Number k = floor(m/(2 pi)) + 1 of turns of the wavelet at position m.  [P]"""
    return sp.floor(position / (2 * sp.pi)) + 1


def restricted_shift(plane: sp.Expr, *, angle: sp.Expr, turns: sp.Expr) -> sp.Expr:
    """Shift b = 2l - m theta/(2 pi k) of plane l, whose coordinates are 2l and 2l + 1; `angle` is m theta.  [P]"""
    return 2 * plane - angle / (2 * sp.pi * turns)


HAAR_MATRIX = sp.ImmutableMatrix([[1, 1], [1, -1]]) / sp.sqrt(2)
"""Matrix of the Haar transform of two coordinates: mean, then difference, times sqrt(2).  [P]"""


def _wavelet_values(module: Any, head: int, plane: int) -> dict[sp.Symbol, int]:
    """Scales and shifts of one plane of the module."""
    pairs = wavelet_grid(module.head_dim, module.scales)[2 * plane : 2 * plane + 2]
    return dict(zip(WAVELET_SCALES, (a for a, _ in pairs), strict=True)) | dict(
        zip(WAVELET_SHIFTS, (b for _, b in pairs), strict=True)
    )


WAVELET = Encoding(
    name="wavelet",
    title="Wavelet",
    arxiv="2502.02004",
    summary="wavelets of the distance (Wavelet)",
    options={
        "wavelet": Option(default="ricker", words=get_args(WaveletName)),
        "scales": Option(default=8, least=1, most=32),
    },
    caveat=f"{ONE_LAW}; its vectors vanish beyond the largest scale",
    repeats="its vectors vanish beyond the largest scale",
    parameters=(
        *(Parameter(scale, "scale of a coordinate of the plane, from `wavelet_grid`") for scale in WAVELET_SCALES),
        *(Parameter(shift, "shift of a coordinate of the plane, from `wavelet_grid`") for shift in WAVELET_SHIFTS),
    ),
    relative_key=lambda query_position, key_position, _: wavelet_vector(query_position, key_position, wavelet=ricker),
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    properties=Properties(far="constant", width="none"),
    values=_wavelet_values,
)
"""Wavelet-based representation; the formulas are those of the default wavelet, and `WAVELETS` has the others.

Source: Oka, Hasegawa, Nishida and Saito, arXiv 2502.02004: e = q . (k + p) / sqrt(d), and the component of p with scale
a and shift b is psi((m - n - b)/a) for the query at m and the key at n.  Here the query is at j and the key at i, and
D = j - i.  The vectors are fixed, and all heads and layers share them.
"""

ENCODINGS = (RPE, CLIPPED, WAVELET)
