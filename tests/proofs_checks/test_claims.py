"""Every claim of the ledger reaches its verdict, at its strength, and its check rejects every falsifier."""

import pytest

from proofs_checks import registry
from proofs_checks.claim import Strength
from proofs_checks.runner import Result, Verdict, run

EXPECTED = {
    "rope-1": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-1": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-5": (Verdict.CORRECTED, Strength.GENERAL),
    "grape-8": (Verdict.VERIFIED, Strength.GENERAL),
    "grape-10": (Verdict.CORRECTED, Strength.GENERAL),
    "fox-1": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-1": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-6-complex": (Verdict.VERIFIED, Strength.GENERAL),
    "hope-6-real": (Verdict.VERIFIED, Strength.GENERAL),
    "pola-2b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {result.claim.id: result for result in run(registry.CLAIMS)}


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_claim_reaches_its_verdict_and_strength(claim_id: str, results: dict[str, Result]) -> None:
    result = results[claim_id]
    assert (result.verdict, result.strength) == EXPECTED[claim_id], result.reason
    assert result.holds
    assert result.evidence is not None and result.evidence.facts


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_every_falsifier_is_rejected_with_a_counterexample(claim_id: str, results: dict[str, Result]) -> None:
    for falsifier in results[claim_id].falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert falsifier.reason


def test_no_claim_is_without_an_expectation(results: dict[str, Result]) -> None:
    assert set(results) == set(EXPECTED)


def test_a_correction_names_the_counterexample_to_the_printed_statement(results: dict[str, Result]) -> None:
    for claim_id in ("grape-5", "grape-10"):
        assert results[claim_id].reason.startswith("as printed: ")
