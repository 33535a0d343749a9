"""Steps that are rotations and steps that are not: PaTH's reflections, a plane's normal form, gains after rotation."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import product, require_equal
from lengthgen.proofs_checks.papers.grape import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory.encodings import grape, rotary

Basis = Callable[[int], sp.Matrix]
"""Dimension -> an orthogonal B whose first two columns span the plane of e_1 and e_2."""
DIMENSIONS = (2, 3, 4)

FIRST, SECOND = sp.symbols("c_1 c_2", real=True)
"""Products of the query's and the key's gain on the two coordinates of a rotated pair."""


def partial_reflections(
    *, factor: Callable[[sp.Expr], sp.Expr], orthogonal: frozenset[int], determinant: sp.Expr
) -> Evidence:
    """Decide where I - factor(beta) w w^T is orthogonal, its determinant and its singular values."""
    beta = sp.Symbol("beta", real=True)
    step = grape.partial_reflection(factor(beta))
    identity = grape.identity(step.gram)
    defect = sp.Poly((step.transpose() @ step).coefficients[0] - identity.coefficients[0], beta)
    roots = frozenset(int(root) for root in defect.real_roots())
    if roots != orthogonal:
        value = sorted(roots ^ orthogonal)[0]
        raise Refuted(
            f"beta = {value}: H^T H - I = {defect.eval(value)} w w^T, and it is orthogonal at {sorted(roots)}"
        )
    across, along = grape.reflection_singular_values(beta)
    gram = step.transpose() @ step
    facts = (
        require_equal("H^T H - I has w w^T times", defect.as_expr, lambda: beta**2 - 2 * beta),
        require_equal("det H", step.determinant, lambda: determinant.subs(sp.Symbol("beta"), beta)),
        require_equal("H^T H w = sigma^2 w", lambda: gram.identity + gram.coefficients[0], lambda: along.args[0] ** 2),
        require_equal("H^T H v = sigma^2 v for v across w", lambda: gram.identity, lambda: across**2),
        require_equal("1 - (1 - beta)^2 = beta (2 - beta)", lambda: 1 - along.args[0] ** 2, lambda: beta * (2 - beta)),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            f"orthogonal at beta in {sorted(roots)} only; {along} <= 1 <=> 0 <= beta <= 2, and then the norm is 1 and "
            "the least singular value |1 - beta|",
            "the least singular value of a product is at least the product of the factors': prod |1 - beta_l|",
        ),
        assumptions=("|w| = 1, dimension at least 2", "sigma_min(A B) >= sigma_min(A) sigma_min(B) (textbook)"),
    )


def exchanged(dimension: int) -> sp.Matrix:
    """Return the basis e_2, e_1, and the other axes, the third one reversed if it exists. d x d. [F]"""
    basis = sp.eye(dimension)
    basis[:2, :2] = sp.Matrix([[0, 1], [1, 0]])
    if dimension > 2:
        basis[2, 2] = -1
    return basis


def in_order(dimension: int) -> sp.Matrix:
    """Return the axes in their order. d x d."""
    return sp.eye(dimension)


def plane_form(*, basis: Basis, determinant: Callable[[int], int]) -> Evidence:
    """Decide B^T L B = J + 0 for L = L(e_1, e_2) and B orthogonal with this determinant, and what SO(2) can do."""
    facts = []
    for dimension in DIMENSIONS:
        change = basis(dimension)
        generator = _generator(sp.eye(dimension).col(0), sp.eye(dimension).col(1))
        form = sp.zeros(dimension, dimension)
        form[:2, :2] = rotary.rotation(sp.pi / 2)
        facts += [
            require_equal(f"d = {dimension}: B^T B = I", product(change.T, change), sp.eye(dimension)),
            require_equal(
                f"d = {dimension}: B^T L(e_1, e_2) B = J, s = 1", product(change.T, product(generator, change)), form
            ),
        ]
        if not is_zero(change.det() - determinant(dimension)):
            raise Refuted(f"d = {dimension}: det B = {sp.simplify(change.det())}, not {determinant(dimension)}")
    angle = sp.Symbol("t", real=True)
    a, b = sp.Matrix(sp.symbols("a1 a2", real=True)), sp.Matrix(sp.symbols("b1 b2", real=True))
    generator, turn = _generator(a, b), rotary.rotation(angle)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            require_equal(
                "d = 2: L(a, b) = -det(a, b) J",
                generator,
                lambda: -sp.Matrix.hstack(a, b).det() * rotary.rotation(sp.pi / 2),
            ),
            require_equal("every B in SO(2) leaves it as it is", lambda: turn.T * generator * turn, generator),
            "so at d = 2 B^T L B = s J for a B in SO(2) if and only if det(a, b) < 0, or s = 0",
        ),
        assumptions=(
            "d >= 3: as at d = 3 with further axes left alone",
            "other planes: B times a rotation to the plane",
        ),
    )


def _generator(a: sp.Matrix, b: sp.Matrix) -> sp.Matrix:
    """The generator L(a, b) = a b^T - b a^T."""
    return a * b.T - b * a.T


def _rotated(dimension: int) -> sp.Matrix:
    """An arbitrary rotation at d = 2, `exchanged` in higher dimensions."""
    return rotary.rotation(sp.Symbol("t", real=True)) if dimension == 2 else exchanged(dimension)


def gains_after_rotation(*, first: sp.Expr, second: sp.Expr) -> Evidence:
    """Decide that R(j)^T C R(i) depends on j - i alone for the gain products C = diag(first, second) of a pair."""
    i, distance, shift, w = sp.symbols("i D s omega", real=True)
    facts = [
        require_equal(
            "the kernel at i + s, j + s is that at i, j",
            lambda: _kernel(i + distance + shift, i + shift, w, first, second),
            lambda: _kernel(i + distance, i, w, first, second),
        )
    ]

    def expected() -> sp.Matrix:
        turn, mirror = rotary.rotation(distance * w).T, sp.diag(1, -1)
        reflected = rotary.rotation((2 * i + distance) * w).T * mirror
        return (FIRST + SECOND) / 2 * turn + (FIRST - SECOND) / 2 * reflected

    facts.append(
        require_equal(
            "R(j)^T C R(i) = (c_1 + c_2)/2 R(j - i)^T + (c_1 - c_2)/2 R(i + j)^T S",
            lambda: _kernel(i + distance, i, w, FIRST, SECOND),
            expected,
        )
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "S = diag(1, -1): the second part goes with i + j, and vanishes only for c_1 = c_2", _example()),
        assumptions=("omega not a multiple of pi, where R(i + j) is constant up to its sign", "plane by plane"),
    )


def _kernel(query: sp.Expr, key: sp.Expr, frequency: sp.Expr, first: sp.Expr, second: sp.Expr) -> sp.Matrix:
    """The matrix R(j)^T C R(i)."""
    on_query, on_key = rotary.rotation(query * frequency), rotary.rotation(key * frequency)
    return on_query.T * sp.diag(first, second) * on_key


def _example() -> str:
    """Text with scores of q = k = (1, 0) at offset 1 for the gains (1, 2) on both, so C = diag(1, 4), at omega = 1."""
    scores = [_kernel(sp.Integer(key + 1), sp.Integer(key), sp.Integer(1), 1, 4)[0, 0] for key in (0, 1)]
    near, far = (float(score.evalf(20)) for score in scores)
    return f"gains (1, 2), omega = 1, q = k = (1, 0): scores {near:.4f} at (0, 1) and {far:.4f} at (1, 2)"


CLAIMS = (
    Claim(
        id="grape-14",
        source=SOURCE.at("the released code: RMSNorm of queries and keys with a learned gain, after the rotation"),
        statement="With gains after the rotation scores depend on j - i alone if and only if the product of the "
        "query's and the key's gain is the same on both coordinates of every rotated pair (errata F12).",
        latex=r"R(j)^\top\mathrm{diag}(c_1,c_2)R(i)=f(j-i)\iff c_1=c_2,\quad c=\gamma_q\gamma_k",
        label="F",
        check=gains_after_rotation,
        holds={"first": FIRST, "second": FIRST},
        falsifiers={"any gains": {"second": SECOND}, "gains of opposite sign": {"second": -FIRST}},
    ),
    Claim(
        id="grape-19",
        source=SOURCE.at("comparison with PaTH: products of partial reflections"),
        statement="I - beta w w^T with |w| = 1 is orthogonal only for beta = 0 and 2, has determinant 1 - beta, norm 1 "
        "for 0 <= beta <= 2, and a product of them shrinks a vector at most by prod |1 - beta_l|.",
        latex=r"H=I-\beta ww^\top:\ H^\top H=I\iff\beta\in\{0,2\},\ \det H=1-\beta,\ "
        r"\sigma_{\min}\Big(\prod_lH_l\Big)\ge\prod_l|1-\beta_l|",
        label="P",
        check=partial_reflections,
        holds={"factor": lambda beta: beta, "orthogonal": frozenset({0, 2}), "determinant": 1 - sp.Symbol("beta")},
        answers=("orthogonal",),
        falsifiers={
            "2 beta for beta": {"factor": lambda beta: 2 * beta},
            "beta^2 for beta": {"factor": lambda beta: beta**2},
            "-beta for beta": {"factor": lambda beta: -beta},
            "determinant 1 - 2 beta": {"determinant": 1 - 2 * sp.Symbol("beta")},
        },
    ),
    Claim(
        id="grape-orientation",
        source=SOURCE.at("Lemma J.1: B in SO(d) with B^T L B = s J on a plane (read in a converted copy of version 1)"),
        statement="Some orthogonal B brings L(a, b) to s J on its plane; B may be chosen as a rotation for d >= 3, but "
        "for d = 2 only if det(a, b) < 0 (the lemma has B in SO(d) for every d; e_1, e_2 in the plane need O(2)).",
        latex=r"d=2:\ B^\top L(a,b)B=L(a,b)=-\det(a,b)\,J\quad\forall B\in SO(2)",
        label="F",
        check=plane_form,
        holds={"basis": exchanged, "determinant": lambda dimension: -1 if dimension == 2 else 1},
        printed={"basis": _rotated, "determinant": lambda dimension: 1},
        falsifiers={
            "the exchange is a rotation at d = 2": {"determinant": lambda dimension: 1},
            "the axes in their order": {"basis": in_order},
            "the third axis as it is": {"basis": lambda dimension: sp.diag(exchanged(2), sp.eye(dimension - 2))},
        },
    ),
)
