"""Haar codes and the cosines of the DCT: number of distinct codes, orthogonality on the uniform grid, repetition."""

from collections.abc import Callable
from itertools import product

import sympy as sp

from lengthgen.proofs_checks.cases import decided
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.orthogonal import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory.encodings import absolute

Column = Callable[..., sp.Expr]

_WIDEST, _POSITIONS = 16, 64
_LONGEST = 6


def cells(*, wavelet: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr], codes: Callable[[int, int], int]) -> Evidence:
    """Decide that wavelet k of level j splits cell k of level j into halves and is constant on all other cells.

    `codes` takes a number N of positions and a width D: the number of distinct codes if no cell is narrower than 1/N.
    """
    for width in range(1, _WIDEST + 1):
        count = _count_codes(wavelet, _POSITIONS, width)
        if count != codes(_POSITIONS, width):
            raise Refuted(f"{_POSITIONS} positions, D = {width}: {count} codes, not {codes(_POSITIONS, width)}")
    level, shift, apart = sp.symbols("j k e", integer=True, nonnegative=True)
    odds = sp.Symbol("w", nonnegative=True)
    inner = odds / (1 + odds)  # any number of [0, 1)
    height = sp.sqrt(2) ** level

    def value(cell: sp.Expr, place: sp.Expr) -> sp.Expr:
        return decided(wavelet(level, shift, (cell + place) / 2**level))

    facts = [
        same_by_sympy("0 on every later cell of level j", value(shift + 1 + apart, inner), sp.S.Zero),
        same_by_sympy("0 on every earlier cell", value(shift - 1 - apart, inner), sp.S.Zero),
        same_by_sympy("2^(j/2) on the left half of cell k", value(shift, inner / 2), height),
        same_by_sympy("-2^(j/2) on the right half", value(shift, (1 + inner) / 2), -height),
        require_equal(
            "so before function n = 2^j + k, k cells of level j are split: 2k + (2^j - k) = n cells",
            lambda: 2 * shift + (sp.Symbol("2^j") - shift),
            lambda: sp.Symbol("2^j") + shift,
        ),
        "the first function is constant on one cell, and each further function splits one cell into two: by induction "
        "D functions are constant on D cells and differ between any two of them",
        f"counted: {_POSITIONS} positions have D codes for D = 1 to {_WIDEST}",
    ]
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("positions within the trained length, u = p/L in [0, 1)", "functions in the order n = 2^j + k"),
    )


def _count_codes(wavelet: Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr], positions: int, width: int) -> int:
    """Number of distinct codes of width D on positions 0 .. N - 1, function 0 being constant."""
    places = [(sp.Integer(n.bit_length() - 1), sp.Integer(n - 2 ** (n.bit_length() - 1))) for n in range(1, width)]
    return len({tuple(wavelet(*place, sp.Rational(at, positions)) for place in places) for at in range(positions)})


def dct_orthogonal(*, column: Column, square: Callable[[sp.Expr], sp.Expr]) -> Evidence:
    """Decide that the columns n < L are orthogonal on positions 0 .. L - 1, with the stated squared norm for n > 0."""
    for length in range(2, _LONGEST + 1):
        for first, second in product(range(1, length), repeat=2):
            total = sp.Add(
                *(
                    column(sp.Integer(first), sp.Integer(at), trained_length=sp.Integer(length))
                    * column(sp.Integer(second), sp.Integer(at), trained_length=sp.Integer(length))
                    for at in range(length)
                )
            )
            stated = square(sp.Integer(length)) if first == second else sp.S.Zero
            if not is_zero(total - stated):
                raise Refuted(
                    f"L = {length}: columns {first} and {second} have the product {sp.N(total, 6)}, not {stated}"
                )
    angle, other, turn, position = sp.symbols("a b phi p", real=True)
    length, number = sp.symbols("L k", integer=True, positive=True)
    facts = (
        same_by_sympy(
            "column n at p is cos((2p + 1) phi/2) with phi = pi n/L",
            column(number, position, trained_length=length),
            sp.cos(sp.pi * number * (2 * position + 1) / (2 * length)),
        ),
        require_equal(
            "the product of two is half the sum of cosines of the sum and of the difference",
            lambda: sp.cos(angle) * sp.cos(other),
            lambda: (sp.cos(angle + other) + sp.cos(angle - other)) / 2,
        ),
        require_equal(
            "2 sin(phi/2) cos((2p + 1) phi/2) = sin((p + 1) phi) - sin(p phi)",
            lambda: 2 * sp.sin(turn / 2) * sp.cos((2 * position + 1) * turn / 2),
            lambda: sp.sin((position + 1) * turn) - sp.sin(position * turn),
        ),
        same_by_sympy("so 2 sin(phi/2) times the sum over p < L is sin(L phi) = sin(pi k)", sp.sin(sp.pi * number), 0),
        "phi/2 = pi k/(2L) is between 0 and pi for 0 < k < 2L, so sin(phi/2) > 0 and the sum is 0",
        "m + n and |m - n| are such k for m != n below L, and so is 2n; k = 0 gives L: the squared norm is "
        "L/2 for n > 0, and L for n = 0",
        same_by_sympy("L/2", square(length), length / 2),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("columns n = 0 .. L - 1, so D <= L",))


def repetition(*, column: Column, mirror: Callable[[sp.Expr, sp.Expr], sp.Expr], period: int) -> Evidence:
    """Decide that the position `mirror(p, L)` has the code of p, and so has p + `period` L."""
    number, position, length = sp.symbols("n p L", integer=True, positive=True)
    here = _turned(column(number, position, trained_length=length))
    for at, size in product(range(4), range(2, 5)):
        for index in range(1, 4):
            sizes = {"trained_length": sp.Integer(size)}
            value = column(sp.Integer(index), sp.Integer(at), **sizes)
            for place in (mirror(sp.Integer(at), sp.Integer(size)), sp.Integer(at + period * size)):
                if not is_zero(value - column(sp.Integer(index), place, **sizes)):
                    raise Refuted(f"L = {size}, n = {index}: the codes of {at} and {place} differ")
    images = {
        "the mirror image has the code of p": (mirror(position, length), here),
        f"p + {period} L has it too": (position + period * length, here),
    }
    facts = [
        same_by_sympy(what, _turned(column(number, image, trained_length=length)), code)
        for what, (image, code) in images.items()
    ]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "so a position p from L to 2L - 1 has the code of 2L - 1 - p, which is below L"),
        assumptions=("every width D and every trained length L",),
    )


def _turned(cosine: sp.Expr) -> sp.Expr:
    """Cosine with whole half turns split off: cos(a + pi m) = cos(pi m) cos a for an integer m."""
    terms = sp.Add.make_args(sp.expand(cosine.args[0]))
    halves = sp.Add(*(term for term in terms if (term / sp.pi).is_integer))
    rest = sp.Add(*(term for term in terms if not (term / sp.pi).is_integer))
    return sp.cos(halves) * sp.cos(rest)


def _wavelet(level: sp.Expr, shift: sp.Expr, point: sp.Expr) -> sp.Expr:
    """Haar function of the encoding."""
    return absolute.haar_function(level, shift, point)


def _column(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Cosine of the encoding."""
    return absolute.dct_cosine(index, position, trained_length=trained_length)


def _flat(level: sp.Expr, shift: sp.Expr, point: sp.Expr) -> sp.Expr:
    """Wavelet without its change of sign."""
    return sp.Abs(absolute.haar_function(level, shift, point))


def _legendre(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Legendre column in place of a cosine."""
    point = absolute.legendre_coordinate(position, length=trained_length, trained_length=trained_length, beyond="raw")
    return absolute.legendre_function(index, point)


def _without_half(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Cosine at the positions themselves."""
    return sp.cos(sp.pi * index * position / trained_length)


CLAIMS = (
    Claim(
        id="orthogonal-4",
        source=SOURCE,
        statement="The first D Haar functions are constant on D cells, so that however many positions there are, at "
        "most D codes differ; exactly D if no cell is narrower than a step (our reading).",
        latex=r"\#\{PE(p):0\le p<L\}\le D\quad\text{for every }L",
        label="F",
        check=cells,
        holds={
            "wavelet": _wavelet,
            "codes": lambda positions, width: width,
        },
        falsifiers={
            "every position has a code of its own": {"codes": lambda positions, width: positions},
            "without the change of sign": {"wavelet": _flat},
            "wavelets of twice the length": {"wavelet": lambda j, k, u: absolute.haar_function(j, k, u / 2)},
        },
    ),
    Claim(
        id="orthogonal-5",
        source=SOURCE,
        statement="The columns of the DCT are exactly orthogonal on the uniform grid of L positions, for every L, with "
        "the squared norm L/2 for n > 0: a control that Legendre codes fail (our reading).",
        latex=r"\sum_{p<L}\cos\tfrac{\pi m(p+1/2)}{L}\cos\tfrac{\pi n(p+1/2)}{L}=\tfrac L2\delta_{mn},\ 0<n<L",
        label="F",
        check=dct_orthogonal,
        holds={"column": _column, "square": lambda length: length / 2},
        falsifiers={
            "Legendre columns": {"column": _legendre},
            "at the positions themselves": {"column": _without_half},
            "squared norm L": {"square": lambda length: length},
        },
    ),
    Claim(
        id="orthogonal-5-repeats",
        source=SOURCE,
        statement="DCT codes repeat beyond the trained length: position 2L - 1 - p has the code of p, and so has "
        "p + 2L (our reading).",
        latex=r"PE(2L-1-p)=PE(p)=PE(p+2L)",
        label="F",
        check=repetition,
        holds={
            "column": _column,
            "mirror": lambda p, length: 2 * length - 1 - p,
            "period": 2,
        },
        falsifiers={
            "mirror image 2L - p": {"mirror": lambda p, length: 2 * length - p},
            "period L": {"period": 1},
            "at the positions themselves": {"column": _without_half},
        },
    ),
)
