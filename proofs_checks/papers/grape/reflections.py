"""PaTH's steps beside GRAPE's rotations (arXiv 2512.07805): I - beta w w^T with a unit vector w."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import grape, householder


def partial_reflections(
    *, factor: Callable[[sp.Expr], sp.Expr], orthogonal: frozenset[int], determinant: sp.Expr
) -> Evidence:
    """Decide where I - factor(beta) w w^T is orthogonal, its determinant and its singular values."""
    beta = sp.Symbol("beta", real=True)
    step = householder.partial_reflection(factor(beta))
    one = grape.identity(step.gram)
    defect = sp.Poly((step.transpose() @ step).coefficients[0] - one.coefficients[0], beta)
    found = frozenset(int(root) for root in defect.real_roots())
    if found != orthogonal:
        value = sorted(found ^ orthogonal)[0]
        raise Refuted(
            f"beta = {value}: H^T H - I = {defect.eval(value)} w w^T, and it is orthogonal at {sorted(found)}"
        )
    across, along = householder.singular_values(beta)
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
            f"orthogonal at beta in {sorted(found)} only; {along} <= 1 <=> 0 <= beta <= 2, and then the norm is 1 and "
            "the least singular value |1 - beta|",
            "the least singular value of a product is at least the product of the factors': prod |1 - beta_l|",
        ),
        assumptions=("|w| = 1, dimension at least 2", "sigma_min(A B) >= sigma_min(A) sigma_min(B) (textbook)"),
    )


CLAIMS = (
    Claim(
        id="grape-19",
        source=source("comparison with PaTH: products of partial reflections"),
        statement="I - beta w w^T with |w| = 1 is orthogonal only for beta = 0 and 2, has determinant 1 - beta, norm 1 "
        "for 0 <= beta <= 2, and a product of them shrinks a vector at most by prod |1 - beta_l|.",
        latex=r"H=I-\beta ww^\top:\ H^\top H=I\iff\beta\in\{0,2\},\ \det H=1-\beta,\ "
        r"\sigma_{\min}\Big(\prod_lH_l\Big)\ge\prod_l|1-\beta_l|",
        label="P",
        check=partial_reflections,
        holds={
            "factor": lambda beta: beta,
            "orthogonal": frozenset({0, 2}),
            "determinant": 1 - sp.Symbol("beta"),
        },
        answers=("orthogonal",),
        falsifiers={
            "2 beta for beta": {"factor": lambda beta: 2 * beta},
            "beta^2 for beta": {"factor": lambda beta: beta**2},
            "-beta for beta": {"factor": lambda beta: -beta},
            "determinant 1 - 2 beta": {"determinant": 1 - 2 * sp.Symbol("beta")},
        },
    ),
)
