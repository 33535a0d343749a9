"""ALiBi's effect on attention: sharp bounds on the mass beyond a window, and the size of the bias as a group action."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.facts import Formula, derivative
from lengthgen.proofs_checks.formulas import alibi, bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.alibi import SOURCE
from lengthgen.theory import rational
from lengthgen.theory.encodings import biases, grape
from lengthgen.theory.encodings.biases import ALIBI_SLOPE
from lengthgen.theory.encodings.encoding import LENGTH
from lengthgen.theory.zero.enclosure import enclose

CLAIMS = PaperClaims(SOURCE)
MOST_POSITIONS = 8
_SLOPES_OF_8 = tuple(sp.Rational(1, 2**head) for head in range(1, 9))
_WINDOWS_OF_8 = ("13.8", "27.6", "55.3", "110.5", "221.0", "442.1", "884.2", "1768.4")
m, C = sp.symbols("m C", positive=True)
W, T = sp.symbols("W T", integer=True, positive=True)
_CONTENT_BOUNDS = (sp.S.Zero, sp.log(2))
"""Bounds of the content logits that are tried in numbers; e^0 and e^(log 2) keep everything rational."""


def _linear(slope: sp.Expr, distance: sp.Expr) -> sp.Expr:
    return alibi(distance, slope)


def _sum(first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """S(a, b): the sum of e^(-m D) for a <= D < b."""
    return (sp.exp(-m * first) - sp.exp(-m * last)) / (1 - sp.exp(-m))


def _share(slope: sp.Expr, window: sp.Expr, length: sp.Expr) -> sp.Expr:
    """The mass h at distance W and more if all contents are equal."""
    return (sp.exp(-slope * window) - sp.exp(-slope * length)) / (1 - sp.exp(-slope * length))


def _mass_bound(share: sp.Expr, content: sp.Expr) -> sp.Expr:
    """The bound e^(2C) h / (1 - h + e^(2C) h)."""
    return sp.exp(2 * content) * share / (1 - share + sp.exp(2 * content) * share)


def _largest_mass(bias: Formula, content: sp.Expr, window: int, length: int) -> sp.Expr:
    """Mass beyond the window with content C on far keys and -C on near ones, summed term by term at m = log 2."""
    weights = [sp.exp(bias(sp.log(2), sp.Integer(distance))) for distance in range(length)]
    far, near = sp.exp(content) * sp.Add(*weights[window:]), sp.exp(-content) * sp.Add(*weights[:window])
    return far / (far + near)


def _geometric_sums(bias: Formula) -> Facts:
    """Facts that the weights e^b(D) for a <= D < b sum to S(a, b), by induction on b."""
    first, last = sp.symbols("a b", integer=True, nonnegative=True)
    total = _sum(first, last)
    yield "base: S(a, a) = 0", lambda: total.subs(last, first), sp.S.Zero
    step = "step: S(a, b + 1) - S(a, b) = e^(bias at distance b)"
    yield step, lambda: total.subs(last, last + 1) - total, lambda: sp.exp(bias(m, last))


@CLAIMS.claim(
    "alibi-4",
    "section 3, the recency bias of the method; the bound is ours",
    r"\sum_{D\ge W}a_D\le\frac{e^{2C}h}{1-h+e^{2C}h},\quad h=\frac{e^{-mW}-e^{-mT}}{1-e^{-mT}}",
    assumptions=("softmax over the keys at distances 0 .. T - 1", "m > 0, C >= 0, 1 <= W <= T"),
    falsifiers={
        "without e^(2C)": {"bound": lambda share, content: share},
        "e^C for e^(2C)": {"bound": lambda share, content: _mass_bound(share, content / 2)},
        "no mass at all, a hard window": {"bound": lambda share, content: sp.S.Zero},
        "max |v| for 2 max |v|": {"values": 1},
    },
)
def sharp_window(bound: Formula = _mass_bound, values: int = 2) -> Facts:
    """If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) of a query's attention lies at
    distance W or more, h = (e^(-mW) - e^(-mT)) / (1 - e^(-mT)) for T keys, and this bound is attained; a window of W
    changes the output by at most 2 max |v| times that, which is attained too.
    """
    for content, window, length in product(_CONTENT_BOUNDS, range(1, 4), range(2, 7)):
        case = f"m = log 2, C = {content}, W = {window}, T = {max(length, window)}"
        mass = _largest_mass(_linear, content, window, max(length, window))
        stated = bound(_share(sp.log(2), sp.Integer(window), sp.Integer(max(length, window))), content)
        wrong = f"the largest mass at distance {window} and more is {mass}, not {stated}"
        refute(mass != stated, f"{case}: {wrong}")
    yield from _geometric_sums(_linear)
    far, near, lost, gained = sp.symbols("X Y x y", positive=True)
    top, bottom = sp.exp(C) * _sum(W, T), sp.exp(-C) * _sum(sp.S.Zero, W)
    yield (
        "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
        lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
        (far * gained + lost * near) / ((far + near) * (far - lost + near + gained)),
    )
    yield "so the mass is largest with content C on every far key and -C on every near one, and there it is attained"
    yield "attained mass = stated bound", top / (top + bottom), lambda: bound(_share(m, W, T), C)
    far_value, near_value, size = sp.symbols("F N V", positive=True)
    mass, output = far / (far + near), (far * far_value + near * near_value) / (far + near)
    cut = "output - output of the window = mass (F - N)"
    yield cut, lambda: output - near_value, lambda: mass * (far_value - near_value)
    sharp = "all far values V, all near ones -V: the difference is as large as stated"
    yield sharp, lambda: (output - near_value).subs({far_value: size, near_value: -size}), lambda: values * size * mass
    yield f"|F| and |N| are at most max |v|, so {values} max |v| mass bounds the difference"


@CLAIMS.claim(
    "alibi-5",
    "section 3, extrapolation; the bound is ours",
    r"\|y_T-y_W\|\le 2\max\|v\|\,\frac{e^{2C-mW}}{1-e^{-mW}+e^{2C-mW}}\quad\forall\,T\ge W",
    assumptions=(
        "one attention layer; contents within [-C, C] and values within max |v| at every length",
        "any context of T >= W >= 1 keys; m > 0",
    ),
    falsifiers={
        "for NoPE": {"bias": lambda slope, distance: sp.S.Zero},
        "for ALiBi's bias bounded from distance 3 on": {"bias": lambda slope, D: _linear(slope, sp.Min(D, 3))},
        "without e^(2C)": {"bound": lambda slope, content, window: sp.exp(-slope * window)},
    },
)
def suffix_is_enough(
    bias: Formula = _linear,
    bound: Formula = lambda slope, content, window: _mass_bound(sp.exp(-slope * window), content),
) -> Facts:
    """A query's outputs on a context of any length and on its last W keys differ by at most 2 max |v| times e^(2C - mW)
    / (1 - e^(-mW) + e^(2C - mW)), which does not depend on the length.
    """
    for content, window, length in product(_CONTENT_BOUNDS, range(1, 4), (8, 64)):
        mass, stated = _largest_mass(bias, content, window, length), bound(sp.log(2), content, sp.Integer(window))
        case = f"m = log 2, C = {content}, W = {window}, T = {length}"
        beyond = f"up to {mass.n(4)} of the attention is beyond the window, more than {stated.n(4)}"
        refute(mass > stated, f"{case}: {beyond}")
    share, more = sp.symbols("h h_", positive=True)
    weight, near, end = sp.exp(2 * C), sp.exp(-m * W), sp.exp(-m * T)
    held, limit = _share(m, W, T), _mass_bound(near, C)
    gap = end * (1 - near) / (1 - end)
    yield from _geometric_sums(bias)
    yield "e^(-mW) - h(T) = e^(-mT) (1 - e^(-mW)) / (1 - e^(-mT)) > 0", lambda: near - held, gap
    yield (
        "the bound rises with h: g(h') - g(h), positive for 1 >= h' > h",
        lambda: _mass_bound(more, C) - _mass_bound(share, C),
        weight * (more - share) / ((1 - share + weight * share) * (1 - more + weight * more)),
    )
    yield "so e^(-mW), the limit of h for T to infinity, bounds all T", lambda: bound(m, C, W), limit
    below = "it is below e^(2C - mW): e^(2C - mW) / g - 1 = (e^(2C) - 1) e^(-mW)"
    yield below, lambda: sp.exp(2 * C - m * W) / limit - 1, lambda: (weight - 1) * near
    yield "the outputs differ by at most 2 max |v| times that (claim alibi-4), which falls to 0 as the window grows"


@CLAIMS.claim(
    "alibi-6",
    "section 3, slopes; the windows are ours",
    r"e^{-m_hD}<10^{-3}\iff D>\ln(1000)/m_h\approx 13.8\cdot 2^{h-1}",
    strength=Strength.INTERVAL,
    assumptions=("equal contents, so that the weights are as e^(-m D)", "windows rounded to one decimal"),
    falsifiers={
        "slopes from h = 0": {"slopes": (sp.Integer(1), *_SLOPES_OF_8[:-1])},
        "slopes divided by sqrt(64) (errata F21)": {"slopes": tuple(slope / 8 for slope in _SLOPES_OF_8)},
        "to 1/100": {"ratio": sp.Rational(1, 100)},
    },
)
def effective_windows(
    slopes: Sequence[sp.Expr] = biases.alibi_slopes(8),
    windows: Sequence[str] = _WINDOWS_OF_8,
    ratio: sp.Rational = sp.Rational(1, 1000),
) -> Facts:
    """At equal content the weight of a key is less than 1/1000 of that of the query's own position beyond ln(1000)/m
    tokens, which are 13.8, 27.6, 55.3, 110.5, 221.0, 442.1, 884.2, 1768.4 to one decimal in heads 1 to 8 of 8.
    """
    for slope, stated in zip(slopes, windows, strict=True):
        exact = -sp.log(ratio) / slope
        near = _certainly_positive(sp.Rational(1, 20) - abs(exact - sp.Rational(stated)))
        refute(not near, f"slope {slope}: the weight falls to {ratio} at distance {exact.n(6)}, not {stated}")
        last = int(sp.floor(exact))
        for distance, side, sign in ((last, "below", -1), (last + 1, "not below", 1)):
            bias = alibi(sp.Integer(distance), slope)
            weight = f"the weight {sp.exp(bias).n(4)} is {side} {ratio}"
            right = _certainly_positive(sign * (sp.log(ratio) - bias))
            refute(not right, f"slope {slope}, distance {distance}: {weight}")
        yield f"slope {slope}: {stated} tokens; distance {last} weighs more than {ratio}, {last + 1} less"


def _certainly_positive(positive: sp.Expr) -> bool:
    """True if an enclosure shows that the number is positive."""
    ball = enclose(positive, bits=128)
    return ball is not None and bool(ball > 0)


def _two_sided(offset: sp.Expr) -> sp.Expr:
    return bias_of(biases.ALIBI)(offset, sp.S.Zero)


@CLAIMS.claim(
    "alibi-7",
    "section 3; as a one-parameter group of two more dimensions: GRAPE, arXiv 2512.07805",
    r"\det\big(|i-j|\big)_{i,j<T}=(-1)^{T-1}(T-1)2^{T-2}\ne 0\ (T\ge2),\quad\mathrm{rank}\,\big(j-i\big)_{i,j<T}=2",
    falsifiers={
        "two more dimensions are enough": {"rank": lambda positions: 2},
        "one more than the causal form needs": {"rank": lambda positions: min(positions, 3)},
        "full rank in the causal form": {"bias": alibi},
    },
)
def toeplitz_rank(bias: Formula = _two_sided, rank: Formula = lambda positions: positions) -> Facts:
    """The matrix of two-sided ALiBi on T >= 2 positions has the determinant (-m)^T (-1)^(T-1) (T-1) 2^(T-2) and so rank
    T: no u^T exp((j - i) A) w of dimension below T gives it, and no dimension gives it for every offset in Z; the
    causal form, continued to keys after the query, has rank 2 (errata F26).
    """
    matrices = {
        size: [[int(-bias(sp.Integer(j - i)) / ALIBI_SLOPE) for i in range(size)] for j in range(size)]
        for size in range(2, MOST_POSITIONS + 1)
    }
    for size, matrix in matrices.items():
        matrix_rank, stated = rational.rank(matrix), rank(size)
        refute(matrix_rank != stated, f"T = {size}: the matrix of -b/m has rank {matrix_rank}, not {stated}: {matrix}")
    for size, matrix in matrices.items():
        determinant = int(rational.exact_matrix(matrix).det().p)
        stated = (-1) ** (size - 1) * (size - 1) * 2 ** (size - 2)
        refute(determinant != stated, f"T = {size}: the matrix of -b/m has the determinant {determinant}")
    slope, last = ALIBI_SLOPE, LENGTH - 1
    j, i = sp.symbols("j i", real=True)
    one_sided = biases.alibi_bias(slope, query_position=j, key_position=i)
    of_group = bias_of(grape.ADDITIVE)(j, i).subs(grape.GRAPE_SLOPE, slope)
    for query, key in ((1, 0), (0, 1)):
        added, causal = (form.subs({j: query, i: key}) for form in (of_group, one_sided))
        where = f"GRAPE-A's bias at query {query} and key {key}"
        refute(added != causal, f"{where} is {added}, the causal form's {causal}")
    beyond = 1 + sp.Symbol("k", integer=True, nonnegative=True)
    zero, unit = sp.S.Zero, sp.S.One
    corner = sp.Matrix([[bias(zero), bias(-last)], [bias(unit) - bias(zero), bias(1 - last) - bias(-last)]])
    minor = sp.Matrix(2, 2, lambda a, b: one_sided.subs({j: a, i: b}))

    def second_differences(*middles: sp.Expr) -> sp.Matrix:
        return sp.Matrix([bias(middle + 1) - 2 * bias(middle) + bias(middle - 1) for middle in middles])

    beside = "second difference of the bias at offsets beside 0"
    yield beside, lambda: second_differences(-beyond, beyond), sp.zeros(2, 1)
    yield "second difference at 0", lambda: second_differences(zero), -2 * slope
    yield "so row operations of determinant 1 turn rows 3 .. T into -2m times the unit rows of columns 2 to T - 1"
    yield "rows 1, 2 in columns 1 and T: determinant", corner.det, lambda: -last * slope**2
    yield (
        "moving column T past T - 2 others: det = (-m)^T (-1)^(T-1) (T-1) 2^(T-2), not 0; in numbers as well for "
        "T = 2 .. 8 (T = 3: 4 (-m)^3)"
    )
    refute(rank(LENGTH) != LENGTH, f"on {LENGTH} positions the determinant is not 0, so the rank is not {rank(LENGTH)}")
    yield (
        "in dimension N the matrix is a product through N columns, exp((j - i) A) = exp(jA) exp(-iA), of rank N at "
        "most: on T positions N >= T, and on all of Z no N is enough"
    )
    causal = "causal form: -m (j - i) = (-m j, 1) . (1, m i), so rank 2 at most"
    yield causal, lambda: sp.Matrix([[-slope * j, 1]]) * sp.Matrix([1, slope * i]), lambda: sp.Matrix([one_sided])
    yield "and not less: its minor at positions 0 and 1", minor.det, lambda: slope**2
    yield "GRAPE-A's bias is the causal form, for keys after the query too", of_group, one_sided


@CLAIMS.claim(
    "alibi-7-window",
    "section 3; as a one-parameter group: GRAPE, arXiv 2512.07805",
    r"e_1^\top e^{nN}w=|n|\ \ \forall\,|n|<T\iff \mathrm{size}(N)\ge 2T-1;\quad T=3:\ |n|=\tfrac76n^2-\tfrac16n^4",
    strength=Strength.BOUNDED,
    reach=f"T = 3 .. {MOST_POSITIONS}",
    assumptions=(f"T = 3 .. {MOST_POSITIONS}", "w is given for -b/m = |n|, u = e_1, N the shift"),
    falsifiers={
        "in no dimension": {"size": lambda positions: None},
        "size T": {"size": lambda positions: positions},
        "size 2T - 2": {"size": lambda positions: 2 * positions - 2},
    },
)
def smallest_unipotent(size: Formula = lambda positions: 2 * positions - 1) -> Facts:
    """On T positions two-sided ALiBi is u^T exp((j - i) N) w with N nilpotent of size 2T - 1, and of no smaller size:
    size 5 for T = 3.  Decided for T = 3 .. 8.

    u^T exp(nN) w with a nilpotent N of size s is a polynomial in n of degree below s, and a single block gives all of
    these.
    """
    for positions in range(3, MOST_POSITIONS + 1):
        offsets = range(1 - positions, positions)
        powers = [[Fraction(n**power, int(sp.factorial(power))) for power in range(len(offsets))] for n in offsets]
        values = [[int(-_two_sided(sp.Integer(offset)) / ALIBI_SLOPE)] for offset in offsets]
        solved = rational.solve(rational.exact_matrix(np.array(powers)), rational.exact_matrix(values))
        weights = rational.fractions(solved)[:, 0].tolist()
        needed = max(power for power, weight in enumerate(weights) if weight) + 1
        column, stated = ", ".join(map(str, weights[:needed])), size(positions)
        reached = f"|n| for all |n| < {positions}"
        block = f"exp(nN) with one nilpotent block of size {needed}, u = e_1 and w = ({column})"
        refute(stated is None, f"T = {positions}: {block} gives {reached}")
        enough = f"so size {needed} is needed and enough, not {stated}"
        refute(stated != needed, f"T = {positions}: the polynomial that is {reached} has degree {needed - 1}, {enough}")
        yield f"T = {positions}: size {needed}, w = ({column})"
        if positions == 3:
            yield from _facts_for_three(needed, weights)
    yield "the values at 2T - 1 offsets fix a polynomial of degree below 2T - 1, so no smaller size does"


def _facts_for_three(size: int, weights: Sequence[Any]) -> Facts:
    """Facts that the group with this size and these weights gives |n| for T = 3."""
    n = sp.Symbol("n", real=True)
    shift = sp.Matrix(size, size, lambda row, column: int(column == row + 1))
    group = sp.Matrix(
        size, size, lambda row, column: n ** (column - row) / sp.factorial(column - row) if column >= row else 0
    )
    reached = (group * sp.Matrix([sp.Rational(weight) for weight in weights]))[0]
    offsets = range(-2, 3)
    yield f"T = 3: G(0) = I, {size} x {size}", lambda: group.subs(n, 0), lambda: sp.eye(size)
    yield "T = 3: G' = N G, so G(n) = exp(nN)", lambda: derivative(group, n), lambda: shift * group
    yield (
        f"T = 3: e_1^T G(n) w = {reached} at n = -2 .. 2",
        lambda: sp.Matrix([reached.subs(n, offset) for offset in offsets]),
        lambda: sp.Matrix([-_two_sided(sp.Integer(offset)) / ALIBI_SLOPE for offset in offsets]),
    )
