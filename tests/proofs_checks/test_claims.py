"""Every claim of the ledger reaches its verdict, at its strength, and its check rejects every falsifier."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from proofs_checks import markdown, registry
from proofs_checks.runner import Result, Verdict

DOCUMENT = (Path(__file__).parents[2] / "docs" / "claims.md").read_text()

EXPECTED = {
    claim_id: expected
    for module in sorted((Path(__file__).parent / "expectations").glob("*.py"))
    for claim_id, expected in import_module(f"tests.proofs_checks.expectations.{module.stem}").EXPECTED.items()
}


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_claim_comes_out_as_expected_and_as_documented(claim_id: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert (result.verdict, result.strength) == EXPECTED[claim_id], result.reason
    assert result.holds
    assert result.evidence is not None and result.evidence.facts
    for falsifier in result.falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert falsifier.reason
    (row,) = [line for line in markdown.document([result]).splitlines() if line.startswith(f"| {claim_id} |")]
    assert row in DOCUMENT.splitlines(), "run: lengthgen verify --format markdown > docs/claims.md"


def test_the_document_lists_each_claim_once() -> None:
    listed = [line.split(" | ")[0].removeprefix("| ") for line in DOCUMENT.splitlines() if " rejected | " in line]
    assert sorted(listed) == sorted(EXPECTED)


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
