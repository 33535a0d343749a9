"""Every claim of the ledger reaches its verdict, at its strength, and its check rejects every falsifier.

Those on trained runs, of which there are none here, wait for them; tests/proofs_checks/test_trained.py settles them.
"""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from proofs_checks import markdown, registry
from proofs_checks.runner import Result, Verdict
from tests.proofs_checks.expectations import MODULES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "claims.md").read_text()

EXPECTED = {key: value for module in MODULES for key, value in module.EXPECTED.items()}
COUNTEREXAMPLES = {key: value for module in MODULES for key, value in getattr(module, "COUNTEREXAMPLES", {}).items()}
WAITING = {claim.id for claim in registry.CLAIMS if claim.on_runs}
FIGURES = {key: value for module in MODULES for key, value in getattr(module, "FIGURES", {}).items()}


@pytest.mark.parametrize("claim_id", EXPECTED)
def test_claim_comes_out_as_expected_and_as_documented(claim_id: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert (result.verdict, result.strength) == EXPECTED[claim_id], result.reason
    assert result.holds
    assert result.evidence is not None and result.evidence.facts
    for fact in result.evidence.facts:  # an identity whose sides are one expression leaves the engines nothing
        assert all(int(count) > 0 for count in re.findall(r"(\d+) entr(?:y|ies) decided equal", fact)), fact
    for falsifier in result.falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert falsifier.reason
    require_documented(result)


def require_documented(result: Result) -> None:
    rows = [line for line in markdown.document([result]).splitlines() if line.startswith(f"| {result.claim.id} |")]
    assert len(rows) == 1
    assert rows[0] in DOCUMENT.splitlines(), "run: lengthgen verify --format markdown > docs/claims.md"


@pytest.mark.parametrize("claim_id", sorted(WAITING))
def test_a_claim_on_runs_waits_for_them_and_is_documented_so(claim_id: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert (result.verdict, result.strength) == (Verdict.UNSETTLED, None)
    require_documented(result)


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    falsifiers = {falsifier.name: falsifier for falsifier in result_of(claim_id).falsifiers}
    assert set(falsifiers) == set(COUNTEREXAMPLES[claim_id])
    for name, reason in COUNTEREXAMPLES[claim_id].items():
        assert falsifiers[name].rejected
        assert re.search(reason, falsifiers[name].reason), falsifiers[name].reason


@pytest.mark.parametrize("claim_id", FIGURES)
def test_the_figures_are_computed_and_quoted(claim_id: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert result.evidence is not None
    for figure in FIGURES[claim_id]:
        assert any(re.search(figure, text) for text in (*result.evidence.facts, result.reason)), figure


@pytest.mark.parametrize("module", [one for one in MODULES if hasattr(one, "COUNTEREXAMPLES")])
def test_a_paper_with_reasons_has_them_for_every_claim(module: ModuleType) -> None:
    assert set(module.COUNTEREXAMPLES) == set(module.EXPECTED)


def test_the_document_lists_each_claim_once() -> None:
    listed = [line.split(" | ")[0].removeprefix("| ") for line in DOCUMENT.splitlines() if " rejected | " in line]
    assert sorted(listed) == sorted([*EXPECTED, *WAITING])


def test_no_claim_is_without_an_expectation() -> None:
    assert {claim.id for claim in registry.CLAIMS} - WAITING == set(EXPECTED)


@pytest.mark.parametrize(
    "claim_id", [claim_id for claim_id, (verdict, _) in EXPECTED.items() if verdict is Verdict.CORRECTED]
)
def test_a_correction_names_the_counterexample_to_the_printed_statement(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    assert result_of(claim_id).reason.startswith("as printed: ")


@pytest.mark.parametrize("claim_id", ["plaa-2", "grape-15-last-edge", "grape-17", "grape-17-lift"])
def test_a_correction_of_a_text_that_was_not_at_hand_is_called_our_reading(claim_id: str) -> None:
    claim = registry.find(claim_id)
    assert "our reading" in claim.statement and "our reading" in claim.source.place


def test_what_is_corrected_without_the_text_at_hand_is_called_our_reading(result_of: Callable[[str], Result]) -> None:
    result = result_of("plaa-2")
    assert result.evidence is not None
    for text in (result.claim.statement, result.claim.source.place, *result.evidence.facts[1:2]):
        assert "our reading" in text
