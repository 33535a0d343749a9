"""Wavelet-based positional representation (arXiv 2502.02004): its reading of RoPE, its vectors, and their reach.

RoPE is a transform with Haar-like wavelets that change with the position. The vectors are integrals of Ricker's
wavelet; beyond the largest scale they vanish, and far keys are as without an encoding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import flint
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source, Strength, Unsettled
from lengthgen.proofs_checks.facts import ball, decided_cases, derivative, is_zero, same_by_sympy, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory import far, laws
from lengthgen.theory.encodings import biases, relations, rotary
from lengthgen.theory.encodings.encoding import Encoding, Law
from lengthgen.theory.far import FarField
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="Wavelet-based positional representation", arxiv="2502.02004")

Function = Callable[[sp.Expr], sp.Expr]
Vector = Callable[..., sp.Matrix]
Restricted = Callable[..., sp.Expr]
Turns = Callable[[sp.Expr], sp.Expr]
Grid = Callable[[int, int], tuple[tuple[int, int], ...]]
Component = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

POINT = sp.Symbol("t", real=True)
SLOPE_OF_RICKER = POINT * (POINT**2 - 3) * sp.exp(-(POINT**2) / 2)
"""Derivative of Ricker's wavelet."""
_TRIED = (sp.Integer(0), sp.Rational(1, 2), sp.Integer(1), sp.Integer(2), sp.Integer(3), sp.Integer(40))
_OTHER_RICKER: Mapping[str, Mapping[str, Function]] = {
    "without the bell curve": {"psi": lambda point: 1 - point**2},
    "a cosine": {"psi": sp.cos},
    "twice as tall": {"psi": lambda point: 2 * ricker(point)},
}
_POSITIONS = (3, 57, 300)
_HEAD_DIM = 8
_HALF = sp.Rational(1, 2)
_SMALL = sp.Rational(1, 10**6)
_WIDTH, _SCALES = 128, 8
_UNDERFLOW = sp.Rational(1, 2**150)
"""Numbers of at most this size are rounded to 0 in float32: half of its least subnormal number."""
_WIDEST = 256
_RANKED = (4, 8, 16, 32)
_BITS = 2048


def ricker(point: sp.Expr) -> sp.Expr:
    """Ricker's wavelet of the encoding."""
    return relations.ricker(point, scale=sp.S.One)


def _with_vectors(vector: Vector) -> Encoding:
    """Record with other vectors, given as a function of the positions of query and key."""
    return replace(relations.WAVELET, relative_key=lambda query, key, _: vector(query, key))


def _asymmetry(name: str, vector: Vector) -> str:
    """Fact that a key before the query and one behind it have other vectors. Raises `Refuted` if none is seen."""
    here = dict(zip((*relations.WAVELET_SCALES, *relations.WAVELET_SHIFTS), map(sp.Integer, (1, 2, 1, 1)), strict=True))
    for distance in map(sp.Integer, range(1, 4)):
        before, behind = vector(distance, sp.S.Zero).subs(here), vector(sp.S.Zero, distance).subs(here)
        for entry, other in zip(before, behind, strict=True):
            if not is_zero(entry - other):
                return f"{name}: distance {distance} has {entry}, and -{distance} has {other}, at b = 1"
    raise Refuted(f"{name}: the vectors at the distances 1, 2, 3 are those at -1, -2, -3")


def _antiderivative(point: sp.Expr) -> sp.Expr:
    return point * sp.exp(-(point**2) / 2)


def _half_line(ratio: sp.Expr) -> sp.Expr:
    return ratio * sp.exp(-(ratio**2) / 2)


def _vector(query: sp.Expr, key: sp.Expr, psi: relations.Wavelet) -> sp.Matrix:
    return relations.wavelet_vector(query, key, wavelet=psi)


def _by_position(query: sp.Expr, key: sp.Expr, psi: relations.Wavelet) -> sp.Matrix:
    """Vectors of the query's position."""
    return relations.wavelet_vector(query, sp.S.Zero, wavelet=psi)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "wavelet-4",
    "choice of the wavelet",
    r"\int_{-b/a}^\infty\psi(t)\,dt=\tfrac ba e^{-b^2/2a^2}",
    assumptions=("any scale a > 0 and shift b >= 0, r = b/a",),
    falsifiers={
        "mean 0 over the distances for every shift": {"half_line": lambda ratio: sp.S.Zero},
        "the bell curve": {"psi": lambda point: relations.gaussian(point, scale=sp.S.One)},
        "antiderivative t e^(-t^2)": {"antiderivative": lambda point: point * sp.exp(-(point**2))},
    },
)
def integrals(
    psi: Function = ricker, antiderivative: Function = _antiderivative, half_line: Function = _half_line
) -> Facts:
    """Ricker's wavelet has mean 0, zeros at t = 1 and -1, and its minimum -2 e^(-3/2) at sqrt(3); but the integral over
    the distances D >= 0 that occur is (b/a) e^(-b^2/(2a^2)), which is 0 for the shift 0 alone.

    Decide zeros, minimum and integrals of psi; `half_line` is the integral from t = -r on, a function of r = b/a.
    """
    ratio = sp.Symbol("r", nonnegative=True)
    lowest = -2 * sp.exp(-sp.Rational(3, 2))
    yield "psi is the derivative of the stated function", lambda: derivative(antiderivative(POINT), POINT), psi(POINT)
    yield same_by_sympy("which goes to 0 on the right", sp.limit(antiderivative(POINT), POINT, sp.oo), sp.S.Zero)
    yield same_by_sympy("and on the left, so the mean is 0", sp.limit(antiderivative(POINT), POINT, -sp.oo), sp.S.Zero)
    yield (
        "psi is 0 at t = 1 and t = -1 alone",
        lambda: psi(POINT),
        lambda: (1 - POINT) * (1 + POINT) * sp.exp(-(POINT**2) / 2),
    )
    yield "its derivative is t (t^2 - 3) e^(-t^2/2)", lambda: derivative(psi(POINT), POINT), lambda: SLOPE_OF_RICKER
    yield same_by_sympy("so its minimum is at t = sqrt(3)", psi(sp.sqrt(3)), lowest)
    yield (
        "the integral over the distances D >= 0, so from t = -b/a = -r on, is r e^(-r^2/2)",
        lambda: -antiderivative(-ratio),
        half_line(ratio),
    )
    yield same_by_sympy("which is 0 for r = 0 alone", half_line(ratio) * sp.exp(ratio**2 / 2), ratio)


@CLAIMS.claim(
    "wavelet-5",
    "relative position",
    r"q\cdot p_{m+s,n+s}=q\cdot p_{mn},\quad p_{mn}\ne p_{nm}",
    label="P",
    assumptions=("one plane stands for all: the others differ only in scales and shifts",),
    falsifiers={
        "vectors of the query's position": {"vector": _by_position},
        "vectors of the absolute distance": {
            "vector": lambda query, key, psi: relations.wavelet_vector(sp.Abs(query - key), sp.S.Zero, wavelet=psi)
        },
    },
)
def relative(vector: Vector = _vector) -> Facts:
    """What the vectors add to a score depends on the query's content and on the distance m - n alone, for each of the
    four wavelets; it is not symmetric in the distance.
    """
    for name, psi in relations.WAVELETS.items():
        encoding = _with_vectors(partial(vector, psi=psi))
        ruling = laws.decide_law(encoding, Law.RELATIVE)
        if ruling.holds is None:
            raise Undecided(f"{name}: {ruling.reason}")
        if not ruling.holds:
            raise Refuted(f"{name}: {ruling.reason}")
        yield f"{name}: {ruling.reason}"
        yield _asymmetry(name, partial(vector, psi=psi))


@CLAIMS.claim(
    "wavelet-6",
    "attention field",
    r"|q\cdot p_{mn}|\le\|q\|_1,\quad q\cdot p_{mn}\to0\ (m-n\to\infty)",
    label="P",
    assumptions=("any scales a > 0 and shifts b",),
    falsifiers=_OTHER_RICKER,
)
def bounded(psi: Function = ricker) -> Facts:
    """With Ricker's wavelet a score changes by at most |q|_1/sqrt(d) at every distance, and by a share of it that goes
    to 0 at infinite distance: no key is shut out, where ALiBi's bias goes to minus infinity.
    """
    for point in _TRIED:
        if ball(psi(point)) > 1 or ball(psi(point)) < -1:
            raise Refuted(f"psi({point}) = {psi(point).n(6)} is outside [-1, 1]")
    for end in (sp.oo, -sp.oo):
        limit = sp.limit(psi(POINT), POINT, end)
        if limit != 0:
            raise Refuted(f"psi goes to {limit} at {end}, not to 0")
    half_square = sp.Symbol("u", nonnegative=True)

    def at_scale(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
        return psi(point)

    encoding = _with_vectors(partial(relations.wavelet_vector, wavelet=at_scale))
    behaviours = {
        "the vectors": (far.far_cases(encoding), FarField.CONSTANT),
        "ALiBi's bias": (far.far_cases(biases.ALIBI), FarField.EXPONENTIAL),
    }
    for what, (cases, expected) in behaviours.items():
        if [case.behaviour for case in cases] != [expected]:
            raise Refuted(f"{what}: far keys {far.cases_text(cases)}, not {expected}")
    yield (
        "e^u psi = 1 - 2u with u = t^2/2 >= 0",
        lambda: psi(POINT) * sp.exp(POINT**2 / 2),
        lambda: 1 - 2 * (POINT**2 / 2),
    )
    yield "e^u >= 1 + u + u^2/2 for u >= 0, by its series"
    yield (
        "that minus (1 - 2u) is not negative: psi <= 1",
        lambda: (1 + half_square + half_square**2 / 2) - (1 - 2 * half_square),
        lambda: 3 * half_square + half_square**2 / 2,
    )
    yield (
        "and plus (1 - 2u) is positive: psi > -1",
        lambda: (1 + half_square + half_square**2 / 2) + (1 - 2 * half_square),
        lambda: ((half_square - 1) ** 2 + 3) / 2,
    )
    yield "so each of the d terms of q . p is at most |q_c|, and |q . p| <= |q|_1 at every distance"
    yield "psi goes to 0 on both sides, so q . p goes to 0 for a fixed query, where ALiBi's bias goes to -infinity"


def _compare_rows(psi: Restricted, turns: Turns, shift: Restricted, position: sp.Expr) -> None:
    """Compare the weights with the row of RoPE's matrix at one position, in numbers."""
    count = turns(position)
    if not count.is_positive:
        raise Refuted(f"m = {position}: the wavelet has k = {count} turns, and the shift divides by k")
    for plane, frequency in enumerate(rotary.frequencies(_HEAD_DIM)):
        place = shift(sp.Integer(plane), angle=position * frequency, turns=count)
        row = rotary.rotation(position * frequency).row(0)
        for coordinate in range(_HEAD_DIM):
            weight = sp.N(psi(coordinate - place, turns=count), 30)
            expected = sp.N(row[coordinate - 2 * plane], 30) if coordinate // 2 == plane else sp.S.Zero
            if abs(weight - expected) > sp.Float("1e-20"):
                raise Refuted(
                    f"m = {position}, plane {plane}: x_{coordinate} has the weight {weight.n(6)}, not {expected.n(6)}"
                )


def _swapped(matrix: sp.Matrix) -> sp.Matrix:
    """Matrix with its rows in the other order."""
    return matrix.extract([1, 0], [0, 1])


def _as_printed(matrix: sp.Matrix) -> sp.Matrix:
    """The matrix itself."""
    return matrix


def _psi(point: sp.Expr, *, turns: sp.Expr) -> sp.Expr:
    return relations.restricted_wavelet(point, turns=turns)


def _turns(position: sp.Expr) -> sp.Expr:
    return relations.restricted_turns(position)


def _shift(plane: sp.Expr, *, angle: sp.Expr, turns: sp.Expr) -> sp.Expr:
    return relations.restricted_shift(plane, angle=angle, turns=turns)


def _frequency(plane: sp.Expr | int, *, head_dim: sp.Expr) -> sp.Expr:
    return rotary.frequency(plane, head_dim=head_dim)


def _other_sign(point: sp.Expr, *, turns: sp.Expr) -> sp.Expr:
    """Wavelet with the sine's sign changed."""
    return relations.restricted_wavelet(point, turns=-turns)


@CLAIMS.claim(
    "wavelet-1",
    "RoPE as a wavelet transform",
    r"(R_mx)_{2l}=\sum_t x_t\,\psi_k(t-b_l),\ b_l=2l-\tfrac{m\theta_l}{2\pi k}",
    label="P",
    assumptions=("0 < theta_l <= 1, as in RoPE",),
    falsifiers={
        "k = floor(m/(2 pi)), without 1 more": {"turns": lambda position: sp.floor(position / (2 * sp.pi))},
        "shifts 2l": {"shift": lambda plane, *, angle, turns: 2 * plane},
        "the sine with the other sign": {"psi": _other_sign},
    },
)
def rope_rows(psi: Restricted = _psi, turns: Turns = _turns, shift: Restricted = _shift) -> Facts:
    """Row 2l of RoPE at position m is a transform of the coordinates with a Haar-like wavelet of scale 1 and mean 0,
    with k = floor(m/(2 pi)) + 1 turns and the shift 2l - m theta/(2 pi k): true by the definition of the shift, which
    encodes the angle.
    """
    for position in _POSITIONS:
        _compare_rows(psi, turns, shift, sp.Integer(position))
    position = sp.Symbol("m", positive=True)
    count = sp.Symbol("k", integer=True, positive=True)
    plane, apart = sp.symbols("l e", integer=True, nonnegative=True)
    odds = sp.Symbol("w", nonnegative=True)
    share = odds / (1 + odds)  # any number of [0, 1)
    above = sp.simplify(turns(position).replace(sp.floor, lambda value: value - share) - position / (2 * sp.pi))
    if not above.is_positive:
        raise Refuted(f"k - m/(2 pi) is {above} for the fraction {share} of m/(2 pi), not above 0")
    angle = 2 * sp.pi * count * share
    place = shift(plane, angle=angle, turns=count)

    def weight(coordinate: sp.Expr) -> sp.Expr:
        return decided_cases(psi(sp.expand(coordinate - place), turns=count))

    (cosine, _), (sine, _), *_ = psi(position, turns=count).args
    shifted_sine = sine.subs(position, position + 1)
    yield (
        f"k - m/(2 pi) = {above} > 0 for the fraction {share} of m/(2 pi), and theta <= 1: "
        "m theta = 2 pi k u with 0 <= u < 1"
    )
    yield same_by_sympy("the weight of x_2l is cos m theta", weight(2 * plane), sp.cos(angle))
    yield same_by_sympy("the weight of x_(2l + 1) is -sin m theta", weight(2 * plane + 1), -sp.sin(angle))
    yield same_by_sympy("that of each coordinate before is 0", weight(2 * plane - 1 - apart), sp.S.Zero)
    yield same_by_sympy("that of each coordinate behind is 0", weight(2 * plane + 2 + apart), sp.S.Zero)
    yield same_by_sympy("the mean on [0, 1) is 0", sp.integrate(cosine, (position, 0, 1)), sp.S.Zero)
    yield same_by_sympy("the mean on [1, 2) is 0", sp.integrate(shifted_sine, (position, 0, 1)), sp.S.Zero)
    yield f"compared in numbers at m = {', '.join(map(str, _POSITIONS))} for d = {_HEAD_DIM}"


@CLAIMS.claim(
    "wavelet-2",
    "RoPE as a wavelet transform",
    r"\psi(\tfrac{\alpha}{2\pi})=\cos\alpha\ne\cos 2\alpha=\psi(\tfrac{2\alpha}{4\pi})",
    assumptions=("frequencies theta of (0, 1]",),
    falsifiers={
        "already at the positions 1 and 2": {"positions": (1, 2)},
        "one turn at every position": {"turns": lambda position: sp.S.One},
    },
)
def no_mother(positions: tuple[int, int] = (1, 7), turns: Turns = _turns, shift: Restricted = _shift) -> Facts:
    """RoPE is not a transform with one mother wavelet and these shifts: already at the positions 1 and 7, which have 1
    and 2 turns, the identity asks for two different values at one point, so the wavelet depends on the position.
    """
    angle, other = sp.symbols("alpha beta", real=True)
    counts = [turns(sp.Integer(position)) for position in positions]
    points = [-shift(sp.S.Zero, angle=value, turns=k) for value, k in zip((angle, other), counts, strict=True)]
    (paired,) = sp.solve(points[0] - points[1], other)
    if paired == angle:
        raise Refuted(
            f"m = {positions[0]} and m = {positions[1]} both have k = {counts[0]} and ask for the same function"
        )
    ratio = paired / angle
    largest = sp.Min(positions[0], positions[1] / ratio, 2 * sp.pi / (ratio + 1))
    yield f"m = {positions[0]} and m = {positions[1]} have k = {counts[0]} and k = {counts[1]} turns"
    yield same_by_sympy(
        "psi is taken at one point for the angles alpha and k'/k alpha", points[1].subs(other, paired), points[0]
    )
    yield (
        "and has to be cos alpha and cos(k'/k alpha) there, which differ",
        lambda: sp.cos(angle) - sp.cos(ratio * angle),
        lambda: 2 * sp.sin((ratio + 1) * angle / 2) * sp.sin((ratio - 1) * angle / 2),
    )
    yield f"both sines are positive for 0 < alpha < {largest}, and theta = alpha/m is at most 1 at both positions"


@CLAIMS.claim(
    "wavelet-3",
    "RoPE and the Haar matrix",
    r"\tfrac1{\sqrt2}\begin{pmatrix}1&-1\\1&1\end{pmatrix}=R(\tfrac\pi4),\quad m\ne\tfrac\pi4+2\pi n",
    printed={"arrange": _as_printed},
    falsifiers={
        "the rows as they are": {"arrange": _as_printed},
        "a first frequency of pi/4": {"frequency": lambda plane, *, head_dim: sp.pi / 4},
    },
)
def haar_matrix(
    arrange: Callable[[sp.Matrix], sp.Matrix] = _swapped, frequency: Callable[..., sp.Expr] = _frequency
) -> Facts:
    """Haar's matrix of two coordinates is a reflection; with its rows swapped it is RoPE's rotation by pi/4. No whole
    position turns plane 0, whose frequency is 1, by pi/4, so at no position are the planes of RoPE Haar's matrix
    (errata F18).
    """
    angle, turn = sp.Symbol("t", real=True), sp.Symbol("n", integer=True)
    head_dim = sp.Symbol("d", integer=True, positive=True)
    rotation, arranged = rotary.rotation(sp.pi / 4), arrange(sp.Matrix(relations.HAAR_MATRIX))
    for entry, expected in zip(arranged, rotation, strict=True):
        if not is_zero(entry - expected):
            raise Refuted(f"{arranged.tolist()} is not the rotation {rotation.tolist()}; its det is {arranged.det()}")
    first = frequency(0, head_dim=head_dim)
    position = sp.expand((sp.pi / 4 + 2 * sp.pi * turn) / first)
    if position.subs(turn, 0).is_integer:
        raise Refuted(f"theta_0 = {first}: position m = {position.subs(turn, 0)} turns plane 0 by pi/4")
    odd = sp.expand(4 * position / sp.pi)
    if not odd.is_odd:
        raise Refuted(f"4m/pi = {odd} is not an odd number for every n")
    yield same_by_sympy("det of the Haar matrix", relations.HAAR_MATRIX.det(), sp.Integer(-1))
    yield "det R(t) = 1, so the matrix is a reflection", lambda: rotary.rotation(angle).det(), sp.S.One
    yield "after its rows are swapped it is R(pi/4), entry by entry"
    yield f"theta_0 = {first} for every d, so m theta_0 = pi/4 + 2 pi n has m = {position}"
    yield f"4m/pi = {odd} is odd, so m is pi times a rational number other than 0: irrational (Lambert)"
    yield "so no whole position m has plane 0 at pi/4, and none has all planes there"


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


def _grid(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    return relations.wavelet_grid(head_dim, scales)


def _without_shifts(head_dim: int, scales: int) -> tuple[tuple[int, int], ...]:
    return tuple((a, 0) for a, _ in relations.wavelet_grid(head_dim, scales))


def _component(distance: sp.Expr, scale: sp.Expr, shift: sp.Expr) -> sp.Expr:
    return relations.wavelet_component(distance, scale=scale, shift=shift, wavelet=relations.ricker)


def _haar_component(distance: sp.Expr, scale: sp.Expr, shift: sp.Expr) -> sp.Expr:
    return relations.wavelet_component(distance, scale=scale, shift=shift, wavelet=relations.mirrored_haar)


def _slopes(heads: int) -> Sequence[sp.Expr]:
    return biases.alibi_slopes(heads)


@CLAIMS.claim(
    "wavelet-7",
    "extrapolation; what follows from the formula",
    r"D\ge b_{\max}+6a_{\max}\Rightarrow|q\cdot p|<10^{-6}\|q\|_1",
    assumptions=("any scales a > 0 and shifts b >= 0",),
    falsifiers={
        "from b_max + 2 a_max on": {"widths": 2},
        "from b_max + 5 a_max on": {"widths": 5},
        "a wavelet 1/(1 + t^2)": {"psi": lambda point: 1 / (1 + point**2)},
    },
)
def far_field(psi: Function = ricker, widths: int = 6) -> Facts:
    """From the distance b_max + 6 a_max on, every component of the vectors is below 10^-6, and so is their share of
    |q|_1 in a score: far keys are scored as without an encoding. Position information is extrapolated inside the
    largest scale alone: up to 782 tokens for d = 128 with 8 scales.

    Decide that |psi| < 10^-6 from t = `widths` on, so at every D >= b_max + widths a_max, for all grids.
    """
    if not (ball(psi(sp.Integer(widths))) < ball(_SMALL) and ball(psi(sp.Integer(widths))) > -ball(_SMALL)):
        raise Refuted(f"psi({widths}) = {psi(sp.Integer(widths)).n(4)} is not below 10^-6 in size")
    if widths**2 <= 3:
        raise Refuted(f"psi still falls at t = {widths}")
    scale, shift = sp.symbols("a b", positive=True)
    slack, more = sp.symbols("e f", nonnegative=True)
    reach = max(b + widths * a for a, b in relations.wavelet_grid(_WIDTH, _SCALES))
    yield (
        "psi rises for t > sqrt(3): its derivative is t (t^2 - 3) e^(-t^2/2)",
        lambda: derivative(psi(POINT), POINT),
        lambda: SLOPE_OF_RICKER,
    )
    yield same_by_sympy("to its limit 0, so that |psi| falls", sp.limit(psi(POINT), POINT, sp.oo), sp.S.Zero)
    yield f"|psi({widths})| = {short(abs(ball(psi(sp.Integer(widths)))))} < 10^-6, by enclosure"
    yield (
        f"at D = b_max + {widths} a_max + f with b_max = b + e, a_max = a + e: t = (D - b)/a is {widths} and more",
        lambda: ((shift + slack) + widths * (scale + slack) + more - shift) / scale - widths,
        lambda: (slack + widths * slack + more) / scale,
    )
    yield (
        "so each component is below 10^-6 in size, |q . p| < 10^-6 |q|_1, and the scores of two far keys differ from "
        "those of their contents by less than twice that"
    )
    yield f"d = {_WIDTH} with {_SCALES} scales: D >= {reach}"


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
def underflow(grid: Grid = _grid, distances: Sequence[int] = (2000, 3000)) -> Facts:
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
    falsifiers={
        "with 8 scales": {"scales": 8},
        "the distances 100 and 130": {"distances": (100, 130)},
        "from d + 1 on": {"widths": 2},
    },
)
def fixed_scale(scales: int = 1, widths: int = 6, distances: Sequence[int] = (200, 400)) -> Facts:
    """With the scale 1 alone and shifts 0 .. d - 1, vectors are below 10^-6 from the distance d + 5 on (d <= 256), and
    for d = 128 the distances 200 and 400 are one in float32.

    Decide that with the scale 1 alone vectors are below 10^-6 from distance d - 1 + `widths` on, for d <= 256.
    """
    far_field(psi=ricker, widths=widths)
    for width in range(1, _WIDEST + 1):
        reach = max(b + widths * a for a, b in relations.wavelet_grid(width, scales))
        if reach != width - 1 + widths:
            raise Refuted(f"d = {width}: b_max + {widths} a_max = {reach}, not {width - 1 + widths}")
    largest = _require_underflow(relations.wavelet_grid(_WIDTH, scales), distances)
    yield f"the shifts are 0 .. d - 1 and every scale is 1, so b_max + {widths} a_max = d - 1 + {widths}"
    yield f"psi is below 10^-6 in size from t = {widths} on (claim wavelet-7)"
    yield f"d = {_WIDTH}: the largest component at the distances {distances} is {largest}, 0 in float32"


@CLAIMS.claim(
    "wavelet-9",
    "what follows from the formula",
    r"\operatorname{rank}(p_0,\dots,p_{D-1})=\min(D,d)",
    strength=Strength.INTERVAL,
    assumptions=("Ricker's wavelet",),
    falsifiers={"Haar's wavelet": {"component": _haar_component}, "every shift 0": {"grid": _without_shifts}},
)
def independent(grid: Grid = _grid, component: Component = _component) -> Facts:
    """The vectors of D distances from 0 on have rank min(D, d), for Ricker's wavelet at d = 4, 8, 16, 32 with 1, 2 and
    4 scales.
    """
    for width in _RANKED:
        for scales in (1, 2, 4):
            rows = [
                [component(sp.Integer(distance), sp.Integer(a), sp.Integer(b)) for a, b in grid(width, scales)]
                for distance in range(width)
            ]
            _refuse_plain_dependence(rows, f"d = {width}, {scales} scales")
            size = _log_determinant(rows, f"d = {width}, {scales} scales")
            yield f"d = {width}, {scales} scales: the determinant is not 0, its logarithm is {size:.4g}"
    yield "so D vectors from distance 0 on have rank min(D, d): the first ones are independent, more than d not"


@CLAIMS.claim(
    "wavelet-10",
    "windows of ALiBi",
    r"e^{-m_hD}=10^{-3}\iff D=2^h\ln1000",
    label="P",
    assumptions=("equal contents, so that weights are e^(-m D)",),
    falsifiers={
        "slopes that begin at 1": {"slopes": lambda heads: [sp.Rational(1, 2**head) for head in range(heads)]},
        "the slopes of 16 heads": {"slopes": lambda heads: biases.alibi_slopes(2 * heads)[:heads]},
    },
)
def windows(slopes: Callable[[int], Sequence[sp.Expr]] = _slopes, first: sp.Expr = 2 * sp.log(1000)) -> Facts:
    """With equal contents, head h of 8 heads of ALiBi gives a key 1/1000 of the query's own weight at the distance 2^h
    log 1000 = 13.8, 27.6, ..., 1768.4: eight windows, each twice the one before.
    """
    slope, distance = sp.symbols("m D", positive=True)
    window = sp.log(1000) / slope
    lengths = [window.subs(slope, each) for each in slopes(8)]
    for head, length in enumerate(lengths):
        if sp.expand(length - first * 2**head) != 0:
            raise Refuted(f"head {head + 1} of 8: the window is {length.n(6)}, not {(first * 2**head).n(6)}")
    yield same_by_sympy(
        "the weight at D = log(1000)/m is 1/1000 of that at D = 0, for every slope m",
        sp.exp(biases.alibi_bias(slope, query_position=window, key_position=sp.S.Zero)),
        sp.Rational(1, 1000),
    )
    yield (
        "and it falls with D: the derivative of -m D is -m",
        lambda: derivative(biases.alibi_bias(slope, query_position=distance, key_position=sp.S.Zero), distance),
        lambda: -slope,
    )
    yield f"8 heads: {', '.join(f'{float(length):.1f}' for length in lengths)}"
