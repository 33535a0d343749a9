"""GRAPE-A (arXiv 2512.07805): how far unipotent matrices stretch, and which dictionaries of them stay unipotent."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import grape_additive

Condition = Callable[[sp.Expr, sp.Expr], sp.Expr]


def stretches(*, values: Callable[..., tuple[sp.Expr, sp.Expr]], condition: Condition) -> Evidence:
    """Decide spectrum, singular values and condition number of I + s E, and the bounds 1 - s and 1 + s."""
    s, root, x = sp.symbols("s rho x", positive=True)
    squares = {root: 1 + s**2 / 4}
    matrix = grape_additive.unipotent(grape_additive.nilpotent(), s)
    largest, smallest = values(s, root=root)
    gram = matrix.T * matrix
    tests = (
        ("spectrum {1}", (matrix - x * sp.eye(2)).det, lambda: (1 - x) ** 2),
        (
            "N^T N has the eigenvalues sigma^2",
            (gram - x * sp.eye(2)).det,
            lambda: (largest**2 - x) * (smallest**2 - x),
        ),
        ("sigma_+ sigma_- = 1", lambda: largest * smallest, sp.Integer(1)),
        ("sigma_+^2 = 1 + s^2/2 + s sqrt(1 + s^2/4)", lambda: largest**2, lambda: 1 + s**2 / 2 + s * root),
        ("condition number = sigma_+ / sigma_-", lambda: condition(s, root), lambda: largest / smallest),
        ("sigma_+ <= 1 + s: (1 + s/2)^2 - rho^2", lambda: (1 + s - (largest - root)) ** 2 - root**2, s),
        ("sigma_- >= 1 - s if s < 2: rho^2 - (1 - s/2)^2", lambda: root**2 - (1 - s + (root - smallest)) ** 2, s),
    )
    facts = tuple(require_equal(what, left, right, squares=squares) for what, left, right in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "N - I = sE has rank 1 and square 0: one Jordan block of size 2 for each unit of rank"),
        assumptions=(
            "s > 0; -s has the same singular values",
            "any A with A^2 = 0 is in orthonormal coordinates [[0, 0], [C, 0]], and with the singular value "
            "decomposition of C a direct sum of c_k E and zeros (textbook): s becomes s c_k, the largest is s |A|",
        ),
    )


def dictionary(*, vanishing: Callable[[sp.Expr, sp.Expr], tuple[sp.Expr, ...]]) -> Evidence:
    """Decide that the products that are taken for zero make every combination's square zero."""
    weights = sp.symbols("theta_1 theta_2", real=True)
    generators = sp.symbols("A_1 A_2", commutative=False)
    square = sp.expand((weights[0] * generators[0] + weights[1] * generators[1]) ** 2)
    zero = vanishing(*generators)
    remaining = sp.expand(square.subs(dict.fromkeys(zero, 0)))
    lower = grape_additive.nilpotent()
    if remaining != 0:
        raise Refuted(
            f"{remaining} is left: A_1 = E and A_2 = E^T have the squares {(lower**2).tolist()} and "
            f"{(lower.T**2).tolist()}, and (A_1 + A_2)^2 = {((lower + lower.T) ** 2).tolist()}"
        )
    time, later = sp.symbols("t u", real=True)
    steps = [grape_additive.unipotent(lower, when) for when in (time, later)]
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            f"(theta_1 A_1 + theta_2 A_2)^2 = {square} is 0 where {', '.join(map(str, zero))} are",
            require_equal(
                "A^2 = 0: (I + tA)(I + uA) = I + (t + u)A",
                lambda: steps[0] * steps[1],
                lambda: steps[0] + later * lower,
            ),
        ),
        assumptions=("matrices of any dimension; of more generators every two enter in this way",),
    )


CLAIMS = (
    Claim(
        id="grape-12",
        source=source("spectrum and singular values of the unipotent lift"),
        statement="I + sE has the one eigenvalue 1, the singular values sqrt(1 + s^2/2 +- s sqrt(1 + s^2/4)) with "
        "product 1, the condition number sigma_+^2, all within 1 - s and 1 + s; for any A with A^2 = 0 the same holds "
        "with s |A|.",
        latex=r"\sigma_\pm^2=1+\tfrac{s^2}{2}\pm s\sqrt{1+\tfrac{s^2}{4}},\ \sigma_+\sigma_-=1,\ \kappa=\sigma_+^2,\ "
        r"1-|s|\|A\|\le\sigma_-\le\sigma_+\le1+|s|\|A\|",
        label="P",
        check=stretches,
        holds={
            "values": lambda shear, root: grape_additive.singular_values(shear, root=root),
            "condition": lambda shear, root: grape_additive.condition_number(shear, root=root),
        },
        falsifiers={
            "condition number 1 + s": {"condition": lambda shear, root: 1 + shear},
            "singular values 1 + s and 1 - s": {"values": lambda shear, root: (1 + shear, 1 - shear)},
        },
    ),
    Claim(
        id="grape-13",
        source=source("closure of a dictionary of generators"),
        statement="If every A_r^2 and every product A_r A_s of two different generators is 0, every combination of "
        "them has square 0, so it is unipotent again.",
        latex=r"A_r^2=0,\ A_rA_s=0\ (r\ne s)\ \Rightarrow\ \Big(\sum_r\theta_rA_r\Big)^2=0",
        label="P",
        check=dictionary,
        holds={"vanishing": lambda first, second: (first**2, second**2, first * second, second * first)},
        falsifiers={
            "only the squares are 0": {"vanishing": lambda first, second: (first**2, second**2)},
            "products are 0 in one order": {"vanishing": lambda first, second: (first**2, second**2, first * second)},
        },
    ),
)
