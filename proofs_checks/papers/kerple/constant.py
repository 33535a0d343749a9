"""The constant that makes KERPLE's kernels positive definite, and that softmax does not see."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal
from lengthgen.proofs_checks.papers.kerple import SOURCE
from lengthgen.theory import rational
from lengthgen.theory.encodings import biases

Constant = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]

_POINTS = ((0, 1), (0, 1, 2), (0, 1, 3), (0, 1, 2, 3, 4, 5), (0, 7, 50))


def positive_with_constant(*, constant: Constant, exponent: int) -> Evidence:
    """Decide that K + c is positive definite on distinct points for the stated c, if K is so for sums of zero.

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
    return Evidence(strength=Strength.GENERAL, facts=tuple(facts), assumptions=("finitely many distinct real points",))


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


CLAIMS = (
    Claim(
        id="kerple-3",
        source=SOURCE.at("from a conditionally positive definite kernel to a positive definite one, and softmax"),
        statement="On finitely many distinct points a kernel K that is strictly conditionally positive definite, as "
        "-|x - y|^p is for p < 2, is positive definite once a large constant is added; softmax is not changed by it.",
        latex=r"K+c\,\mathbf{1}\mathbf{1}^\top\succ 0,\ c=\frac{g-\mathbf{1}^\top K\mathbf{1}+1}{n^2},\ "
        r"g=\max_{\sum w=0}\frac{(w^\top K\mathbf{1})^2}{w^\top Kw};\quad\sigma(s+K+c)=\sigma(s+K)",
        label="P",
        check=positive_with_constant,
        holds={"constant": lambda strength, total, count: (strength - total + 1) / count**2, "exponent": 1},
        falsifiers={
            "already with c = 0": {"constant": lambda strength, total, count: sp.S.Zero},
            "with the c at which it is only semidefinite": {
                "constant": lambda strength, total, count: (strength - total) / count**2
            },
            "for p = 2 too": {"exponent": 2},
        },
    ),
)
