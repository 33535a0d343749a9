"""Vectors of wavelets: integrals of Ricker's wavelet, and how far keys are scored as without an encoding."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import flint
import sympy as sp

from lengthgen.proofs_checks.claim import Strength, Unsettled
from lengthgen.proofs_checks.facts import Formula, ball, derivative, same_by_sympy, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.wavelet import SOURCE, ricker, t
from lengthgen.theory.encodings import relations
from lengthgen.theory.zero.enclosure import enclose

CLAIMS = PaperClaims(SOURCE)
Grid = Callable[[int, int], Sequence[tuple[int, int]]]
SLOPE_OF_RICKER = t * (t**2 - 3) * sp.exp(-(t**2) / 2)
"""Derivative of Ricker's wavelet."""
_SMALL = sp.Rational(1, 10**6)
_WIDTH, _SCALES = 128, 8
_UNDERFLOW = sp.Rational(1, 2**150)
"""Numbers of at most this size are rounded to 0 in float32: half of its least subnormal number."""
_WIDEST = 256
_BITS = 2048


@CLAIMS.claim(
    "wavelet-4",
    "choice of the wavelet",
    r"\int_{-b/a}^\infty\psi(t)\,dt=\tfrac ba e^{-b^2/2a^2}",
    assumptions=("any scale a > 0 and shift b >= 0, r = b/a; t = (D - b)/a",),
    falsifiers={
        "mean 0 over the distances for every shift": {"half_line": lambda ratio: sp.S.Zero},
        "the bell curve": {"psi": lambda point: relations.gaussian(point, scale=sp.S.One)},
        "antiderivative t e^(-t^2)": {"antiderivative": lambda point: point * sp.exp(-(point**2))},
    },
)
def integrals(
    psi: Formula = ricker,
    antiderivative: Formula = lambda point: point * sp.exp(-(point**2) / 2),
    half_line: Formula = lambda ratio: ratio * sp.exp(-(ratio**2) / 2),
) -> Facts:
    """Ricker's wavelet has mean 0, zeros at t = 1 and -1, and its minimum -2 e^(-3/2) at sqrt(3) and -sqrt(3); but from
    t = -b/a on, which the distances D >= 0 reach, its integral is (b/a) e^(-b^2/(2a^2)), 0 for the shift 0 alone.

    `half_line` is the integral of psi from t = -r on, a function of r = b/a.
    """
    r, primitive = sp.Symbol("r", nonnegative=True), antiderivative(t)
    yield "psi is the derivative of the stated function", lambda: derivative(antiderivative(t), t), psi(t)
    yield same_by_sympy("which goes to 0 on the right", sp.limit(primitive, t, sp.oo), sp.S.Zero)
    yield same_by_sympy("and on the left, so the mean is 0", sp.limit(primitive, t, -sp.oo), sp.S.Zero)
    yield "psi is 0 at t = 1 and t = -1 alone", lambda: psi(t), lambda: (1 - t) * (1 + t) * sp.exp(-(t**2) / 2)
    yield "its derivative is t (t^2 - 3) e^(-t^2/2)", lambda: derivative(psi(t), t), lambda: SLOPE_OF_RICKER
    yield same_by_sympy("so its minimum is at t = sqrt(3)", psi(sp.sqrt(3)), -2 * sp.exp(-sp.Rational(3, 2)))
    over_distances = "the integral over the distances D >= 0, so from t = -b/a = -r on, is r e^(-r^2/2)"
    yield over_distances, lambda: -antiderivative(-r), half_line(r)
    yield same_by_sympy("which is 0 for r = 0 alone", half_line(r) * sp.exp(r**2 / 2), r)


def _reach(grid: Iterable[tuple[int, int]], widths: int) -> int:
    """Largest b + widths a."""
    return max(b + widths * a for a, b in grid)


def _require_underflow(pairs: Sequence[tuple[int, int]], distances: Sequence[int]) -> str:
    """Size of the largest component, as text; raises `Refuted` if one is not rounded to 0 in float32."""
    sizes = []
    for scale, shift in pairs:
        for distance in distances:
            size = abs(ball(ricker(sp.Rational(distance - shift, scale))))
            component = f"the component with a = {scale}, b = {shift} is {short(size)}"
            small = size < ball(_UNDERFLOW)
            refute(not small, f"distance {distance}: {component}, not rounded to 0 in float32")
            sizes.append(size)
    return short(max(sizes, key=lambda size: float(size.mid())))


@CLAIMS.claim(
    "wavelet-7",
    "extrapolation; what follows from the formula",
    r"D\ge b_{\max}+6a_{\max}\Rightarrow|q\cdot p|<10^{-6}\|q\|_1",
    assumptions=("any scales a > 0 and shifts b >= 0",),
    answers=("first",),
    falsifiers={
        "from b_max + 2 a_max on": {"widths": 2},
        "from b_max + 5 a_max on": {"widths": 5},
        "a wavelet 1/(1 + t^2)": {"psi": lambda point: 1 / (1 + point**2)},
    },
)
def far_field(psi: Formula = ricker, widths: int = 6, first: int = 783) -> Facts:
    """From the distance b_max + 6 a_max on, every component of the vectors is below 10^-6, and so is their share of
    |q|_1 in a score: but for that, far keys are scored as without an encoding. For d = 128 with 8 scales this begins at
    the distance 783 or before.
    """
    edge = psi(sp.Integer(widths))
    refute(not abs(ball(edge)) < ball(_SMALL), f"psi({widths}) = {edge.n(4)} is not below 10^-6 in size")
    refute(widths**2 <= 3, f"psi still falls at t = {widths}")
    a, b = sp.symbols("a b", positive=True)
    e, f = sp.symbols("e f", nonnegative=True)
    rises = "psi rises for t > sqrt(3): its derivative is t (t^2 - 3) e^(-t^2/2)"
    yield rises, lambda: derivative(psi(t), t), lambda: SLOPE_OF_RICKER
    yield same_by_sympy("to its limit 0, so that |psi| falls", sp.limit(psi(t), t, sp.oo), sp.S.Zero)
    yield f"|psi({widths})| = {short(abs(ball(edge)))} < 10^-6, by enclosure"
    yield (
        f"every D >= b_max + {widths} a_max is (b + e) + {widths} (a + e) + f for some e, f >= 0, as for e = 0: "
        f"t = (D - b)/a is {widths} and more",
        lambda: ((b + e) + widths * (a + e) + f - b) / a - widths,
        lambda: (e + widths * e + f) / a,
    )
    yield (
        "so each component is below 10^-6 in size, |q . p| < 10^-6 |q|_1, and the scores of two far keys differ from "
        "those of their contents by less than twice that"
    )
    reach, where = _reach(relations.wavelet_grid(_WIDTH, _SCALES), widths), f"d = {_WIDTH} with {_SCALES} scales"
    refute(reach != first, f"{where}: b_max + {widths} a_max is {reach}, not {first}")
    yield f"{where}: D >= {reach}"


@CLAIMS.claim(
    "wavelet-7-float",
    "extrapolation; what follows from the formula",
    r"|p_{2000}|_\infty,|p_{3000}|_\infty<2^{-150}",
    strength=Strength.INTERVAL,
    assumptions=("rounding to nearest",),
    falsifiers={
        "the distances 200 and 300": {"distances": (200, 300)},
        "four scales more": {"grid": lambda head_dim, scales: relations.wavelet_grid(head_dim, scales + 4)},
    },
)
def underflow(grid: Grid = relations.wavelet_grid, distances: Sequence[int] = (2000, 3000)) -> Facts:
    """For d = 128 with 8 scales the vectors at the distances 2000 and 3000 are rounded to 0 in float32: these distances
    cannot be told apart.
    """
    largest = _require_underflow(grid(_WIDTH, _SCALES), distances)
    yield f"the largest component at the distances {distances} is {largest}, below 2^-150"


@CLAIMS.claim(
    "wavelet-8",
    "single scale; what follows from the formula",
    r"a=1:\ D\ge d+5\Rightarrow|p_D|_\infty<10^{-6}",
    strength=Strength.BOUNDED,
    reach=f"d <= {_WIDEST}",
    assumptions=("rounding to nearest",),
    falsifiers={
        "with 8 scales": {"scales": 8},
        "the distances 100 and 130": {"distances": (100, 130)},
        "from d + 1 on": {"widths": 2},
    },
)
def fixed_scale(scales: int = 1, widths: int = 6, distances: Sequence[int] = (200, 400)) -> Facts:
    """With the scale 1 alone and shifts 0 .. d - 1, vectors are below 10^-6 from the distance d + 5 on (d <= 256), and
    for d = 128 the distances 200 and 400 are one in float32.
    """
    far_field(psi=ricker, widths=widths)
    for width in range(1, _WIDEST + 1):
        reach = _reach(relations.wavelet_grid(width, scales), widths)
        wanted = width - 1 + widths
        refute(reach != wanted, f"d = {width}: b_max + {widths} a_max = {reach}, not {wanted}")
    largest = _require_underflow(relations.wavelet_grid(_WIDTH, scales), distances)
    yield f"the shifts are 0 .. d - 1 and every scale is 1, so b_max + {widths} a_max = d - 1 + {widths}"
    yield f"psi is below 10^-6 in size from t = {widths} on (claim wavelet-7)"
    yield f"d = {_WIDTH}: the largest component at the distances {distances} is {largest}, 0 in float32"


def _log_determinant(rows: Sequence[Sequence[sp.Expr]], where: str) -> float:
    """Logarithm of the size of a determinant that is certainly not 0.

    Raises `Refuted` if a row is zero or two columns are the same, and `Unsettled` if the enclosure contains 0.
    """
    for distance, row in enumerate(rows):
        refute(not any(row), f"{where}: the vector at distance {distance} is 0")
    alike = len({*zip(*rows, strict=True)}) < len(rows)
    refute(alike, f"{where}: two coordinates are the same at all distances")
    with flint.ctx.workprec(_BITS):
        entries: list[list[Any]] = [[enclose(entry, bits=_BITS) for entry in row] for row in rows]
        determinant = flint.arb_mat(entries).det()
        if determinant.contains(0):
            raise Unsettled(f"{where}: the enclosure of the determinant contains 0")
        return float(abs(determinant).log().mid())


@CLAIMS.claim(
    "wavelet-9",
    "what follows from the formula",
    r"\operatorname{rank}(p_0,\dots,p_{D-1})=\min(D,d)",
    strength=Strength.INTERVAL,
    assumptions=("Ricker's wavelet",),
    falsifiers={
        "Haar's wavelet": {"psi": relations.mirrored_haar},
        "every shift 0": {
            "grid": lambda head_dim, scales: [(a, 0) for a, _ in relations.wavelet_grid(head_dim, scales)]
        },
    },
)
def independent(grid: Grid = relations.wavelet_grid, psi: relations.Wavelet = relations.ricker) -> Facts:
    """The vectors of D distances from 0 on have rank min(D, d), for Ricker's wavelet at d = 4, 8, 16, 32 with 1, 2 and
    4 scales.
    """
    for width in (4, 8, 16, 32):
        for scales in (1, 2, 4):
            where = f"d = {width}, {scales} scales"
            pairs = [{"scale": sp.Integer(a), "shift": sp.Integer(b)} for a, b in grid(width, scales)]
            rows = [
                [relations.wavelet_component(sp.Integer(distance), **pair, wavelet=psi) for pair in pairs]
                for distance in range(width)
            ]
            yield f"{where}: the determinant is not 0, its logarithm is {_log_determinant(rows, where):.4g}"
    yield "so D vectors from distance 0 on have rank min(D, d): the first ones are independent, more than d not"
