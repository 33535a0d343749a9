"""Wavelet-based positional representation (arXiv 2502.02004): its reading of RoPE, its vectors, windows of ALiBi."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import Formula, ball, decided_cases, derivative, is_zero, same_by_sympy
from lengthgen.proofs_checks.formulas import alibi
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory import far, laws
from lengthgen.theory.encodings import biases, relations, rotary
from lengthgen.theory.encodings.encoding import Encoding, Law
from lengthgen.theory.far import FarField
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="Wavelet-based positional representation", arxiv="2502.02004")
CLAIMS = PaperClaims(SOURCE)
t = sp.Symbol("t", real=True)
_POSITIONS = (3, 57, 300)
_HEAD_DIM = 8


def ricker(point: sp.Expr) -> sp.Expr:
    """Ricker's wavelet of the encoding."""
    return relations.ricker(point, scale=sp.S.One)


def _with_vectors(vector: Formula) -> Encoding:
    """Record with other vectors, given as a function of the positions of query and key."""
    return replace(relations.WAVELET, relative_key=lambda query, key, _: vector(query, key))


def _asymmetry(name: str, vector: Formula) -> str:
    """Fact that a key before the query and one behind it have other vectors. Raises `Refuted` if none is seen."""
    here = dict(zip((*relations.WAVELET_SCALES, *relations.WAVELET_SHIFTS), map(sp.Integer, (1, 2, 1, 1)), strict=True))
    for distance in map(sp.Integer, range(1, 4)):
        before, behind = vector(distance, sp.S.Zero).subs(here), vector(sp.S.Zero, distance).subs(here)
        for entry, other in zip(before, behind, strict=True):
            if not is_zero(entry - other):
                return f"{name}: distance {distance} has {entry}, and -{distance} has {other}, at b = 1"
    raise Refuted(f"{name}: the vectors at the distances 1, 2, 3 are those at -1, -2, -3")


@CLAIMS.claim(
    "wavelet-5",
    "relative position",
    r"q\cdot p_{m+s,n+s}=q\cdot p_{mn},\quad b=1:\ p_{mn}\ne p_{nm}",
    label="P",
    assumptions=(
        "one plane stands for all: the others differ only in scales and shifts",
        "not symmetric: the vector with the scales 1 and 2",
    ),
    falsifiers={
        "vectors of the query's position": {"vector": lambda m, n, **psi: relations.wavelet_vector(m, 0 * n, **psi)},
        "vectors of the absolute distance": {
            "vector": lambda m, n, **psi: relations.wavelet_vector(sp.Abs(m - n), sp.S.Zero, **psi)
        },
    },
)
def relative(vector: Formula = relations.wavelet_vector) -> Facts:
    """What the vectors add to a score depends on the query's content and on the distance m - n alone, for each of the
    four wavelets; it need not be symmetric in the distance, and with the shift b = 1 it is not.
    """
    for name, psi in relations.WAVELETS.items():
        ruling = laws.decide_law(_with_vectors(partial(vector, wavelet=psi)), Law.RELATIVE)
        if ruling.holds is None:
            raise Undecided(f"{name}: {ruling.reason}")
        refute(not ruling.holds, f"{name}: {ruling.reason}")
        yield f"{name}: {ruling.reason}"
        yield _asymmetry(name, partial(vector, wavelet=psi))


@CLAIMS.claim(
    "wavelet-6",
    "attention field",
    r"|q\cdot p_{mn}|\le\|q\|_1,\quad q\cdot p_{mn}\to0\ (m-n\to\infty)",
    label="P",
    assumptions=("any scales a > 0 and shifts b",),
    falsifiers={
        "without the bell curve": {"psi": lambda point: 1 - point**2},
        "a cosine": {"psi": sp.cos},
        "twice as tall": {"psi": lambda point: 2 * ricker(point)},
    },
)
def bounded(psi: Formula = ricker) -> Facts:
    """With Ricker's wavelet a score changes by at most |q|_1/sqrt(d) at every distance, and by a share of it that goes
    to 0 at infinite distance: no key is shut out, where ALiBi's bias goes to minus infinity.
    """
    for point in map(sp.Rational, ("0", "1/2", "1", "2", "3", "40")):
        outside = ball(psi(point)) > 1 or ball(psi(point)) < -1
        refute(outside, f"psi({point}) = {psi(point).n(6)} is outside [-1, 1]")
    for end in (sp.oo, -sp.oo):
        limit = sp.limit(psi(t), t, end)
        refute(limit != 0, f"psi goes to {limit} at {end}, not to 0")
    vectors = _with_vectors(partial(relations.wavelet_vector, wavelet=lambda point, scale: psi(point)))
    for what, encoding, expected in (
        ("the vectors", vectors, FarField.CONSTANT),
        ("ALiBi's bias", biases.ALIBI, FarField.EXPONENTIAL),
    ):
        cases = far.far_cases(encoding)
        wrong = [case.behaviour for case in cases] != [expected]
        refute(wrong, f"{what}: far keys {far.cases_text(cases)}, not {expected}")
    u = sp.Symbol("u", nonnegative=True)
    yield "e^u psi = 1 - 2u with u = t^2/2 >= 0", lambda: psi(t) * sp.exp(t**2 / 2), lambda: 1 - 2 * (t**2 / 2)
    yield "e^u >= 1 + u + u^2/2 for u >= 0, by its series"
    below, above = "that minus (1 - 2u) is not negative: psi <= 1", "and plus (1 - 2u) is positive: psi > -1"
    yield below, lambda: (1 + u + u**2 / 2) - (1 - 2 * u), lambda: 3 * u + u**2 / 2
    yield above, lambda: (1 + u + u**2 / 2) + (1 - 2 * u), lambda: ((u - 1) ** 2 + 3) / 2
    yield "so each of the d terms of q . p is at most |q_c|, and |q . p| <= |q|_1 at every distance"
    yield "psi goes to 0 on both sides, so q . p goes to 0 for a fixed query, where ALiBi's bias goes to -infinity"


def _compare_rows(psi: Formula, turns: Formula, shift: Formula, position: sp.Expr) -> None:
    """Compare the weights with the row of RoPE's matrix at one position, in numbers."""
    count = turns(position)
    refute(not count.is_positive, f"m = {position}: the wavelet has k = {count} turns, and the shift divides by k")
    for plane, frequency in enumerate(rotary.frequencies(_HEAD_DIM)):
        place = shift(sp.Integer(plane), angle=position * frequency, turns=count)
        row = rotary.rotation(position * frequency).row(0)
        for coordinate in range(_HEAD_DIM):
            weight = sp.N(psi(coordinate - place, turns=count), 30)
            expected = sp.N(row[coordinate - 2 * plane], 30) if coordinate // 2 == plane else sp.S.Zero
            differs = f"x_{coordinate} has the weight {weight.n(6)}, not {expected.n(6)}"
            refute(abs(weight - expected) > sp.Float("1e-20"), f"m = {position}, plane {plane}: {differs}")


@CLAIMS.claim(
    "wavelet-1",
    "RoPE as a wavelet transform",
    r"(R_mx)_{2l}=\sum_t x_t\,\psi_k(t-b_l),\ b_l=2l-\tfrac{m\theta_l}{2\pi k}",
    label="P",
    assumptions=("0 < theta_l <= 1, as in RoPE",),
    falsifiers={
        "k = floor(m/(2 pi)), without 1 more": {"turns": lambda position: sp.floor(position / (2 * sp.pi))},
        "shifts 2l": {"shift": lambda plane, *, angle, turns: 2 * plane},
        "the sine with the other sign": {"psi": lambda t, turns: relations.restricted_wavelet(t, turns=-turns)},
    },
)
def rope_rows(
    psi: Formula = relations.restricted_wavelet,
    turns: Formula = relations.restricted_turns,
    shift: Formula = relations.restricted_shift,
) -> Facts:
    """Row 2l of RoPE at position m is a transform of the coordinates with a Haar-like wavelet of scale 1 and mean 0,
    with k = floor(m/(2 pi)) + 1 turns and the shift 2l - m theta/(2 pi k): true by the definition of the shift, which
    encodes the angle.
    """
    for at in _POSITIONS:
        _compare_rows(psi, turns, shift, sp.Integer(at))
    position, count = sp.Symbol("m", positive=True), sp.Symbol("k", integer=True, positive=True)
    plane, apart = sp.symbols("l e", integer=True, nonnegative=True)
    odds = sp.Symbol("w", nonnegative=True)
    share = odds / (1 + odds)  # any number of [0, 1)
    above = sp.simplify(turns(position).replace(sp.floor, lambda value: value - share) - position / (2 * sp.pi))
    refute(not above.is_positive, f"k - m/(2 pi) is {above} for the fraction {share} of m/(2 pi), not above 0")
    angle = 2 * sp.pi * count * share
    place = shift(plane, angle=angle, turns=count)
    (cosine, _), (sine, _), *_ = psi(position, turns=count).args
    yield (
        f"k - m/(2 pi) = {above} > 0 for the fraction {share} of m/(2 pi), and theta <= 1: "
        "m theta = 2 pi k u with 0 <= u < 1"
    )
    for name, coordinate, expected in (
        ("the weight of x_2l is cos m theta", 2 * plane, sp.cos(angle)),
        ("the weight of x_(2l + 1) is -sin m theta", 2 * plane + 1, -sp.sin(angle)),
        ("that of each coordinate before is 0", 2 * plane - 1 - apart, sp.S.Zero),
        ("that of each coordinate behind is 0", 2 * plane + 2 + apart, sp.S.Zero),
    ):
        yield same_by_sympy(name, decided_cases(psi(sp.expand(coordinate - place), turns=count)), expected)
    for interval, part in (("[0, 1)", cosine), ("[1, 2)", sine.subs(position, position + 1))):
        yield same_by_sympy(f"the mean on {interval} is 0", sp.integrate(part, (position, 0, 1)), sp.S.Zero)
    yield f"compared in numbers at m = {', '.join(map(str, _POSITIONS))} for d = {_HEAD_DIM}"


@CLAIMS.claim(
    "wavelet-2",
    "RoPE as a wavelet transform",
    r"\psi(\tfrac{4}{2\pi})=\cos4\ne\cos8=\psi(\tfrac{8}{4\pi})",
    falsifiers={
        "already at the positions 1 and 2": {"positions": (1, 2)},
        "at the positions 1 and 7": {"positions": (1, 7)},
        "one turn at every position": {"turns": lambda position: sp.S.One},
    },
)
def no_mother(
    positions: tuple[int, int] = (4, 8),
    turns: Formula = relations.restricted_turns,
    shift: Formula = relations.restricted_shift,
) -> Facts:
    """RoPE is not a transform with one mother wavelet and these shifts: plane 0, whose frequency is 1 at every width
    and base, asks at the positions 4 and 8, which have 1 and 2 turns, for two different values at one point, so the
    wavelet depends on the position.
    """
    angle, other = sp.symbols("alpha beta", real=True)
    counts = [turns(sp.Integer(position)) for position in positions]
    points = [-shift(sp.S.Zero, angle=value, turns=k) for value, k in zip((angle, other), counts, strict=True)]
    (paired,) = sp.solve(points[0] - points[1], other)
    both = f"m = {positions[0]} and m = {positions[1]}"
    refute(paired == angle, f"{both} both have k = {counts[0]} and ask for the same function")
    ratio, point = paired / angle, points[1].subs(other, paired)
    yield f"{both} have k = {counts[0]} and k = {counts[1]} turns"
    yield same_by_sympy("psi is taken at one point for the angles alpha and k'/k alpha", point, points[0])
    yield (
        "and has to be cos alpha and cos(k'/k alpha) there, which differ",
        lambda: sp.cos(angle) - sp.cos(ratio * angle),
        lambda: 2 * sp.sin((ratio + 1) * angle / 2) * sp.sin((ratio - 1) * angle / 2),
    )
    first = rotary.frequency(0, head_dim=sp.Symbol("d", integer=True, positive=True))
    angles = [position * first for position in positions]
    refute(
        angles[1] != ratio * angles[0], f"plane 0 has the angles {angles[0]} and {angles[1]}, not in the ratio {ratio}"
    )
    sines = [ball(sp.sin((ratio + sign) * angles[0] / 2)) for sign in (1, -1)]
    refute(any(sine.contains(0) for sine in sines), f"a sine may be 0 at the angle {angles[0]}")
    yield f"plane 0, of frequency {first}, has the angles {angles[0]} and {angles[1]}, where neither sine is 0"


@CLAIMS.claim(
    "wavelet-3",
    "RoPE and the Haar matrix",
    r"\tfrac1{\sqrt2}\begin{pmatrix}1&-1\\1&1\end{pmatrix}=R(\tfrac\pi4),\quad m\ne\tfrac\pi4+2\pi n",
    printed={"rows": (0, 1)},
    falsifiers={
        "the rows as they are": {"rows": (0, 1)},
        "a first frequency of pi/4": {"frequency": lambda plane, *, head_dim: sp.pi / 4},
    },
)
def haar_matrix(rows: tuple[int, int] = (1, 0), frequency: Formula = rotary.frequency) -> Facts:
    """Haar's matrix of two coordinates is a reflection; with its rows swapped it is RoPE's rotation by pi/4. No whole
    position turns plane 0, whose frequency is 1, by pi/4, so at no position are the planes of RoPE Haar's matrix
    (errata F18).
    """
    angle, turn = sp.Symbol("t", real=True), sp.Symbol("n", integer=True)
    rotation, arranged = rotary.rotation(sp.pi / 4), relations.HAAR_MATRIX.extract(rows, [0, 1])
    differs = f"{arranged.tolist()} is not the rotation {rotation.tolist()}; its det is {arranged.det()}"
    refute(not all(map(is_zero, arranged - rotation)), differs)
    first = frequency(0, head_dim=sp.Symbol("d", integer=True, positive=True))
    position = sp.expand((sp.pi / 4 + 2 * sp.pi * turn) / first)
    start, odd = position.subs(turn, 0), sp.expand(4 * position / sp.pi)
    refute(start.is_integer, f"theta_0 = {first}: position m = {start} turns plane 0 by pi/4")
    refute(not odd.is_odd, f"4m/pi = {odd} is not an odd number for every n")
    yield same_by_sympy("det of the Haar matrix", relations.HAAR_MATRIX.det(), sp.Integer(-1))
    yield "det R(t) = 1, so the matrix is a reflection", lambda: rotary.rotation(angle).det(), sp.S.One
    yield "after its rows are swapped it is R(pi/4), entry by entry"
    yield f"theta_0 = {first} for every d, so m theta_0 = pi/4 + 2 pi n has m = {position}"
    yield f"4m/pi = {odd} is odd, so m is pi times a rational number other than 0: irrational (Lambert)"
    yield "so no whole position m has plane 0 at pi/4, and none has all planes there"


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
def windows(slopes: Callable[[int], Sequence[sp.Expr]] = biases.alibi_slopes) -> Facts:
    """With equal contents, head h of 8 heads of ALiBi gives a key 1/1000 of the query's own weight at the distance 2^h
    log 1000 = 13.8, 27.6, ..., 1768.4: eight windows, each twice the one before.
    """
    m, D = sp.symbols("m D", positive=True)
    window = sp.log(1000) / m
    lengths = [window.subs(m, slope) for slope in slopes(8)]
    refute(len(lengths) != 8, f"8 heads have {len(lengths)} windows")
    for head, length in enumerate(lengths, start=1):
        expected = sp.log(1000) * 2**head
        wrong = sp.expand(length - expected) != 0
        refute(wrong, f"head {head} of 8: the window is {length.n(6)}, not {expected.n(6)}")
    thousandth = "the weight at D = log(1000)/m is 1/1000 of that at D = 0, for every slope m"
    yield same_by_sympy(thousandth, sp.exp(alibi(window, m)), sp.Rational(1, 1000))
    yield "and it falls with D: the derivative of -m D is -m", lambda: derivative(alibi(D, m), D), lambda: -m
    yield f"8 heads: {', '.join(f'{float(length):.1f}' for length in lengths)}"
