"""POLA as a case of PLAA (arXiv 2410.08898): the 0/1 matrices of a relation, which have disjoint supports."""

from collections.abc import Callable, Sequence

import numpy as np

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.plaa.source import source
from theory import min_degree, pola
from theory.dimension import every_relation
from theory.relation import Labels

SIZE = 3


def pola_is_the_disjoint_case(
    *,
    basis_of: Callable[[Labels], min_degree.PositionBasis],
    weights: Callable[[int], Sequence[int]],
) -> Evidence:
    """Decide that what PLAA learns under the 0/1 matrices of a relation is what POLA learns, for every relation."""
    keys, queries = np.triu_indices(SIZE)
    cells = np.vstack([np.eye(len(keys), dtype=np.int64), [[3, -1, 4, 1, -5, 9], [2, 7, -1, 8, 2, 8]]])
    targets = np.zeros((len(cells), SIZE, SIZE), dtype=np.int64)
    targets[:, keys, queries] = cells
    count = 0
    for labels in every_relation(SIZE):
        basis = basis_of(labels)
        for scale in range(1, SIZE + 1):
            found = basis.matrix(
                min_degree.learned_coefficients(basis, targets, training_scale=scale, weights=weights(scale))
            ).astype(np.float64)
            expected = pola.learned_matrix(targets, labels, training_scale=scale)
            if (found != expected).any():
                at = int((found != expected).any(axis=(1, 2)).argmax())
                raise Refuted(
                    f"labels {labels[keys, queries].tolist()}, N0 = {scale}, A = {targets[at].tolist()}: PLAA learns "
                    f"{found[at].tolist()}, POLA {expected[at].tolist()}"
                )
            learned = min_degree.learned_coefficients(basis, basis.matrices, training_scale=scale)
            if (learned != min_degree.min_degree_interpolator(basis, basis.matrices, training_scale=scale)).any():
                raise Refuted(f"labels {labels[keys, queries].tolist()}, N0 = {scale}: not the min-degree interpolator")
        count += 1
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"N = {SIZE}",
        facts=(
            f"all {count} relations at N = {SIZE}, every N0: the rational PLAA solution, rounded once, equals the "
            "floating-point matrix of POLA bit for bit on a basis of the targets and two dense ones",
            "on targets in the span it is the min-degree interpolator",
        ),
        assumptions=("POLA weighs all pairs i <= j <= N0 alike, so PLAA weighs all values of the advice alike",),
    )


def _overlapping_basis(labels: Labels) -> min_degree.PositionBasis:
    disjoint = min_degree.relation_basis(labels).matrices
    return min_degree.position_basis(np.cumsum(disjoint, axis=0))


CLAIMS = (
    Claim(
        id="plaa-pola",
        source=source("generalised RPE; its relation to POLA (arXiv 2510.04130) is ours"),
        statement="With the 0/1 matrices of a relation, which have disjoint supports, PLAA with all values of the "
        "advice equally likely learns exactly what POLA learns under the relation. "
        "Decided for N = 3.",
        latex=r"U_k=\mathbf 1[\varphi=k]\ \Rightarrow\ A_{\mathrm{PLAA}}=A_{\mathrm{POLA}}(\varphi)",
        label="F",
        check=pola_is_the_disjoint_case,
        holds={"basis_of": min_degree.relation_basis, "weights": lambda scale: [1] * scale},
        falsifiers={
            "uniform law over inputs": {"weights": lambda scale: [2**j for j in range(scale)]},
            "overlapping supports": {"basis_of": _overlapping_basis},
        },
    ),
)
