"""Errors found elsewhere: each refutation shows the figure that was found by hand."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from proofs_checks.papers import errata
from proofs_checks.runner import Result

COUNTEREXAMPLES = {
    "galibi-4": {"bicyclo[1.1.1]pentane as well": r"-d is -0\.4 on .*1\.0, 1\.0, -0\.667, -0\.667, -0\.667"},
    "bam-5": {"within the scale too": r"penalises less: 1/4 < 1/2 at D = 2, alpha = 4"},
    "wav-3": {
        "as it stands": r"reflection of determinant -1, not R2\(pi/4\) of determinant 1",
        "a frequency that divides pi": r"at the frequency pi/4 position 1 is turned by pi/4",
    },
}


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    falsifiers = {one.name: one for one in result_of(claim_id).falsifiers}
    assert set(falsifiers) == set(COUNTEREXAMPLES[claim_id])
    for name, reason in COUNTEREXAMPLES[claim_id].items():
        assert falsifiers[name].rejected
        assert re.search(reason, falsifiers[name].reason), falsifiers[name].reason


def test_the_decision_by_coefficients_is_that_of_eigenvalues() -> None:
    draw = np.random.default_rng(0)
    for _ in range(200):
        half = draw.integers(-2, 3, size=(4, 4))
        symmetric = half + half.T if draw.random() < 0.5 else half @ half.T
        characteristic = errata.flint.fmpz_mat((-symmetric).tolist()).charpoly()
        semidefinite = all(coefficient >= 0 for coefficient in characteristic.coeffs())
        assert semidefinite == (np.linalg.eigvalsh(symmetric).min() > -1e-9), symmetric


def test_every_claim_has_reasons() -> None:
    assert {claim.id for claim in errata.CLAIMS} == set(COUNTEREXAMPLES)
