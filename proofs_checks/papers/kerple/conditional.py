"""The exponents for which KERPLE's kernels are conditionally positive definite.

A kernel K is conditionally positive definite if c^T K c >= 0 on all points, for all c with sum zero.
"""

from collections.abc import Callable, Sequence

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.kerple import SOURCE
from lengthgen.proofs_checks.signs import sign
from lengthgen.theory.encodings import biases

AtDistance = Callable[[sp.Expr], sp.Expr]

_THEOREM = "the power and the logarithmic kernel, conditionally positive definite"
_PAIR = ((0, 1), (1, -1))
_TRIPLE = ((-1, 0, 1), (1, -2, 1))
_RATE = sp.Rational(1, 10)


def power_kernel(*, kernel: Callable[[sp.Expr, sp.Expr], sp.Expr], largest: sp.Rational) -> Evidence:
    """Decide the exponents p for which -|x - y|^p is conditionally positive definite: exactly 0 < p <= `largest`."""
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
    facts = (
        f"x = (-1, 0, 1), c = (1, -2, 1): c^T K c = {obstacle}, negative for every p > 2",
        f"the encoding's exponents are those above 0 up to {biases.KERPLE_EXPONENTS.end}",
        require_equal("-K(t) = t^p, written with t = e^b", lambda: -kernel(sp.exp(b), p), lambda: sp.exp(p * b)),
        require_equal(
            "with v = tu, e^a = v: (1 - cos tu) u^(-1-p) du = t^p (1 - cos v) v^(-1-p) dv, g for 1 - cos v",
            lambda: wave * sp.exp((a - b) * (-1 - p)) * sp.exp(-b),
            lambda: sp.exp(p * b) * wave * sp.exp(a * (-1 - p)),
        ),
        require_equal(
            "1 - cos v = 2 sin(v/2)^2, so between 0 and v^2/2, and at most 2",
            lambda: 1 - sp.cos(v),
            lambda: 2 * sp.sin(v / 2) ** 2,
        ),
        require_equal(
            "v^(1-p) is integrable up to 1 for p < 2: derivative of v^(2-p)/(2-p)",
            lambda: derivative(sp.exp((2 - p) * a) / (2 - p), a),
            lambda: sp.exp((1 - p) * a) * sp.exp(a),
        ),
        require_equal(
            "v^(-1-p) is integrable from 1 on for p > 0: derivative of -v^(-p)/p",
            lambda: derivative(-sp.exp(-p * a) / p, a),
            lambda: sp.exp((-1 - p) * a) * sp.exp(a),
        ),
        "so for 0 < p < 2, |t|^p is a positive constant times the integral of (1 - cos tu) u^(-1-p) over u > 0",
        require_equal(
            "cos (x - y)u = cos xu cos yu + sin xu sin yu",
            lambda: sp.cos((x - y) * u),
            lambda: sp.cos(x * u) * sp.cos(y * u) + sp.sin(x * u) * sp.sin(y * u),
        ),
        "so for sum c = 0 the form is that constant times the integral of |sum c e^(ixu)|^2 u^(-1-p), not negative",
        require_equal(
            "p = 2: K = 2xy - x^2 - y^2, so for sum c = 0 the form is 2 (sum c x)^2",
            lambda: kernel(x - y, sp.Integer(2)),
            lambda: 2 * x * y - x**2 - y**2,
        ),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("finitely many real points",))


def log_kernel(*, kernel: Callable[[sp.Expr, sp.Expr], sp.Expr], largest: sp.Rational) -> Evidence:
    """Decide that -log(1 + a |x - y|^p) is conditionally positive definite for every a > 0 iff 0 < p <= `largest`."""
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
    facts = (
        f"x = (-1, 0, 1), c = (1, -2, 1): c^T K c = a ({obstacle}) + O(a^2), negative for p > 2 and small a",
        same_by_sympy("e^(-K) = 1 + s at s = a |x - y|^p", sp.exp(-kernel(s / rate, rate)), 1 + s),
        same_by_sympy("derivative of log(1 + s)", (-kernel(s / rate, rate)).diff(s), 1 / (1 + s)),
        require_equal(
            "derivative of (1 - e^(-st)) e^(-t)/t in s", lambda: derivative(density, s), lambda: sp.exp(-(1 + s) * t)
        ),
        require_equal(
            "which is that of -e^(-(1 + s)t)/(1 + s) in t, so its integral over t > 0 is 1/(1 + s)",
            lambda: derivative(-sp.exp(-(1 + s) * t) / (1 + s), t),
            lambda: sp.exp(-(1 + s) * t),
        ),
        "so log(1 + s) is the integral of (1 - e^(-st)) e^(-t)/t over t > 0: both are 0 at s = 0",
        "K' = K(x, y) - K(x, 0) - K(0, y) + K(0, 0) is positive semidefinite for K = -|x - y|^p: its form at c is that "
        "of K at c with -sum c at the point 0 (claim kerple-1)",
        require_equal(
            "e^K is e^(K') times a factor of x and one of y",
            lambda: sp.exp(centred + first + second - origin),
            lambda: sp.exp(centred) * sp.exp(first - origin / 2) * sp.exp(second - origin / 2),
        ),
        "and e^(K'), a power series in K' with positive coefficients, is positive semidefinite, as entrywise products "
        "are (Schur); so is e^(-ta|x - y|^p)",
        "for sum c = 0 the form of -log(1 + a|x - y|^p) is the integral of that of e^(-ta|x - y|^p), times e^(-t)/t",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("finitely many real points", "any a > 0"))


def form(kernel: AtDistance, points: Sequence[int], weights: Sequence[int]) -> sp.Expr:
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


CLAIMS = (
    Claim(
        id="kerple-1",
        source=SOURCE.at(_THEOREM),
        statement="-|x - y|^p is conditionally positive definite for 0 < p <= 2, and for no larger p.",
        latex=r"\sum_i c_i=0\Rightarrow-\sum_{i,j}c_ic_j|x_i-x_j|^p\ge 0\iff p\le 2\qquad(p>0)",
        label="P",
        check=power_kernel,
        holds={
            "kernel": lambda distance, exponent: biases.kerple_power(distance, scale=sp.S.One, exponent=exponent),
            "largest": sp.Integer(2),
        },
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
    ),
    Claim(
        id="kerple-2",
        source=SOURCE.at(_THEOREM),
        statement="-log(1 + a |x - y|^p) is conditionally positive definite for every a > 0 if 0 < p <= 2, and only "
        "then; the released kernel has p = 1.",
        latex=r"\sum_i c_i=0\Rightarrow-\sum_{i,j}c_ic_j\log(1+a|x_i-x_j|^p)\ge 0\ \forall a>0\iff p\le 2\qquad(p>0)",
        label="P",
        check=log_kernel,
        holds={
            "kernel": lambda distance, rate: biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate),
            "largest": sp.Integer(2),
        },
        answers=("largest",),
        falsifiers={
            "+|x - y|^p": {"kernel": lambda distance, rate: distance},
            "+log": {"kernel": lambda distance, rate: -biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate)},
            "of the squared distance": {
                "kernel": lambda distance, rate: biases.kerple_logarithm(distance**2, scale=sp.S.One, rate=rate)
            },
        },
    ),
)
