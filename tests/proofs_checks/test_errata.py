"""Errors found elsewhere: each refutation shows the figure that was found by hand."""

import numpy as np

from lengthgen.proofs_checks.papers.graph_alibi import matrices


def test_the_decision_by_coefficients_is_that_of_eigenvalues() -> None:
    draw = np.random.default_rng(0)
    for _ in range(200):
        half = draw.integers(-2, 3, size=(4, 4))
        symmetric = half + half.T if draw.random() < 0.5 else half @ half.T
        characteristic = matrices.flint.fmpz_mat((-symmetric).tolist()).charpoly()
        semidefinite = all(coefficient >= 0 for coefficient in characteristic.coeffs())
        assert semidefinite == (np.linalg.eigvalsh(symmetric).min() > -1e-9), symmetric
