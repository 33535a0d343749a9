"""Reach of the wavelet vectors: beyond the largest scale they vanish, and far keys are as without an encoding."""

from collections.abc import Callable, Sequence
from typing import Any

import flint
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.enclosing import ball, short
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.wavelet import SOURCE
from lengthgen.proofs_checks.papers.wavelet.vectors import POINT, SLOPE_OF_RICKER, Function, ricker
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import biases, relations

Grid = Callable[[int, int], tuple[tuple[int, int], ...]]
Component = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_SMALL = sp.Rational(1, 10**6)
_WIDTH, _SCALES = 128, 8
_UNDERFLOW = sp.Rational(1, 2**150)
"""Numbers of at most this size are rounded to 0 in float32: half of its least subnormal number."""
_WIDEST = 256
_RANKED = (4, 8, 16, 32)
_BITS = 2048


def far_field(*, psi: Function, widths: int) -> Evidence:
    """Decide that |psi| < 10^-6 from t = `widths` on, so at every D >= b_max + widths a_max, for all grids."""
    if not (ball(psi(sp.Integer(widths))) < ball(_SMALL) and ball(psi(sp.Integer(widths))) > -ball(_SMALL)):
        raise Refuted(f"psi({widths}) = {psi(sp.Integer(widths)).n(4)} is not below 10^-6 in size")
    if widths**2 <= 3:
        raise Refuted(f"psi still falls at t = {widths}")
    scale, shift = sp.symbols("a b", positive=True)
    slack, more = sp.symbols("e f", nonnegative=True)
    reach = max(b + widths * a for a, b in relations.wavelet_grid(_WIDTH, _SCALES))
    facts = (
        require_equal(
            "psi rises for t > sqrt(3): its derivative is t (t^2 - 3) e^(-t^2/2)",
            lambda: derivative(psi(POINT), POINT),
            lambda: SLOPE_OF_RICKER,
        ),
        same_by_sympy("to its limit 0, so that |psi| falls", sp.limit(psi(POINT), POINT, sp.oo), sp.S.Zero),
        f"|psi({widths})| = {short(abs(ball(psi(sp.Integer(widths)))))} < 10^-6, by enclosure",
        require_equal(
            f"at D = b_max + {widths} a_max + f with b_max = b + e, a_max = a + e: t = (D - b)/a is {widths} and more",
            lambda: ((shift + slack) + widths * (scale + slack) + more - shift) / scale - widths,
            lambda: (slack + widths * slack + more) / scale,
        ),
        "so each component is below 10^-6 in size, |q . p| < 10^-6 |q|_1, and the scores of two far keys differ from "
        "those of their contents by less than twice that",
        f"d = {_WIDTH} with {_SCALES} scales: D >= {reach}",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("any scales a > 0 and shifts b >= 0",))


def underflow(*, grid: Grid, distances: Sequence[int]) -> Evidence:
    """Decide that all components at these distances are rounded to 0 in float32, for d = 128 with 8 scales."""
    largest = _require_underflow(grid(_WIDTH, _SCALES), distances)
    return Evidence(
        strength=Strength.INTERVAL,
        facts=(f"the largest component at the distances {distances} is {largest}, below 2^-150",),
        assumptions=("rounding to nearest",),
    )


def _require_underflow(pairs: Sequence[tuple[int, int]], distances: Sequence[int]) -> str:
    """Size of the largest component, as text; raises `Refuted` if one is not rounded to 0 in float32."""
    sizes = []
    for scale, shift in pairs:
        for distance in distances:
            size = abs(ball(ricker(sp.Rational(distance - shift, scale))))
            if not size < ball(_UNDERFLOW):
                raise Refuted(
                    f"distance {distance}: the component with a = {scale}, b = {shift} is {short(size)}, "
                    "not rounded to 0 in float32"
                )
            sizes.append(size)
    return short(max(sizes, key=lambda size: float(size.mid())))


def fixed_scale(*, scales: int, widths: int, distances: Sequence[int]) -> Evidence:
    """Decide that with the scale 1 alone vectors are below 10^-6 from distance d - 1 + `widths` on, for d <= 256."""
    far_field(psi=ricker, widths=widths)
    for width in range(1, _WIDEST + 1):
        reach = max(b + widths * a for a, b in relations.wavelet_grid(width, scales))
        if reach != width - 1 + widths:
            raise Refuted(f"d = {width}: b_max + {widths} a_max = {reach}, not {width - 1 + widths}")
    largest = _require_underflow(relations.wavelet_grid(_WIDTH, scales), distances)
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"d <= {_WIDEST}",
        facts=(
            f"the shifts are 0 .. d - 1 and every scale is 1, so b_max + {widths} a_max = d - 1 + {widths}",
            f"psi is below 10^-6 in size from t = {widths} on (claim wavelet-7)",
            f"d = {_WIDTH}: the largest component at the distances {distances} is {largest}, 0 in float32",
        ),
    )


def independent(*, grid: Grid, component: Component) -> Evidence:
    """Decide that the vectors at the distances 0 .. d - 1 are independent, for some widths and numbers of scales."""
    facts = []
    for width in _RANKED:
        for scales in (1, 2, 4):
            rows = [
                [component(sp.Integer(distance), sp.Integer(a), sp.Integer(b)) for a, b in grid(width, scales)]
                for distance in range(width)
            ]
            _refuse_plain_dependence(rows, f"d = {width}, {scales} scales")
            size = _log_determinant(rows, f"d = {width}, {scales} scales")
            facts.append(f"d = {width}, {scales} scales: the determinant is not 0, its logarithm is {size:.4g}")
    facts.append("so D vectors from distance 0 on have rank min(D, d): the first ones are independent, more than d not")
    return Evidence(
        strength=Strength.INTERVAL,
        facts=tuple(facts),
        assumptions=("Ricker's wavelet",),
    )


def _refuse_plain_dependence(rows: Sequence[Sequence[sp.Expr]], where: str) -> None:
    """Raise `Refuted` if a row is zero or two columns are the same."""
    for distance, row in enumerate(rows):
        if all(entry == 0 for entry in row):
            raise Refuted(f"{where}: the vector at distance {distance} is 0")
    columns = [tuple(row[at] for row in rows) for at in range(len(rows))]
    if len(set(columns)) < len(columns):
        raise Refuted(f"{where}: two coordinates are the same at all distances")


def _log_determinant(rows: Sequence[Sequence[sp.Expr]], where: str) -> float:
    """Logarithm of the size of a determinant that is certainly not 0; raises `Unsettled` if the enclosure holds 0."""
    with flint.ctx.workprec(_BITS):
        entries: list[list[Any]] = [[enclose(entry, bits=_BITS) for entry in row] for row in rows]
        determinant = flint.arb_mat(entries).det()
        if determinant.contains(0):
            raise Unsettled(f"{where}: the enclosure of the determinant contains 0")
        return float(abs(determinant).log().mid())


def windows(*, slopes: Callable[[int], Sequence[sp.Expr]], first: sp.Expr) -> Evidence:
    """Decide that head h of 8 heads of ALiBi has the window 2^(h - 1) times the first one: weight ratio 1/1000."""
    slope, distance = sp.symbols("m D", positive=True)
    window = sp.log(1000) / slope
    lengths = [window.subs(slope, each) for each in slopes(8)]
    for head, length in enumerate(lengths):
        if sp.expand(length - first * 2**head) != 0:
            raise Refuted(f"head {head + 1} of 8: the window is {length.n(6)}, not {(first * 2**head).n(6)}")
    facts = (
        same_by_sympy(
            "the weight at D = log(1000)/m is 1/1000 of that at D = 0, for every slope m",
            sp.exp(biases.alibi_bias(slope, query_position=window, key_position=sp.S.Zero)),
            sp.Rational(1, 1000),
        ),
        require_equal(
            "and it falls with D: the derivative of -m D is -m",
            lambda: derivative(biases.alibi_bias(slope, query_position=distance, key_position=sp.S.Zero), distance),
            lambda: -slope,
        ),
        f"8 heads: {', '.join(f'{float(length):.1f}' for length in lengths)}",
    )
    return Evidence(
        strength=Strength.GENERAL, facts=facts, assumptions=("equal contents, so that weights are e^(-m D)",)
    )


def _grid(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    return relations.wavelet_grid(head_dim, scales)


def _with_more_scales(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    """Grid with four scales more."""
    return relations.wavelet_grid(head_dim, scales + 4)


def _without_shifts(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    return tuple((a, 0) for a, _ in relations.wavelet_grid(head_dim, scales))


def _component(distance: sp.Expr, scale: sp.Expr, shift: sp.Expr) -> sp.Expr:
    return relations.wavelet_component(distance, scale=scale, shift=shift, wavelet=relations.ricker)


def _haar_component(distance: sp.Expr, scale: sp.Expr, shift: sp.Expr) -> sp.Expr:
    return relations.wavelet_component(distance, scale=scale, shift=shift, wavelet=relations.mirrored_haar)


def _slopes(heads: int) -> Sequence[sp.Expr]:
    return biases.alibi_slopes(heads)


CLAIMS = (
    Claim(
        id="wavelet-7",
        source=SOURCE.at("extrapolation; what follows from the formula"),
        statement="From the distance b_max + 6 a_max on, every component of the vectors is below 10^-6, and so is "
        "their share of |q|_1 in a score: far keys are scored as without an encoding. Position information is "
        "extrapolated inside the largest scale alone: up to 782 tokens for d = 128 with 8 scales.",
        latex=r"D\ge b_{\max}+6a_{\max}\Rightarrow|q\cdot p|<10^{-6}\|q\|_1",
        label="F",
        check=far_field,
        holds={"psi": ricker, "widths": 6},
        falsifiers={
            "from b_max + 2 a_max on": {"widths": 2},
            "from b_max + 5 a_max on": {"widths": 5},
            "a wavelet 1/(1 + t^2)": {"psi": lambda point: 1 / (1 + point**2)},
        },
    ),
    Claim(
        id="wavelet-7-float",
        source=SOURCE.at("extrapolation; what follows from the formula"),
        statement="For d = 128 with 8 scales the vectors at the distances 2000 and 3000 are rounded to 0 in float32: "
        "these distances cannot be told apart.",
        latex=r"|p_{2000}|_\infty,|p_{3000}|_\infty<2^{-150}",
        label="F",
        check=underflow,
        holds={"grid": _grid, "distances": (2000, 3000)},
        falsifiers={
            "the distances 200 and 300": {"distances": (200, 300)},
            "four scales more": {"grid": _with_more_scales},
        },
    ),
    Claim(
        id="wavelet-8",
        source=SOURCE.at("single scale; what follows from the formula"),
        statement="With the scale 1 alone and shifts 0 .. d - 1, vectors are below 10^-6 from the distance d + 5 on "
        "(d <= 256), and for d = 128 the distances 200 and 400 are one in float32.",
        latex=r"a=1:\ D\ge d+5\Rightarrow|p_D|_\infty<10^{-6}",
        label="F",
        check=fixed_scale,
        holds={"scales": 1, "widths": 6, "distances": (200, 400)},
        falsifiers={
            "with 8 scales": {"scales": 8},
            "the distances 100 and 130": {"distances": (100, 130)},
            "from d + 1 on": {"widths": 2},
        },
    ),
    Claim(
        id="wavelet-9",
        source=SOURCE.at("what follows from the formula"),
        statement="The vectors of D distances from 0 on have rank min(D, d), for Ricker's wavelet at d = 4, 8, 16, 32 "
        "with 1, 2 and 4 scales.",
        latex=r"\operatorname{rank}(p_0,\dots,p_{D-1})=\min(D,d)",
        label="F",
        check=independent,
        holds={"grid": _grid, "component": _component},
        falsifiers={
            "Haar's wavelet": {"component": _haar_component},
            "every shift 0": {"grid": _without_shifts},
        },
    ),
    Claim(
        id="wavelet-10",
        source=SOURCE.at("windows of ALiBi"),
        statement="With equal contents, head h of 8 heads of ALiBi gives a key 1/1000 of the query's own weight at the "
        "distance 2^h log 1000 = 13.8, 27.6, ..., 1768.4: eight windows, each twice the one before.",
        latex=r"e^{-m_hD}=10^{-3}\iff D=2^h\ln1000",
        label="P",
        check=windows,
        holds={"slopes": _slopes, "first": 2 * sp.log(1000)},
        falsifiers={
            "slopes that begin at 1": {"slopes": lambda heads: [sp.Rational(1, 2**head) for head in range(heads)]},
            "the slopes of 16 heads": {"slopes": lambda heads: biases.alibi_slopes(2 * heads)[:heads]},
        },
    ),
)
