"""Haar codes and the cosines of the DCT: how many codes are distinct; without distinct codes no order is seen."""

from collections.abc import Mapping
from itertools import combinations, product

import sympy as sp

from lengthgen.proofs_checks.consequences.orthogonal import SOURCE
from lengthgen.proofs_checks.facts import Formula, decided_cases, is_zero, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory.encodings import absolute, encoding

CLAIMS = PaperClaims(SOURCE)
_WIDEST, _POSITIONS = 16, 64
_LONGEST = 6


@CLAIMS.claim(
    "orthogonal-4",
    "",
    r"\#\{PE(p):0\le p<L\}\le D\quad\text{for every }L",
    assumptions=(
        "positions within the trained length, u = p/L in [0, 1)",
        "functions in the order n = 2^j + k",
        "in words: each function splits one cell; a cell as wide as a step, with one end, holds a position",
    ),
    falsifiers={
        "every position has a code of its own": {"codes": lambda positions, width: positions},
        "without the change of sign": {"wavelet": lambda *at: sp.Abs(absolute.haar_function(*at))},
        "wavelets of twice the length": {"wavelet": lambda j, k, u: absolute.haar_function(j, k, u / 2)},
    },
)
def cells(wavelet: Formula = absolute.haar_function, codes: Formula = lambda positions, width: width) -> Facts:
    """The first D Haar functions are constant on D cells, so that however many positions there are, at most D codes
    differ; exactly D if no cell is narrower than a step (our reading).
    """
    places = [(sp.Integer(n.bit_length() - 1), sp.Integer(n - 2 ** (n.bit_length() - 1))) for n in range(1, _WIDEST)]
    points = [sp.Rational(at, _POSITIONS) for at in range(_POSITIONS)]
    rows = [tuple(wavelet(*place, point) for place in places) for point in points]
    for width in range(1, _WIDEST + 1):  # function 0 is constant
        count, stated = len({row[: width - 1] for row in rows}), codes(_POSITIONS, width)
        refute(count != stated, f"{_POSITIONS} positions, D = {width}: {count} codes, not {stated}")
    level, shift, apart = sp.symbols("j k e", integer=True, nonnegative=True)
    odds, power = sp.Symbol("w", nonnegative=True), sp.Symbol("2^j")
    inner = odds / (1 + odds)  # any number of [0, 1)
    height = sp.sqrt(2) ** level

    def value(cell: sp.Expr, place: sp.Expr) -> sp.Expr:
        return decided_cases(wavelet(level, shift, (cell + place) / 2**level))

    yield same_by_sympy("0 on every later cell of level j", value(shift + 1 + apart, inner), sp.S.Zero)
    yield same_by_sympy("0 on every earlier cell", value(shift - 1 - apart, inner), sp.S.Zero)
    yield same_by_sympy("2^(j/2) on the left half of cell k", value(shift, inner / 2), height)
    yield same_by_sympy("-2^(j/2) on the right half", value(shift, (1 + inner) / 2), -height)
    split = "so before function n = 2^j + k, k cells of level j are split: 2k + (2^j - k) = n cells"
    yield split, lambda: 2 * shift + (power - shift), lambda: power + shift
    yield (
        "the first function is constant on one cell, and each further function splits one cell into two: by induction "
        "D functions are constant on D cells and differ between any two of them"
    )
    yield f"counted: {_POSITIONS} positions have D codes for D = 1 to {_WIDEST}"


def _legendre(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Legendre column in place of a cosine."""
    point = absolute.legendre_coordinate(position, length=trained_length, trained_length=trained_length, beyond="raw")
    return absolute.legendre_function(index, point)


def _without_half(index: sp.Expr, position: sp.Expr, *, trained_length: sp.Expr) -> sp.Expr:
    """Cosine at the positions themselves."""
    return sp.cos(sp.pi * index * position / trained_length)


@CLAIMS.claim(
    "orthogonal-5",
    "",
    r"\sum_{p<L}\cos\tfrac{\pi m(p+1/2)}{L}\cos\tfrac{\pi n(p+1/2)}{L}=\tfrac L2\delta_{mn},\ 0<n<L",
    assumptions=(
        "columns n = 0 .. L - 1, so D <= L",
        "in words: the sum over p telescopes, and sin(phi/2) > 0 for the angles phi that occur",
    ),
    falsifiers={
        "Legendre columns": {"column": _legendre},
        "at the positions themselves": {"column": _without_half},
        "squared norm L": {"square": lambda length: length},
    },
)
def dct_orthogonal(column: Formula = absolute.dct_cosine, square: Formula = lambda length: length / 2) -> Facts:
    """The columns of the DCT are exactly orthogonal on the uniform grid of L positions, for every L, with the squared
    norm L/2 for n > 0: a control that Legendre codes fail (our reading).
    """
    matrices = {
        size: [
            [column(sp.Integer(number), sp.Integer(at), trained_length=size) for at in range(size)]
            for number in range(size)
        ]
        for size in map(sp.Integer, range(2, _LONGEST + 1))
    }
    for size, columns in matrices.items():
        for (first, left), (second, right) in combinations(enumerate(columns), 2):
            total = sp.Add(*(a * b for a, b in zip(left, right, strict=True)))
            numbers = f"columns {first} and {second} have the product {sp.N(total, 6)}"
            refute(not is_zero(total), f"L = {size}: {numbers}")
    for size, columns in matrices.items():
        for number, values in enumerate(columns[1:], start=1):
            norm = sp.Add(*(value**2 for value in values))
            differs = f"column {number} has the squared norm {sp.N(norm, 6)}, not {square(size)}"
            refute(not is_zero(norm - square(size)), f"L = {size}: {differs}")
    angle, other, turn, position = sp.symbols("a b phi p", real=True)
    length, number = sp.symbols("L k", integer=True, positive=True)
    yield same_by_sympy(
        "column n at p is cos((2p + 1) phi/2) with phi = pi n/L",
        column(number, position, trained_length=length),
        sp.cos(sp.pi * number * (2 * position + 1) / (2 * length)),
    )
    cosines = "the product of two is half the sum of cosines of the sum and of the difference"
    yield cosines, lambda: sp.cos(angle) * sp.cos(other), lambda: (sp.cos(angle + other) + sp.cos(angle - other)) / 2
    yield (
        "2 sin(phi/2) cos((2p + 1) phi/2) = sin((p + 1) phi) - sin(p phi)",
        lambda: 2 * sp.sin(turn / 2) * sp.cos((2 * position + 1) * turn / 2),
        lambda: sp.sin((position + 1) * turn) - sp.sin(position * turn),
    )
    yield same_by_sympy("so 2 sin(phi/2) times the sum over p < L is sin(L phi) = sin(pi k)", sp.sin(sp.pi * number), 0)
    yield "phi/2 = pi k/(2L) is between 0 and pi for 0 < k < 2L, so sin(phi/2) > 0 and the sum is 0"
    yield (
        "m + n and |m - n| are such k for m != n below L, and so is 2n; k = 0 gives L: the squared norm is "
        "L/2 for n > 0, and L for n = 0"
    )
    yield same_by_sympy("L/2", square(length), length / 2)


def _turned(cosine: sp.Expr) -> sp.Expr:
    """Cosine with whole half turns split off: cos(a + pi m) = cos(pi m) cos a for an integer m."""
    terms = sp.Add.make_args(sp.expand(cosine.args[0]))
    halves = sp.Add(*(term for term in terms if (term / sp.pi).is_integer))
    return sp.cos(halves) * sp.cos(sp.Add(*terms) - halves)


@CLAIMS.claim(
    "orthogonal-5-repeats",
    "",
    r"PE(2L-1-p)=PE(p)=PE(p+2L)",
    assumptions=("every width D and every trained length L",),
    falsifiers={
        "mirror image 2L - p": {"mirror": lambda p, length: 2 * length - p},
        "period L": {"period": 1},
        "at the positions themselves": {"column": _without_half},
    },
)
def repetition(
    column: Formula = absolute.dct_cosine, mirror: Formula = lambda p, length: 2 * length - 1 - p, period: int = 2
) -> Facts:
    """DCT codes repeat beyond the trained length: position 2L - 1 - p has the code of p, and so has p + 2L (our
    reading).
    """
    for at, size in product(map(sp.Integer, range(4)), map(sp.Integer, range(2, 5))):
        for index, place in product(range(1, 4), (mirror(at, size), at + period * size)):
            here, there = (column(sp.Integer(index), where, trained_length=size) for where in (at, place))
            refute(not is_zero(here - there), f"L = {size}, n = {index}: the codes of {at} and {place} differ")
    number, position, length = sp.symbols("n p L", integer=True, positive=True)

    def code(place: sp.Expr) -> sp.Expr:
        return _turned(column(number, place, trained_length=length))

    yield same_by_sympy("the mirror image has the code of p", code(mirror(position, length)), code(position))
    yield same_by_sympy(f"p + {period} L has it too", code(position + period * length), code(position))
    yield "so a position p from L to 2L - 1 has the code of 2L - 1 - p, which is below L"


def _legendre_point(beyond: str) -> Formula:
    """Legendre coordinate 1 of a sequence of N tokens, in units of sqrt(3)."""
    sizes = {"trained_length": sp.Integer(2), "beyond": beyond}
    return lambda position, count: absolute.legendre_coordinate(position, length=count, **sizes)


@CLAIMS.claim(
    "orthogonal-9",
    "",
    r"PE(p)=PE(p')\Rightarrow f_j(\dots,x_p,\dots,x_{p'},\dots)=f_j(\dots,x_{p'},\dots,x_p,\dots),\ j\ne p,p'",
    assumptions=(
        "attention over keys on both sides; a causal mask tells more",
        "two functions or more, D >= 2",
        "in words: sums over keys have no order, and every later layer works on each row alike",
        "that distinct codes suffice for universal approximation is Yun et al.'s theorem (arXiv 1912.10077), not "
        "decided here",
    ),
    falsifiers={
        "a constant code suffices": {"coordinates": {"constant": lambda p, count: sp.S.One}, "steps": {}},
        "two Haar functions suffice": {
            "coordinates": {"Haar": lambda p, count: absolute.Haar(sp.S.One, p / count)},
            "steps": {},
        },
        "clamped codes suffice": {"coordinates": {"clamped": _legendre_point("clamp")}, "steps": {}},
        "keys with different codes can be swapped": {"gap": sp.S.One},
    },
)
def order_is_seen(
    coordinates: Mapping[str, Formula] = {
        "Legendre, rescaled": _legendre_point("rescale"),
        "DCT": lambda p, count: absolute.dct_cosine(sp.S.One, p, trained_length=count),
    },
    steps: Mapping[str, Formula] = {
        "Legendre, rescaled": lambda p, count: 2 / (sp.Max(count, 2) - 1),
        "DCT": lambda p, count: -2 * sp.sin(sp.pi * (p + 1) / count) * sp.sin(sp.pi / (2 * count)),
    },
    gap: sp.Expr = sp.S.Zero,
) -> Facts:
    """Without encoding attention is equivariant under permutations of its tokens, and keys whose codes are equal can be
    swapped unseen, so a code must differ between positions to show their order. Within the trained length Legendre and
    DCT codes do, and rescaled Legendre codes beyond it; constant codes do not, nor clamped codes beyond the trained
    length, nor fewer Haar codes than positions (our reading).

    `coordinates` have the coordinate of each code that differs between positions, `steps` that of p + 1 minus that of
    p, by p and N; `gap` is the code of the second of two swapped keys minus that of the first.
    """
    for (name, coordinate), count in product(coordinates.items(), range(2, _LONGEST + 1)):
        values = [coordinate(sp.Integer(at), sp.Integer(count)) for at in range(count)]
        for first, second in combinations(range(count), 2):
            same = f"{first} and {second} have one code, so tokens swapped there leave the output as it is"
            refute(is_zero(values[first] - values[second]), f"{name}, {count} positions: {same}")
    query, code, value, x, y, rest, rest_value = sp.symbols("q e v x y Z R", positive=True)

    def output(first: sp.Expr, second: sp.Expr) -> sp.Expr:
        """Output of a query for two keys with these contents, the codes e and e + gap, and other keys of weight Z."""
        keys = (first + code, second + code + gap)
        weights = [sp.exp(query * key) for key in keys]
        weighted = [weight * value * key for weight, key in zip(weights, keys, strict=True)]
        return (rest_value + sp.Add(*weighted)) / (rest + sp.Add(*weights))

    at = {"query_position": sp.Symbol("j"), "key_position": sp.Symbol("i")}
    seen = encoding.NOPE.score(**at).free_symbols & set(at.values())
    refute(seen, "the score without encoding has a position in it: 1 position at least")
    yield "without encoding no score has a position in it, so a permutation of the keys permutes the terms of each sum"
    swapped = "two keys with one code e, contents x and y, any other keys: the output for y, x is that for x, y"
    yield swapped, lambda: output(y, x), lambda: output(x, y)
    position, count = sp.symbols("p N", integer=True, positive=True)
    turn = sp.Symbol("phi", positive=True)
    for name, step in steps.items():
        sides = (coordinates[name](position + 1, count) - coordinates[name](position, count), step(position, count))
        angles = {count: sp.pi / turn} if sides[0].has(sp.cos) else {}
        yield require_equal(f"{name}: step from p to p + 1, phi = pi/N", *(side.subs(angles) for side in sides))
    yield "for p + 1 < N every step has one sign and is not 0, so these codes are distinct on 0 .. N - 1"
    yield "the next layer gets equal rows at swapped places and works on each row alike, so any depth follows"
