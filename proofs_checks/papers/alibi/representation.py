"""ALiBi as u^T exp((j - i) A) w: the dimension that the causal and the two-sided form need."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import derivative, require_equal
from lengthgen.proofs_checks.papers.alibi import SOURCE
from lengthgen.theory import rational
from lengthgen.theory.encodings import biases, grape
from lengthgen.theory.encodings.encoding import LENGTH

AtOffset = Callable[[sp.Expr], sp.Expr]

MOST_POSITIONS = 8


def toeplitz_rank(*, bias: AtOffset, rank: Callable[[int], int]) -> Evidence:
    """Decide the rank of the matrix of the bias on T positions: in numbers up to T = 8, beyond by elimination."""
    for positions in range(2, MOST_POSITIONS + 1):
        matrix = _matrix(bias, positions)
        matrix_rank = rational.rank(matrix)
        if matrix_rank != rank(positions):
            raise Refuted(
                f"T = {positions}: the matrix of -b/m has rank {matrix_rank}, not {rank(positions)}: {matrix}"
            )
    for positions in range(2, MOST_POSITIONS + 1):
        determinant = int(rational.exact_matrix(_matrix(bias, positions)).det().p)
        if determinant != (-1) ** (positions - 1) * (positions - 1) * 2 ** (positions - 2):
            raise Refuted(f"T = {positions}: the matrix of -b/m has the determinant {determinant}")
    further = sp.Symbol("k", integer=True, nonnegative=True)

    def second_differences(*middles: sp.Expr) -> sp.Matrix:
        return sp.Matrix([_second_difference(bias, middle) for middle in middles])

    slope, last = biases.ALIBI_SLOPE, LENGTH - 1
    corner = sp.Matrix(
        [[bias(sp.S.Zero), bias(-last)], [bias(sp.S.One) - bias(sp.S.Zero), bias(1 - last) - bias(-last)]]
    )
    j, i = sp.symbols("j i", real=True)
    one_sided = biases.alibi_bias(slope, query_position=j, key_position=i)
    assert grape.ADDITIVE.bias is not None
    of_group = grape.ADDITIVE.bias(j, i, LENGTH).subs(grape.GRAPE_SLOPE, slope)
    for query, key in ((1, 0), (0, 1)):
        added, causal = (form.subs({j: query, i: key}) for form in (of_group, one_sided))
        if added != causal:
            raise Refuted(f"GRAPE-A's bias at query {query} and key {key} is {added}, the causal form's {causal}")
    minor = sp.Matrix(2, 2, lambda a, b: one_sided.subs({j: a, i: b}))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "second difference of the bias at offsets beside 0",
                lambda: second_differences(-1 - further, 1 + further),
                sp.zeros(2, 1),
            ),
            require_equal("second difference at 0", lambda: second_differences(sp.S.Zero), -2 * slope),
            "so row operations of determinant 1 turn rows 3 .. T into -2m times the unit rows of columns 2 to T - 1",
            require_equal("rows 1, 2 in columns 1 and T: determinant", corner.det, lambda: -last * slope**2),
            "moving column T past T - 2 others: det = (-m)^T (-1)^(T-1) (T-1) 2^(T-2), not 0; in numbers as well for "
            "T = 2 .. 8 (T = 3: 4 (-m)^3)",
            "in dimension N the matrix is a product through N columns, exp((j - i) A) = exp(jA) exp(-iA), of rank N at "
            "most: on T positions N >= T, and on all of Z no N is enough",
            require_equal(
                "causal form: -m (j - i) = (-m j, 1) . (1, m i), so rank 2 at most",
                lambda: sp.Matrix([[-slope * j, 1]]) * sp.Matrix([1, slope * i]),
                lambda: sp.Matrix([one_sided]),
            ),
            require_equal("and not less: its minor at positions 0 and 1", minor.det, lambda: slope**2),
            require_equal("GRAPE-A's bias is the causal form, for keys after the query too", of_group, one_sided),
        ),
    )


def smallest_unipotent(*, size: Callable[[int], int | None]) -> Evidence:
    """Decide the smallest unipotent group that gives -m |n| at all offsets of T positions, T = 3 .. 8.

    u^T exp(nN) w with a nilpotent N of size s is a polynomial in n of degree below s, and a single block gives all of
    these.
    """
    facts = []
    for positions in range(3, MOST_POSITIONS + 1):
        offsets = range(1 - positions, positions)
        powers = [
            [Fraction(offset**power, int(sp.factorial(power))) for power in range(len(offsets))] for offset in offsets
        ]
        values = [[_number(_two_sided(sp.Integer(offset)))] for offset in offsets]
        solved = rational.solve(rational.exact_matrix(np.array(powers)), rational.exact_matrix(values))
        weights = rational.fractions(solved)[:, 0].tolist()
        needed = max(power for power, weight in enumerate(weights) if weight) + 1
        column = ", ".join(map(str, weights[:needed]))
        stated = size(positions)
        if stated is None:
            raise Refuted(
                f"T = {positions}: exp(nN) with one nilpotent block of size {needed}, u = e_1 and w = ({column}) gives "
                f"|n| for all |n| < {positions}"
            )
        if stated != needed:
            degree = f"the polynomial that is |n| for all |n| < {positions} has degree {needed - 1}"
            raise Refuted(f"T = {positions}: {degree}, so size {needed} is needed and enough, not {stated}")
        facts.append(f"T = {positions}: size {needed}, w = ({column})")
        if positions == 3:
            facts += _facts_for_three(needed, weights)
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"T = 3 .. {MOST_POSITIONS}",
        facts=(*facts, "the values at 2T - 1 offsets fix a polynomial of degree below 2T - 1, so no smaller size does"),
        assumptions=(f"T = 3 .. {MOST_POSITIONS}", "w is given for -b/m = |n|, u = e_1, N the shift"),
    )


def _facts_for_three(size: int, weights: list[Fraction]) -> list[str]:
    """Facts that the group with this size and these weights gives |n| for T = 3."""
    n = sp.Symbol("n", real=True)
    shift = sp.Matrix(size, size, lambda row, column: int(column == row + 1))
    group = sp.Matrix(
        size, size, lambda row, column: n ** (column - row) / sp.factorial(column - row) if column >= row else 0
    )
    column = sp.Matrix([sp.Rational(weight.numerator, weight.denominator) for weight in weights])
    reached = (group * column)[0]
    offsets = range(-2, 3)
    return [
        require_equal(f"T = 3: G(0) = I, {size} x {size}", lambda: group.subs(n, 0), lambda: sp.eye(size)),
        require_equal("T = 3: G' = N G, so G(n) = exp(nN)", lambda: derivative(group, n), lambda: shift * group),
        require_equal(
            f"T = 3: e_1^T G(n) w = {reached} at n = -2 .. 2",
            lambda: sp.Matrix([reached.subs(n, offset) for offset in offsets]),
            lambda: sp.Matrix([-_two_sided(sp.Integer(offset)) / biases.ALIBI_SLOPE for offset in offsets]),
        ),
    ]


def _two_sided(offset: sp.Expr) -> sp.Expr:
    """Two-sided ALiBi at an offset."""
    assert biases.ALIBI.bias is not None
    return biases.ALIBI.bias(offset, sp.S.Zero, LENGTH)


def _one_sided(offset: sp.Expr) -> sp.Expr:
    """Causal ALiBi at an offset."""
    return biases.alibi_bias(biases.ALIBI_SLOPE, query_position=offset, key_position=sp.S.Zero)


def _matrix(bias: AtOffset, positions: int) -> list[list[int]]:
    """Matrix -b/m with a row for every query and a column for every key."""
    return [[_number(bias(sp.Integer(j - i))) for i in range(positions)] for j in range(positions)]


def _number(bias: sp.Expr) -> int:
    """The integer -b/m."""
    return int(-bias / biases.ALIBI_SLOPE)


def _second_difference(bias: AtOffset, middle: sp.Expr) -> sp.Expr:
    """Second difference of the bias at an offset."""
    return bias(middle + 1) - 2 * bias(middle) + bias(middle - 1)


CLAIMS = (
    Claim(
        id="alibi-7",
        source=SOURCE.at("section 3; as a one-parameter group of two more dimensions: GRAPE, arXiv 2512.07805"),
        statement="The matrix of two-sided ALiBi on T positions has the determinant (-m)^T (-1)^(T-1) (T-1) 2^(T-2) "
        "and so rank T: no u^T exp((j - i) A) w of dimension below T gives it, and no dimension gives it for every "
        "offset in Z; the causal form has rank 2 (errata F26).",
        latex=r"\det\big(|i-j|\big)_{i,j<T}=(-1)^{T-1}(T-1)2^{T-2}\ne 0,\quad\mathrm{rank}\,\big(j-i\big)_{i,j<T}=2",
        label="F",
        check=toeplitz_rank,
        holds={"bias": _two_sided, "rank": lambda positions: positions},
        falsifiers={
            "two more dimensions are enough": {"rank": lambda positions: 2},
            "one more than the causal form needs": {"rank": lambda positions: min(positions, 3)},
            "full rank in the causal form": {"bias": _one_sided},
        },
    ),
    Claim(
        id="alibi-7-window",
        source=SOURCE.at("section 3; as a one-parameter group: GRAPE, arXiv 2512.07805"),
        statement="On T positions two-sided ALiBi is u^T exp((j - i) N) w with N nilpotent of size 2T - 1, and of no "
        "smaller size: size 5 for T = 3.  Decided for T = 3 .. 8.",
        latex=r"e_1^\top e^{nN}w=|n|\ \ \forall\,|n|<T\iff \mathrm{size}(N)\ge 2T-1;\quad "
        r"T=3:\ |n|=\tfrac76n^2-\tfrac16n^4",
        label="F",
        check=smallest_unipotent,
        holds={"size": lambda positions: 2 * positions - 1},
        falsifiers={
            "in no dimension": {"size": lambda positions: None},
            "size T": {"size": lambda positions: positions},
            "size 2T - 2": {"size": lambda positions: 2 * positions - 2},
        },
    ),
)
