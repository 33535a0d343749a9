"""The claims on PLAA and RPE-Square reach their verdicts, and wrong formulas in theory/ are refuted by them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from proofs_checks.claim import Strength
from proofs_checks.papers import plaa as claims
from proofs_checks.runner import Result, Verdict, run
from theory import plaa, rpe_square

EXPECTED = {
    "plaa-1": (Verdict.VERIFIED, Strength.BOUNDED),
    "plaa-2": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "plaa-3": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-pola": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-rpe-square-labels": (Verdict.VERIFIED, Strength.GENERAL),
    "plaa-rpe-square-limit": (Verdict.VERIFIED, Strength.NUMERIC),
}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {result.claim.id: result for result in run(claims.CLAIMS)}


def test_no_claim_is_without_an_expectation(results: dict[str, Result]) -> None:
    assert set(results) == set(EXPECTED)


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_claim_reaches_its_verdict_and_strength(claim_id: str, results: dict[str, Result]) -> None:
    result = results[claim_id]
    assert (result.verdict, result.strength) == EXPECTED[claim_id], result.reason


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_every_falsifier_is_rejected_with_a_counterexample(claim_id: str, results: dict[str, Result]) -> None:
    for falsifier in results[claim_id].falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert falsifier.reason


def test_the_counterexample_to_independence_alone_holds_by_hand(results: dict[str, Result]) -> None:
    """U = diag(0,1,0), diag(1,0,0), I on the first two columns: target U_1 is fitted by (1 - s, -s, s), any s."""
    assert "target U_1: descent ends at p = (2/3, -1/3, 1/3)" in results["plaa-2"].reason
    steps = np.linspace(-1, 1, 2001)
    norms = (1 - steps) ** 2 + steps**2 + steps**2
    assert abs(steps[norms.argmin()] - 1 / 3) < 1e-3
    of_largest_degree = steps**2 + steps**2
    assert abs(steps[of_largest_degree.argmin()]) < 1e-12


def _learns_nothing(basis: plaa.PositionBasis, targets: Any, *, training_scale: int, weights: Any = None) -> Any:
    return np.zeros((*np.shape(targets)[:-2], len(basis.matrices)), dtype=object)


WRONG: list[tuple[str, str, Callable[..., Any], str]] = [
    ("theory.plaa", "advice", lambda inputs: (np.asarray(inputs) == -1).argmax(axis=-1) + 1, "plaa-1"),
    ("theory.plaa", "fourier", lambda matrix: np.zeros((len(matrix) + 1, len(matrix) + 1), dtype=object), "plaa-1"),
    ("theory.plaa", "learned_coefficients", _learns_nothing, "plaa-2"),
    ("theory.plaa", "learned_coefficients", _learns_nothing, "plaa-3"),
    ("theory.plaa", "learned_coefficients", _learns_nothing, "plaa-pola"),
    ("theory.plaa", "degrees_separate", lambda basis, *, training_scale: training_scale > 1, "plaa-2"),
    ("theory.plaa", "degree", len, "plaa-1"),
    ("theory.pola", "learned_matrix", lambda target, labels, *, training_scale: target.astype(float), "plaa-pola"),
    ("theory.rpe_square", "zigzag", np.abs, "plaa-rpe-square-labels"),
    (
        "theory.rpe_square",
        "copy_anchors",
        lambda scale: rpe_square.last_anchor((1, scale + 1), length=2 * scale + 3),
        "plaa-rpe-square-labels",
    ),
    (
        "theory.rpe_square",
        "addition_anchors",
        lambda first, second: rpe_square.last_anchor((1, first + 2), length=2 * (first + second) + 5),
        "plaa-rpe-square-labels",
    ),
    ("theory.rpe_square", "hard_scores", lambda anchors, table: np.zeros((len(anchors),) * 2), "plaa-rpe-square-limit"),
    ("theory.rpe_square", "hard_limit_error", lambda table, *, lead, length: 0.0, "plaa-rpe-square-limit"),
]


@pytest.mark.parametrize(("module", "name", "wrong", "claim_id"), WRONG, ids=[f"{row[1]}-{row[3]}" for row in WRONG])
def test_wrong_formula_is_refuted(
    module: str, name: str, wrong: Callable[..., Any], claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claim,) = (claim for claim in claims.CLAIMS if claim.id == claim_id)
    monkeypatch.setattr(import_module(module), name, wrong)
    (result,) = run([claim])
    assert (result.verdict, result.holds) == (Verdict.REFUTED, False), result.reason
