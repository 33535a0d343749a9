"""RoPE as a transform with Haar-like wavelets: the identity holds, but its wavelet changes with the position."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.cases import decided
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.wavelet import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory.encodings import relations, rotary

Restricted = Callable[..., sp.Expr]
Turns = Callable[[sp.Expr], sp.Expr]

_POSITIONS = (3, 57, 300)
_HEAD_DIM = 8
_HALF = sp.Rational(1, 2)


def rope_rows(*, psi: Restricted, turns: Turns, shift: Restricted) -> Evidence:
    """Decide that sum over t of x_t psi(t - b) is row 2l of RoPE's product, for every position and plane."""
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
        return decided(psi(sp.expand(coordinate - place), turns=count))

    (cosine, _), (sine, _), *_ = psi(position, turns=count).args
    shifted_sine = sine.subs(position, position + 1)
    facts = (
        f"k - m/(2 pi) = {above} > 0 for the fraction {share} of m/(2 pi), and theta <= 1: "
        "m theta = 2 pi k u with 0 <= u < 1",
        same_by_sympy("the weight of x_2l is cos m theta", weight(2 * plane), sp.cos(angle)),
        same_by_sympy("the weight of x_(2l + 1) is -sin m theta", weight(2 * plane + 1), -sp.sin(angle)),
        same_by_sympy("that of each coordinate before is 0", weight(2 * plane - 1 - apart), sp.S.Zero),
        same_by_sympy("that of each coordinate behind is 0", weight(2 * plane + 2 + apart), sp.S.Zero),
        same_by_sympy("the mean on [0, 1) is 0", sp.integrate(cosine, (position, 0, 1)), sp.S.Zero),
        same_by_sympy("the mean on [1, 2) is 0", sp.integrate(shifted_sine, (position, 0, 1)), sp.S.Zero),
        f"compared in numbers at m = {', '.join(map(str, _POSITIONS))} for d = {_HEAD_DIM}",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("0 < theta_l <= 1, as in RoPE",))


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


def no_mother(*, positions: tuple[int, int], turns: Turns, shift: Restricted) -> Evidence:
    """Decide that the identity asks for different values of psi at one point, at the two positions."""
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
    facts = (
        f"m = {positions[0]} and m = {positions[1]} have k = {counts[0]} and k = {counts[1]} turns",
        same_by_sympy(
            "psi is taken at one point for the angles alpha and k'/k alpha", points[1].subs(other, paired), points[0]
        ),
        require_equal(
            "and has to be cos alpha and cos(k'/k alpha) there, which differ",
            lambda: sp.cos(angle) - sp.cos(ratio * angle),
            lambda: 2 * sp.sin((ratio + 1) * angle / 2) * sp.sin((ratio - 1) * angle / 2),
        ),
        f"both sines are positive for 0 < alpha < {largest}, and theta = alpha/m is at most 1 at both positions",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("frequencies theta of (0, 1]",))


def haar_matrix(*, arrange: Callable[[sp.Matrix], sp.Matrix], frequency: Callable[..., sp.Expr]) -> Evidence:
    """Decide that the arranged Haar matrix is RoPE's rotation by pi/4, and that no position has it at plane 0."""
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
    facts = (
        same_by_sympy("det of the Haar matrix", relations.HAAR_MATRIX.det(), sp.Integer(-1)),
        require_equal("det R(t) = 1, so the matrix is a reflection", lambda: rotary.rotation(angle).det(), sp.S.One),
        "after its rows are swapped it is R(pi/4), entry by entry",
        f"theta_0 = {first} for every d, so m theta_0 = pi/4 + 2 pi n has m = {position}",
        f"4m/pi = {odd} is odd, so m is pi times a rational number other than 0: irrational (Lambert)",
        "so no whole position m has plane 0 at pi/4, and none has all planes there",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts)


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


def _whole_shift(plane: sp.Expr, *, angle: sp.Expr, turns: sp.Expr) -> sp.Expr:
    """Shift without the angle."""
    return 2 * plane


def _other_sign(point: sp.Expr, *, turns: sp.Expr) -> sp.Expr:
    """Wavelet with the sine's sign changed."""
    return relations.restricted_wavelet(point, turns=-turns)


CLAIMS = (
    Claim(
        id="wavelet-1",
        source=SOURCE.at("RoPE as a wavelet transform"),
        statement="Row 2l of RoPE at position m is a transform of the coordinates with a Haar-like wavelet of scale 1 "
        "and mean 0, with k = floor(m/(2 pi)) + 1 turns and the shift 2l - m theta/(2 pi k): true by the definition of "
        "the shift, which encodes the angle.",
        latex=r"(R_mx)_{2l}=\sum_t x_t\,\psi_k(t-b_l),\ b_l=2l-\tfrac{m\theta_l}{2\pi k}",
        label="P",
        check=rope_rows,
        holds={"psi": _psi, "turns": _turns, "shift": _shift},
        falsifiers={
            "k = floor(m/(2 pi)), without 1 more": {"turns": lambda position: sp.floor(position / (2 * sp.pi))},
            "shifts 2l": {"shift": _whole_shift},
            "the sine with the other sign": {"psi": _other_sign},
        },
    ),
    Claim(
        id="wavelet-2",
        source=SOURCE.at("RoPE as a wavelet transform"),
        statement="RoPE is not a transform with one mother wavelet and these shifts: already at the positions 1 and 7, "
        "which have 1 and 2 turns, the identity asks for two different values at one point, so the wavelet depends on "
        "the position.",
        latex=r"\psi(\tfrac{\alpha}{2\pi})=\cos\alpha\ne\cos 2\alpha=\psi(\tfrac{2\alpha}{4\pi})",
        label="F",
        check=no_mother,
        holds={"positions": (1, 7), "turns": _turns, "shift": _shift},
        falsifiers={
            "already at the positions 1 and 2": {"positions": (1, 2)},
            "one turn at every position": {"turns": lambda position: sp.S.One},
        },
    ),
    Claim(
        id="wavelet-3",
        source=SOURCE.at("RoPE and the Haar matrix"),
        statement="Haar's matrix of two coordinates is a reflection; with its rows swapped it is RoPE's rotation by "
        "pi/4. No whole position turns plane 0, whose frequency is 1, by pi/4, so at no position are the planes of "
        "RoPE Haar's matrix (errata F18).",
        latex=r"\tfrac1{\sqrt2}\begin{pmatrix}1&-1\\1&1\end{pmatrix}=R(\tfrac\pi4),\quad m\ne\tfrac\pi4+2\pi n",
        label="F",
        check=haar_matrix,
        holds={"arrange": _swapped, "frequency": _frequency},
        printed={"arrange": _as_printed},
        falsifiers={
            "the rows as they are": {"arrange": _as_printed},
            "a first frequency of pi/4": {"frequency": lambda plane, *, head_dim: sp.pi / 4},
        },
    ),
)
