"""KERPLE (arXiv 2205.09921): conditionally positive definite kernels, constants added to them, and ALiBi among them.

A kernel K is conditionally positive definite if c^T K c >= 0 on all points, for all c with sum zero.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Source
from lengthgen.proofs_checks.facts import Formula, ball, derivative, same_by_sympy, sign
from lengthgen.proofs_checks.formulas import alibi, bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.theory import rational
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS

SOURCE = Source(paper="KERPLE", arxiv="2205.09921")
CLAIMS = PaperClaims(SOURCE)
_THEOREM = "the power and the logarithmic kernel, conditionally positive definite"
_NO_LARGER = f"{_THEOREM}; that larger exponents fail is ours"
_PAIR = ((0, 1), (1, -1))
_TRIPLE = ((-1, 0, 1), (1, -2, 1))
_POINTS = ((0, 1), (0, 1, 2), (0, 1, 3), (0, 1, 2, 3, 4, 5), (0, 7, 50))


def _form(kernel: Formula, points: Sequence[int], weights: Sequence[int]) -> sp.Expr:
    """Quadratic form c^T K c, with c = `weights` and K_xy = kernel(|x - y|)."""
    pairs = list(zip(points, weights, strict=True))
    return sp.Add(*(c * c_ * kernel(sp.Integer(abs(x - y))) for x, c in pairs for y, c_ in pairs))


def _require_threshold(obstacle: sp.Expr, exponent: sp.Symbol, largest: sp.Rational) -> None:
    """Require that the form of three points, which falls as p rises, is zero at p = `largest`."""
    value = obstacle.subs(exponent, largest)
    side = sign(value)
    form = f"p = {largest}: x = (-1, 0, 1), c = (1, -2, 1) give c^T K c = {value}"
    refute(side < 0, f"{form}, and 100 times these points {(100**largest * value).n(4)}")
    refute(side > 0, f"{form}, so larger exponents pass too")


def _power(distance: sp.Expr, exponent: sp.Expr, scale: sp.Expr = sp.S.One) -> sp.Expr:
    return biases.kerple_power(distance, scale=scale, exponent=exponent)


@CLAIMS.claim(
    "kerple-1",
    _NO_LARGER,
    r"\sum_i c_i=0\Rightarrow-\sum_{i,j}c_ic_j|x_i-x_j|^p\ge 0\iff p\le 2\qquad(p>0)",
    label="P",
    assumptions=("finitely many real points",),
    answers=("largest",),
    falsifiers={
        "of the squared distance": {"kernel": lambda distance, exponent: _power(distance**2, exponent)},
        "of the root of the distance": {"kernel": lambda distance, exponent: _power(sp.sqrt(distance), exponent)},
        "growing with the distance": {"kernel": lambda distance, exponent: _power(distance, exponent, -sp.S.One)},
    },
)
def power_kernel(kernel: Formula = _power, largest: sp.Rational = sp.Integer(2)) -> Facts:
    """-|x - y|^p is conditionally positive definite for 0 < p <= 2, and for no larger p."""
    exponent, exponents = sp.Symbol("p", positive=True), biases.KERPLE_EXPONENTS
    value = _form(lambda distance: kernel(distance, largest), *_PAIR)
    refute(value < 0, f"p = {largest}, x = {_PAIR[0]}, c = {_PAIR[1]}: c^T K c = {value}")
    obstacle = _form(lambda distance: kernel(distance, exponent), *_TRIPLE)
    _require_threshold(obstacle, exponent, largest)
    stated = (exponents.start, exponents.end, exponents.left_open) == (0, largest, True)
    refute(not stated, f"the encoding's exponents are {exponents}, not those above 0 up to {largest}")
    a, b, p, wave = sp.symbols("a b p g", real=True)
    x, y, u, v = sp.symbols("x y u v", real=True)
    yield f"x = (-1, 0, 1), c = (1, -2, 1): c^T K c = {obstacle}, negative for every p > 2"
    yield f"the encoding's exponents are those above 0 up to {exponents.end}"
    yield "-K(t) = t^p, written with t = e^b", lambda: -kernel(sp.exp(b), p), lambda: sp.exp(p * b)
    yield (
        "with v = tu, e^a = v: (1 - cos tu) u^(-1-p) du = t^p (1 - cos v) v^(-1-p) dv, g for 1 - cos v",
        lambda: wave * sp.exp((a - b) * (-1 - p)) * sp.exp(-b),
        lambda: sp.exp(p * b) * wave * sp.exp(a * (-1 - p)),
    )
    between = "1 - cos v = 2 sin(v/2)^2, so between 0 and v^2/2, and at most 2"
    yield between, lambda: 1 - sp.cos(v), lambda: 2 * sp.sin(v / 2) ** 2
    below = "v^(1-p) is integrable up to 1 for p < 2: derivative of v^(2-p)/(2-p)"
    yield below, lambda: derivative(sp.exp((2 - p) * a) / (2 - p), a), lambda: sp.exp((1 - p) * a) * sp.exp(a)
    integrable_beyond = "v^(-1-p) is integrable from 1 on for p > 0: derivative of -v^(-p)/p"
    yield integrable_beyond, lambda: derivative(-sp.exp(-p * a) / p, a), lambda: sp.exp((-1 - p) * a) * sp.exp(a)
    yield "so for 0 < p < 2, |t|^p is a positive constant times the integral of (1 - cos tu) u^(-1-p) over u > 0"
    product = "cos (x - y)u = cos xu cos yu + sin xu sin yu"
    yield product, lambda: sp.cos((x - y) * u), lambda: sp.cos(x * u) * sp.cos(y * u) + sp.sin(x * u) * sp.sin(y * u)
    yield "so for sum c = 0 the form is that constant times the integral of |sum c e^(ixu)|^2 u^(-1-p), not negative"
    square = "p = 2: K = 2xy - x^2 - y^2, so for sum c = 0 the form is 2 (sum c x)^2"
    yield square, lambda: kernel(x - y, sp.Integer(2)), lambda: 2 * x * y - x**2 - y**2


def _logarithm(distance: sp.Expr, rate: sp.Expr) -> sp.Expr:
    return biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate)


@CLAIMS.claim(
    "kerple-2",
    _NO_LARGER,
    r"\sum_i c_i=0\Rightarrow-\sum_{i,j}c_ic_j\log(1+a|x_i-x_j|^p)\ge 0\ \forall a>0\iff p\le 2\qquad(p>0)",
    label="P",
    assumptions=("finitely many real points", "any a > 0"),
    answers=("largest",),
    falsifiers={
        "+|x - y|^p": {"kernel": lambda distance, rate: distance},
        "+log": {"kernel": lambda distance, rate: -_logarithm(distance, rate)},
        "of the squared distance": {"kernel": lambda distance, rate: _logarithm(distance**2, rate)},
    },
)
def log_kernel(kernel: Formula = _logarithm, largest: sp.Rational = sp.Integer(2)) -> Facts:
    """-log(1 + a |x - y|^p) is conditionally positive definite for every a > 0 if 0 < p <= 2, and only then; the
    released kernel has p = 1.
    """
    for points, weights in (_PAIR, _TRIPLE):
        value = _form(lambda distance: kernel(distance**largest, sp.Rational(1, 10)), points, weights)
        refute(ball(value) < 0, f"p = {largest}, a = 1/10, x = {points}, c = {weights}: c^T K c = {value.n(4)}")
    exponent, rate = sp.symbols("p a", positive=True)
    obstacle = _form(lambda distance: kernel(distance**exponent, rate), *_TRIPLE).diff(rate).subs(rate, 0)
    _require_threshold(obstacle, exponent, largest)
    s, t = sp.symbols("s t", positive=True)
    centred, first, second, origin = sp.symbols("K~ K_x K_y K_0", real=True)
    density = (1 - sp.exp(-s * t)) * sp.exp(-t) / t
    yield f"x = (-1, 0, 1), c = (1, -2, 1): c^T K c = a ({obstacle}) + O(a^2), negative for p > 2 and small a"
    yield same_by_sympy("e^(-K) = 1 + s at s = a |x - y|^p", sp.exp(-kernel(s / rate, rate)), 1 + s)
    yield same_by_sympy("derivative of log(1 + s)", (-kernel(s / rate, rate)).diff(s), 1 / (1 + s))
    yield "derivative of (1 - e^(-st)) e^(-t)/t in s", lambda: derivative(density, s), lambda: sp.exp(-(1 + s) * t)
    integral = "which is that of -e^(-(1 + s)t)/(1 + s) in t, so its integral over t > 0 is 1/(1 + s)"
    yield integral, lambda: derivative(-sp.exp(-(1 + s) * t) / (1 + s), t), lambda: sp.exp(-(1 + s) * t)
    yield "so log(1 + s) is the integral of (1 - e^(-st)) e^(-t)/t over t > 0: both are 0 at s = 0"
    yield (
        "K' = K(x, y) - K(x, 0) - K(0, y) + K(0, 0) is positive semidefinite for K = -|x - y|^p: its form at c is that "
        "of K at c with -sum c at the point 0 (claim kerple-1)"
    )
    yield (
        "e^K is e^(K') times a factor of x and one of y",
        lambda: sp.exp(centred + first + second - origin),
        lambda: sp.exp(centred) * sp.exp(first - origin / 2) * sp.exp(second - origin / 2),
    )
    yield (
        "and e^(K'), a power series in K' with positive coefficients, is positive semidefinite, as entrywise products "
        "are (Schur); so is e^(-ta|x - y|^p)"
    )
    yield "for sum c = 0 the form of -log(1 + a|x - y|^p) is the integral of that of e^(-ta|x - y|^p), times e^(-t)/t"


@CLAIMS.claim(
    "kerple-4",
    "the power kernel, its relation to ALiBi",
    r"-r_1|j-i|^{p}=-m(j-i)\quad\text{at } p=1,\ r_1=m",
    label="P",
    falsifiers={"p = 2": {"exponent": 2}, "r1 = 2m": {"slopes": 2}},
)
def alibi_case(exponent: int = 1, slopes: int = 1) -> Facts:
    """ALiBi is the power kernel with p = 1 and r1 = m."""
    i, distance = sp.Symbol("i", real=True), sp.Symbol("D", nonnegative=True)
    scale, power, bias = slopes * biases.ALIBI_SLOPE, sp.Integer(exponent), bias_of(biases.KERPLE_POWER)
    values = {biases.KERPLE_SCALE: scale, biases.KERPLE_EXPONENT: power}
    expected = alibi(distance)
    yield "-m D^p = -m (j - i), D = j - i", lambda: _power(distance, power, scale), expected
    yield "the law, key before the query", lambda: bias(i + distance, i).xreplace(values), expected
    after = "the law, key after the query, is that of the two-sided ALiBi"
    yield after, lambda: bias(i, i + distance).xreplace(values), expected
    yield same_by_sympy("numbers trained", biases.KERPLE_POWER.learned, 2 * HEADS)


@CLAIMS.claim(
    "kerple-3",
    "from a conditionally positive definite kernel to a positive definite one, and softmax; strictness is ours",
    r"K+c\,\mathbf{1}\mathbf{1}^\top\succ 0,\ c=\frac{g-\mathbf{1}^\top K\mathbf{1}+1}{n^2},\ "
    r"g=\max_{\sum w=0}\frac{(w^\top K\mathbf{1})^2}{w^\top Kw};\quad\sigma(s+K+c)=\sigma(s+K)",
    assumptions=("finitely many distinct real points",),
    printed={"exponent": 2},
    falsifiers={
        "already with c = 0": {"constant": lambda strength, total, count: sp.S.Zero},
        "with the c at which it is only semidefinite": {"constant": lambda g, total, count: (g - total) / count**2},
        "for p = 2 too": {"exponent": 2},
    },
)
def positive_with_constant(
    constant: Formula = lambda strength, total, count: (strength - total + 1) / count**2, exponent: int = 1
) -> Facts:
    """On finitely many distinct points a kernel K that is strictly conditionally positive definite, as -|x - y|^p is
    for 0 < p < 2, is positive definite once a large constant is added; softmax is not changed by it (the abstract says
    so of every conditionally positive definite kernel; for -|x - y|^2 no constant is enough).

    `constant` takes g, 1^T K 1 and n, where g is the largest (w^T K 1)^2 / (w^T K w) over sum w = 0.
    """
    triple, weights = _TRIPLE
    kernel_values = [[_power(sp.Integer(abs(x - y)), sp.Integer(exponent)) for y in triple] for x in triple]
    row = sp.Matrix([weights]) * sp.Matrix(kernel_values)
    form, with_ones = row.dot(weights), sp.Add(*row)
    negative = "so whatever c is, (w + t 1)^T (K + c 1 1^T) (w + t 1) < 0 for small t of the other sign than w^T K 1"
    singular = f"p = {exponent}, x = {triple}, w = {weights}: w^T K w = {form}, w^T K 1 = {with_ones}"
    refute(form == 0 != with_ones, f"{singular}, {negative}")
    for points in _POINTS:
        yield _on_points(points, constant, exponent)
    within, cross, total, strength = sp.symbols("A B k g", positive=True)
    count, share = sp.Symbol("n", positive=True), sp.Symbol("t", real=True)
    added = constant(strength, total, count)
    form_over_within = within + 2 * share * cross + share**2 * (total + added * count**2)
    content, other, kernel, other_kernel, shift = sp.symbols("s s_ K K_ c", real=True)
    yield (
        "v = w + t 1, sum w = 0, A = w^T K w, B = w^T K 1: A v^T (K + c 1 1^T) v = (A + t B)^2 + t^2 (..)",
        lambda: within * form_over_within,
        lambda: (within + share * cross) ** 2 + share**2 * (within * (total + added * count**2) - cross**2),
    )
    inner = "what is in these brackets is (g A - B^2) + A, positive for w not 0 by the choice of g"
    yield inner, lambda: within * (total + added * count**2) - cross**2, lambda: (strength * within - cross**2) + within
    yield "for w = 0 the form is t^2 (g + 1)", lambda: total + added * count**2, lambda: strength + 1
    yield "g is finite: B^2 / A is continuous on the sphere of all w with sum 0, on which A > 0 (K is strict)"
    yield (
        "K = -|x - y|^p is strict for 0 < p < 2: sum c e^(ixu) vanishes for all u only if c = 0, the points being "
        "distinct; so is -log(1 + a|x - y|^p), as -t a|x - y|^p leads its integrand for small t"
    )
    yield (
        "softmax does not see the constant: ratio of two weights of a row",
        lambda: sp.exp(content + kernel + shift) / sp.exp(other + other_kernel + shift),
        lambda: sp.exp(content + kernel) / sp.exp(other + other_kernel),
    )


def _on_points(points: Sequence[int], constant: Formula, exponent: int) -> str:
    """Fact that K + c is positive definite on these points. Raises `Refuted` if it is not."""
    kernel = [[int(_power(sp.Integer(abs(x - y)), sp.Integer(exponent))) for y in points] for x in points]
    differences = [[entry - first for entry, first in zip(row, kernel[0], strict=True)] for row in kernel[1:]]
    within = [[entry - row[0] for entry in row[1:]] for row in differences]
    where = f"x = {points}, p = {exponent}"
    on_units = f"{within} on the w = e_i - e_1, so no constant makes it positive definite"
    refute(not _is_positive_definite(within), f"{where}: the form is not positive on all w with sum 0, {on_units}")
    cross = rational.exact_matrix([[sum(row)] for row in differences])
    strength = (cross.transpose() * rational.solve(rational.exact_matrix(within), cross))[0, 0]
    total, count = sp.Integer(sum(map(sum, kernel))), sp.Integer(len(points))
    exact = constant(sp.Rational(int(strength.p), int(strength.q)), total, count)
    added = Fraction(int(exact.p), int(exact.q))
    positive = _is_positive_definite([[entry + added for entry in row] for row in kernel])
    refute(not positive, f"{where}, c = {added}: K + c 1 1^T is not positive definite")
    return f"{where}: g = {strength}, and K + c 1 1^T is positive definite with c = {added}"


def _is_positive_definite(matrix: Sequence[Sequence[int | Fraction]]) -> bool:
    """True if the matrix is positive definite, by Sylvester's criterion: all leading minors are positive."""
    sizes = range(1, len(matrix) + 1)
    return all(rational.exact_matrix(np.array(matrix, dtype=object)[:size, :size]).det() > 0 for size in sizes)
