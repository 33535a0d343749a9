"""KERPLE (arXiv 2205.09921): conditionally positive definite kernels, constants added to them, and their weights.

A kernel K is conditionally positive definite if c^T K c >= 0 on all points, for all c with sum zero.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.proofs_checks.facts import ball, derivative, require_equal, same_by_sympy, sign
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.theory import rational
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS, LENGTH, Encoding

SOURCE = Source(paper="KERPLE", arxiv="2205.09921")

Constant = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_THEOREM = "the power and the logarithmic kernel, conditionally positive definite"
_PAIR = ((0, 1), (1, -1))
_TRIPLE = ((-1, 0, 1), (1, -2, 1))
_RATE = sp.Rational(1, 10)
_POINTS = ((0, 1), (0, 1, 2), (0, 1, 3), (0, 1, 2, 3, 4, 5), (0, 7, 50))


def form(kernel: Callable[[sp.Expr], sp.Expr], points: Sequence[int], weights: Sequence[int]) -> sp.Expr:
    """Return the quadratic form c^T K c, with c = `weights` and K_xy = kernel(|x - y|)."""
    return sp.Add(
        *(
            weight * other_weight * kernel(sp.Integer(abs(x - y)))
            for x, weight in zip(points, weights, strict=True)
            for y, other_weight in zip(points, weights, strict=True)
        )
    )


def _require_threshold(obstacle: sp.Expr, exponent: sp.Symbol, largest: sp.Rational) -> None:
    """Require that the form of three points, which falls as p rises, is zero at p = `largest`."""
    value = obstacle.subs(exponent, largest)
    side = sign(value)
    if side < 0:
        scaled = (100**largest * value).n(4)
        raise Refuted(
            f"p = {largest}: x = (-1, 0, 1), c = (1, -2, 1) give c^T K c = {value}, and 100 times these points {scaled}"
        )
    if side > 0:
        raise Refuted(
            f"p = {largest}: x = (-1, 0, 1), c = (1, -2, 1) give c^T K c = {value}, so larger exponents pass too"
        )


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "kerple-1",
    _THEOREM,
    r"\sum_i c_i=0\Rightarrow-\sum_{i,j}c_ic_j|x_i-x_j|^p\ge 0\iff p\le 2\qquad(p>0)",
    label="P",
    assumptions=("finitely many real points",),
    answers=("largest",),
    falsifiers={
        "of the squared distance": {
            "kernel": lambda distance, exponent: biases.kerple_power(distance**2, scale=sp.S.One, exponent=exponent)
        },
        "of the root of the distance": {
            "kernel": lambda distance, exponent: biases.kerple_power(
                sp.sqrt(distance), scale=sp.S.One, exponent=exponent
            )
        },
        "growing with the distance": {
            "kernel": lambda distance, exponent: biases.kerple_power(distance, scale=-sp.S.One, exponent=exponent)
        },
    },
)
def power_kernel(
    kernel: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda distance, exponent: biases.kerple_power(
        distance, scale=sp.S.One, exponent=exponent
    ),
    largest: sp.Rational = sp.Integer(2),
) -> Facts:
    """-|x - y|^p is conditionally positive definite for 0 < p <= 2, and for no larger p.

    Decide the exponents p for which -|x - y|^p is conditionally positive definite: exactly 0 < p <= `largest`.
    """
    exponent = sp.Symbol("p", positive=True)
    obstacle = form(lambda distance: kernel(distance, exponent), *_TRIPLE)
    _require_threshold(obstacle, exponent, largest)
    if (biases.KERPLE_EXPONENTS.start, biases.KERPLE_EXPONENTS.end, biases.KERPLE_EXPONENTS.left_open) != (
        0,
        largest,
        True,
    ):
        raise Refuted(f"the encoding's exponents are {biases.KERPLE_EXPONENTS}, not those above 0 up to {largest}")
    a, b, p, wave = sp.symbols("a b p g", real=True)
    x, y, u, v = sp.symbols("x y u v", real=True)
    yield f"x = (-1, 0, 1), c = (1, -2, 1): c^T K c = {obstacle}, negative for every p > 2"
    yield f"the encoding's exponents are those above 0 up to {biases.KERPLE_EXPONENTS.end}"
    yield "-K(t) = t^p, written with t = e^b", lambda: -kernel(sp.exp(b), p), lambda: sp.exp(p * b)
    yield (
        "with v = tu, e^a = v: (1 - cos tu) u^(-1-p) du = t^p (1 - cos v) v^(-1-p) dv, g for 1 - cos v",
        lambda: wave * sp.exp((a - b) * (-1 - p)) * sp.exp(-b),
        lambda: sp.exp(p * b) * wave * sp.exp(a * (-1 - p)),
    )
    yield (
        "1 - cos v = 2 sin(v/2)^2, so between 0 and v^2/2, and at most 2",
        lambda: 1 - sp.cos(v),
        lambda: 2 * sp.sin(v / 2) ** 2,
    )
    yield (
        "v^(1-p) is integrable up to 1 for p < 2: derivative of v^(2-p)/(2-p)",
        lambda: derivative(sp.exp((2 - p) * a) / (2 - p), a),
        lambda: sp.exp((1 - p) * a) * sp.exp(a),
    )
    yield (
        "v^(-1-p) is integrable from 1 on for p > 0: derivative of -v^(-p)/p",
        lambda: derivative(-sp.exp(-p * a) / p, a),
        lambda: sp.exp((-1 - p) * a) * sp.exp(a),
    )
    yield "so for 0 < p < 2, |t|^p is a positive constant times the integral of (1 - cos tu) u^(-1-p) over u > 0"
    yield (
        "cos (x - y)u = cos xu cos yu + sin xu sin yu",
        lambda: sp.cos((x - y) * u),
        lambda: sp.cos(x * u) * sp.cos(y * u) + sp.sin(x * u) * sp.sin(y * u),
    )
    yield "so for sum c = 0 the form is that constant times the integral of |sum c e^(ixu)|^2 u^(-1-p), not negative"
    yield (
        "p = 2: K = 2xy - x^2 - y^2, so for sum c = 0 the form is 2 (sum c x)^2",
        lambda: kernel(x - y, sp.Integer(2)),
        lambda: 2 * x * y - x**2 - y**2,
    )


@CLAIMS.claim(
    "kerple-2",
    _THEOREM,
    r"\sum_i c_i=0\Rightarrow-\sum_{i,j}c_ic_j\log(1+a|x_i-x_j|^p)\ge 0\ \forall a>0\iff p\le 2\qquad(p>0)",
    label="P",
    assumptions=("finitely many real points", "any a > 0"),
    answers=("largest",),
    falsifiers={
        "+|x - y|^p": {"kernel": lambda distance, rate: distance},
        "+log": {"kernel": lambda distance, rate: -biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate)},
        "of the squared distance": {
            "kernel": lambda distance, rate: biases.kerple_logarithm(distance**2, scale=sp.S.One, rate=rate)
        },
    },
)
def log_kernel(
    kernel: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda distance, rate: biases.kerple_logarithm(
        distance, scale=sp.S.One, rate=rate
    ),
    largest: sp.Rational = sp.Integer(2),
) -> Facts:
    """-log(1 + a |x - y|^p) is conditionally positive definite for every a > 0 if 0 < p <= 2, and only then; the
    released kernel has p = 1.

    Decide that -log(1 + a |x - y|^p) is conditionally positive definite for every a > 0 iff 0 < p <= `largest`.
    """
    for points, weights in (_PAIR, _TRIPLE):
        value = form(lambda distance: kernel(distance**largest, _RATE), points, weights)
        if ball(value) < 0:
            raise Refuted(f"p = {largest}, a = 1/10, x = {points}, c = {weights}: c^T K c = {value.n(4)}")
    exponent, rate = sp.symbols("p a", positive=True)
    obstacle = form(lambda distance: kernel(distance**exponent, rate), *_TRIPLE).diff(rate).subs(rate, 0)
    _require_threshold(obstacle, exponent, largest)
    s, t = sp.symbols("s t", positive=True)
    centred, first, second, origin = sp.symbols("K~ K_x K_y K_0", real=True)
    density = (1 - sp.exp(-s * t)) * sp.exp(-t) / t
    yield f"x = (-1, 0, 1), c = (1, -2, 1): c^T K c = a ({obstacle}) + O(a^2), negative for p > 2 and small a"
    yield same_by_sympy("e^(-K) = 1 + s at s = a |x - y|^p", sp.exp(-kernel(s / rate, rate)), 1 + s)
    yield same_by_sympy("derivative of log(1 + s)", (-kernel(s / rate, rate)).diff(s), 1 / (1 + s))
    yield "derivative of (1 - e^(-st)) e^(-t)/t in s", lambda: derivative(density, s), lambda: sp.exp(-(1 + s) * t)
    yield (
        "which is that of -e^(-(1 + s)t)/(1 + s) in t, so its integral over t > 0 is 1/(1 + s)",
        lambda: derivative(-sp.exp(-(1 + s) * t) / (1 + s), t),
        lambda: sp.exp(-(1 + s) * t),
    )
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


def _sides(encoding: Encoding, distance: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The encoding's bias at this distance, for a key before and for a key after the query."""
    i = sp.Symbol("i", real=True)
    assert encoding.bias is not None
    return encoding.bias(i + distance, i, LENGTH), encoding.bias(i, i + distance, LENGTH)


@CLAIMS.claim(
    "kerple-4",
    "the power kernel, its relation to ALiBi",
    r"-r_1|j-i|^{p}=-m(j-i)\quad\text{at } p=1,\ r_1=m",
    label="P",
    falsifiers={"p = 2": {"exponent": 2}, "r1 = 2m": {"slopes": 2}},
)
def alibi_case(exponent: int = 1, slopes: int = 1) -> Facts:
    """ALiBi is the power kernel with p = 1 and r1 = m.

    Decide that the power kernel with this exponent and r1 = `slopes` * m is ALiBi's bias.
    """
    slope = biases.ALIBI_SLOPE
    distance = sp.Symbol("D", nonnegative=True)
    values = {biases.KERPLE_SCALE: slopes * slope, biases.KERPLE_EXPONENT: sp.Integer(exponent)}
    expected = biases.alibi_bias(slope, query_position=distance, key_position=sp.S.Zero)
    yield (
        "-m D^p = -m (j - i), D = j - i",
        lambda: biases.kerple_power(distance, scale=slopes * slope, exponent=sp.Integer(exponent)),
        expected,
    )
    yield "the law, key before the query", lambda: _sides(biases.KERPLE_POWER, distance)[0].xreplace(values), expected
    yield (
        "the law, key after the query, is that of the two-sided ALiBi",
        lambda: _sides(biases.KERPLE_POWER, distance)[1].xreplace(values),
        expected,
    )
    yield same_by_sympy("numbers trained", biases.KERPLE_POWER.learned, 2 * HEADS)


@CLAIMS.claim(
    "kerple-5",
    "the logarithmic kernel; its tail is ours",
    r"\sum_{D\ge 0}(1+r_2D)^{-r_1}=\infty\iff r_1\le 1,\quad \sum_{D\ge 0}e^{-mD}=\frac{1}{1-e^{-m}}",
    assumptions=("equal contents", "r1, r2 > 0"),
    answers=("largest_divergent",),
    falsifiers={
        "blocks of one length": {"block": lambda level, scale: sp.Integer(2) ** (-level * scale)},
        "blocks in the plane": {"block": lambda level, scale: sp.Integer(2) ** (level * (2 - scale))},
        "the weight's root": {"block": lambda level, scale: sp.Integer(2) ** (level * (1 - scale / 2))},
    },
)
def polynomial_tail(
    block: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda level, scale: sp.Integer(2) ** (level * (1 - scale)),
    largest_divergent: sp.Rational = sp.Integer(1),
) -> Facts:
    """At equal content the logarithmic kernel gives the weights (1 + r2 D)^(-r1), a power of the distance: their sum
    over all distances is infinite if and only if r1 <= 1, and then no window is effective; for ALiBi the sum is finite.

    Decide for which r1 the weights (1 + r2 D)^(-r1) have an infinite sum: those up to `largest_divergent`.

    `block` is 2^k times the weight D^(-r1) at D = 2^k, a function of k and r1.
    """
    scale, rate = sp.symbols("r1 r2", positive=True)
    distance, level = sp.Symbol("D", positive=True), sp.Symbol("k", integer=True, nonnegative=True)
    yield (
        "weight^(-1/r1) = 1 + r2 D",
        lambda: sp.exp(-biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate)),
        lambda: 1 + rate * distance,
    )
    yield (
        "scale: r1 times the kernel of r1 = 1",
        biases.kerple_logarithm(distance, scale=scale, rate=rate),
        lambda: scale * biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate),
    )
    yield same_by_sympy(
        "the law, key before and key after the query",
        sp.Matrix(_sides(biases.KERPLE_LOG, distance)),
        sp.Matrix([biases.kerple_logarithm(distance, scale=biases.KERPLE_SCALE, rate=biases.KERPLE_RATE)] * 2),
    )
    yield same_by_sympy("numbers trained", biases.KERPLE_LOG.learned, 2 * HEADS)
    yield "1 + r2 D exceeds r2 D by 1", lambda: 1 + rate * distance - rate * distance, sp.S.One
    yield (
        "and falls short of (1 + r2) D by D - 1, not negative for D >= 1",
        lambda: (1 + rate) * distance - (1 + rate * distance),
        lambda: distance - 1,
    )
    yield "so the weight at D is D^(-r1) within the factors (1 + r2)^(-r1) and r2^(-r1)"
    growth = sp.powsimp(block(level + 1, scale) / block(level, scale))
    at_edge = growth.subs(scale, largest_divergent)
    if at_edge > 1:
        more = (1 + largest_divergent) / 2
        raise Refuted(f"r1 = {more}: 2^k terms of at least 2^(-{more} (k + 1)) each: the blocks do not even fall to 0")
    if at_edge < 1:
        raise Refuted(
            f"r1 = {largest_divergent}: block k has 2^k terms of at most 2^(-{largest_divergent} k): finite sum"
        )
    yield (
        f"2^k distances from 2^k on weigh 2^(k (1 - r1)) together, within a factor 2^r1: each block {growth} times "
        "the one before, 1 or more if and only if r1 <= 1"
    )
    yield "so for r1 <= 1 the sum has no limit: the share of any fixed window falls to 0 as the context grows"
    yield (
        "ALiBi: sums (1 - e^(-mT))/(1 - e^(-m)) < 1/(1 - e^(-m)); the term that step T adds",
        lambda: (
            (1 - sp.exp(-biases.ALIBI_SLOPE * (level + 1))) / (1 - sp.exp(-biases.ALIBI_SLOPE))
            - (1 - sp.exp(-biases.ALIBI_SLOPE * level)) / (1 - sp.exp(-biases.ALIBI_SLOPE))
        ),
        lambda: sp.exp(biases.alibi_bias(biases.ALIBI_SLOPE, query_position=level, key_position=sp.S.Zero)),
    )


def _on_points(points: Sequence[int], constant: Constant, exponent: int) -> str:
    """Fact that K + c is positive definite on these points. Raises `Refuted` if it is not."""
    kernel = [[_entry(x, y, exponent) for y in points] for x in points]
    differences = [[kernel[a][b] - kernel[0][b] for b in range(len(points))] for a in range(1, len(points))]
    within = [[row[b] - row[0] for b in range(1, len(points))] for row in differences]
    if not _is_positive_definite(within):
        raise Refuted(
            f"x = {points}, p = {exponent}: the form is not positive on all w with sum 0, {within} on the w = "
            "e_i - e_1, so no constant makes it positive definite"
        )
    cross = [[sum(row)] for row in differences]
    solved = rational.solve(rational.exact_matrix(within), rational.exact_matrix(cross))
    strength = (rational.exact_matrix(cross).transpose() * solved)[0, 0]
    total = sum(map(sum, kernel))
    exact = constant(sp.Rational(int(strength.p), int(strength.q)), sp.Integer(total), sp.Integer(len(points)))
    added = Fraction(int(exact.p), int(exact.q))
    if not _is_positive_definite([[entry + added for entry in row] for row in kernel]):
        raise Refuted(f"x = {points}, p = {exponent}, c = {added}: K + c 1 1^T is not positive definite")
    return f"x = {points}, p = {exponent}: g = {strength}, and K + c 1 1^T is positive definite with c = {added}"


def _entry(x: int, y: int, exponent: int) -> int:
    """Entry of K for two positions, an integer."""
    return int(biases.kerple_power(sp.Integer(abs(x - y)), scale=sp.S.One, exponent=sp.Integer(exponent)))


def _is_positive_definite(matrix: Sequence[Sequence[int | Fraction]]) -> bool:
    """True if the matrix is positive definite, by Sylvester's criterion: all leading minors are positive."""
    sizes = range(1, len(matrix) + 1)
    return all(rational.exact_matrix(np.array(matrix, dtype=object)[:size, :size]).det() > 0 for size in sizes)


@CLAIMS.claim(
    "kerple-3",
    "from a conditionally positive definite kernel to a positive definite one, and softmax",
    r"K+c\,\mathbf{1}\mathbf{1}^\top\succ 0,\ c=\frac{g-\mathbf{1}^\top K\mathbf{1}+1}{n^2},\ "
    r"g=\max_{\sum w=0}\frac{(w^\top K\mathbf{1})^2}{w^\top Kw};\quad\sigma(s+K+c)=\sigma(s+K)",
    label="P",
    assumptions=("finitely many distinct real points",),
    falsifiers={
        "already with c = 0": {"constant": lambda strength, total, count: sp.S.Zero},
        "with the c at which it is only semidefinite": {
            "constant": lambda strength, total, count: (strength - total) / count**2
        },
        "for p = 2 too": {"exponent": 2},
    },
)
def positive_with_constant(
    constant: Constant = lambda strength, total, count: (strength - total + 1) / count**2, exponent: int = 1
) -> Facts:
    """On finitely many distinct points a kernel K that is strictly conditionally positive definite, as -|x - y|^p is
    for p < 2, is positive definite once a large constant is added; softmax is not changed by it.

    `constant` takes g, 1^T K 1 and n, where g is the largest (w^T K 1)^2 / (w^T K w) over sum w = 0.
    """
    facts = [_on_points(points, constant, exponent) for points in _POINTS]
    within, cross, total, strength = sp.symbols("A B k g", positive=True)
    count, share = sp.Symbol("n", positive=True), sp.Symbol("t", real=True)
    added = constant(strength, total, count)
    form_over_within = within + 2 * share * cross + share**2 * (total + added * count**2)
    content, other, kernel, other_kernel, shift = sp.symbols("s s_ K K_ c", real=True)
    facts += [
        require_equal(
            "v = w + t 1, sum w = 0, A = w^T K w, B = w^T K 1: A v^T (K + c 1 1^T) v = (A + t B)^2 + t^2 (..)",
            lambda: within * form_over_within,
            lambda: (within + share * cross) ** 2 + share**2 * (within * (total + added * count**2) - cross**2),
        ),
        require_equal(
            "what is in these brackets is (g A - B^2) + A, positive for w not 0 by the choice of g",
            lambda: within * (total + added * count**2) - cross**2,
            lambda: (strength * within - cross**2) + within,
        ),
        require_equal("for w = 0 the form is t^2 (g + 1)", lambda: total + added * count**2, lambda: strength + 1),
        "g is finite: B^2 / A is continuous on the sphere of all w with sum 0, on which A > 0 (K is strict)",
        "K = -|x - y|^p is strict for 0 < p < 2: sum c e^(ixu) vanishes for all u only if c = 0, the points being "
        "distinct; so is -log(1 + a|x - y|^p), as -t a|x - y|^p leads its integrand for small t",
        require_equal(
            "softmax does not see the constant: ratio of two weights of a row",
            lambda: sp.exp(content + kernel + shift) / sp.exp(other + other_kernel + shift),
            lambda: sp.exp(content + kernel) / sp.exp(other + other_kernel),
        ),
    ]
    yield from facts
