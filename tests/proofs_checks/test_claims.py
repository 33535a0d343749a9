"""Every claim of the ledger reaches its verdict, at its strength, and its check rejects every falsifier."""

from collections.abc import Callable

import pytest

from proofs_checks import registry
from proofs_checks.claim import Strength
from proofs_checks.runner import Result, Verdict

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
    "pola-1a": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1c": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1d": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1e": (Verdict.VERIFIED, Strength.BOUNDED),
    "pola-1e-count": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-1-boundary": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2a": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2b": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2c": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2-start": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-2-flow": (Verdict.VERIFIED, Strength.GENERAL),
    "pola-2-learners": (Verdict.VERIFIED, Strength.NUMERIC),
    "pola-2-worked": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-bases": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-rank": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-monotone": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "pola-3-vector": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-1": (Verdict.VERIFIED, Strength.BOUNDED),
    "plaa-2": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "plaa-3": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-pola": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "plaa-rpe-square-labels": (Verdict.VERIFIED, Strength.GENERAL),
    "plaa-rpe-square-limit": (Verdict.VERIFIED, Strength.NUMERIC),
    "src-parity": (Verdict.VERIFIED, Strength.GENERAL),
    "src-roles": (Verdict.VERIFIED, Strength.GENERAL),
    "src-induced-aligned": (Verdict.VERIFIED, Strength.GENERAL),
    "src-induced-block": (Verdict.CORRECTED, Strength.GENERAL),
    "src-monotone": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "src-bounded": (Verdict.VERIFIED, Strength.BOUNDED),
    "src-arity": (Verdict.VERIFIED, Strength.BOUNDED),
    "src-hidden": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "src-coverage": (Verdict.CORRECTED, Strength.EXHAUSTIVE),
    "src-merging": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_claim_reaches_its_verdict_and_strength(claim_id: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert (result.verdict, result.strength) == EXPECTED[claim_id], result.reason
    assert result.holds
    assert result.evidence is not None and result.evidence.facts


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_every_falsifier_is_rejected_with_a_counterexample(claim_id: str, result_of: Callable[[str], Result]) -> None:
    for falsifier in result_of(claim_id).falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert falsifier.reason


def test_no_claim_is_without_an_expectation() -> None:
    assert {claim.id for claim in registry.CLAIMS} == set(EXPECTED)


@pytest.mark.parametrize(
    "claim_id", [claim_id for claim_id, (verdict, _) in EXPECTED.items() if verdict is Verdict.CORRECTED]
)
def test_a_correction_names_the_counterexample_to_the_printed_statement(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    assert result_of(claim_id).reason.startswith("as printed: ")


def test_what_is_corrected_without_the_text_at_hand_is_called_our_reading(result_of: Callable[[str], Result]) -> None:
    result = result_of("plaa-2")
    assert result.evidence is not None
    for text in (result.claim.statement, result.claim.source.place, *result.evidence.facts[1:2]):
        assert "our reading" in text
