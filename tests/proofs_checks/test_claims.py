"""Every claim comes out as docs/claims.md and docs/evidence.md say, and its check rejects every falsifier.

Claims on trained runs, of which there are none here, wait for them; tests/proofs_checks/test_trained.py settles them.
"""

import re
from collections.abc import Callable, Mapping
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from lengthgen.proofs_checks import registry, report
from lengthgen.proofs_checks.result import Result, Verdict
from tests import replay_certificates

DOCS = Path(__file__).parents[2] / "docs"
CLAIMS = (DOCS / "claims.md").read_text(encoding="utf-8").splitlines()
EVIDENCE = {
    section.partition("\n")[0]: section.strip().splitlines()
    for section in (DOCS / "evidence.md").read_text(encoding="utf-8").split("\n## ")[1:]
}
WRITE = "lengthgen verify --format markdown > docs/claims.md, and --format evidence > docs/evidence.md"
IDS = [claim.id for claim in registry.CLAIMS]
WAITING = [claim.id for claim in registry.CLAIMS if claim.on_runs]
READ = replay_certificates.value
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")


def row(result: Result) -> str:
    [line] = [line for line in report.document([result]).splitlines() if line.startswith(f"| {result.claim.id} |")]
    return line


def replay(certificate: Mapping[str, Any], patch: pytest.MonkeyPatch) -> None:
    """Replay a certificate; a part of a tree that is one object in several places, as most parts are, is read once."""
    values: dict[int, tuple[Any, Any]] = {}

    def remembered(tree: Any, *reading: Any) -> Any:
        if id(tree) not in values:
            values[id(tree)] = tree, READ(tree, *reading)  # the tree as well, so that no other one gets its identity
        return values[id(tree)][1]

    patch.setattr(replay_certificates, "value", remembered)
    replay_certificates.replay(certificate)


def require_same_but_rounding(computed: str, documented: str) -> None:
    """Require the same text; its decimal numbers may differ as they do between processors."""
    assert NUMBER.sub("#", computed) == NUMBER.sub("#", documented), WRITE
    for number, expected in zip(NUMBER.findall(computed), NUMBER.findall(documented), strict=True):
        assert isclose(float(number), float(expected), rel_tol=1e-3, abs_tol=1e-9), f"{number} != {expected}: {WRITE}"


@pytest.mark.parametrize("claim_id", [claim_id for claim_id in IDS if claim_id not in WAITING])
def test_a_claim_comes_out_as_documented(
    claim_id: str, result_of: Callable[[str], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = result_of(claim_id)
    assert result.holds, result.reason
    assert all(falsifier.rejected and falsifier.reason for falsifier in result.falsifiers)
    assert result.evidence is not None and result.evidence.facts
    for fact in result.evidence.facts:  # an identity whose sides are one expression leaves the engines nothing
        assert all(int(count) > 0 for count in re.findall(r"(\d+) entr(?:y|ies) decided equal", fact)), fact
    for identity in (*result.identities, *(row for falsifier in result.falsifiers for row in falsifier.identities)):
        if "missing" not in identity:  # docs/claims.md counts those as not formal
            replay(identity, monkeypatch)
    assert result.reason.startswith("as printed: ") == (result.verdict is Verdict.CORRECTED)
    documented_row = next((line for line in CLAIMS if line.startswith(f"| {claim_id} |")), "")
    require_same_but_rounding(row(result), documented_row)
    evidence = report.evidence([result]).split("\n## ")[1].strip().splitlines()
    for line, documented_line in zip(evidence, EVIDENCE[claim_id], strict=True):
        require_same_but_rounding(line, documented_line)


@pytest.mark.parametrize("claim_id", WAITING)
def test_a_claim_on_runs_waits_for_them_and_is_documented_so(claim_id: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert (result.verdict, result.strength) == (Verdict.UNSETTLED, None)
    assert row(result) in CLAIMS, WRITE


def test_the_documents_list_each_claim_once() -> None:
    listed = [line.split(" | ")[0].removeprefix("| ") for line in CLAIMS if " rejected | " in line]
    assert sorted(listed) == sorted(IDS)
    assert sorted(EVIDENCE) == sorted(set(IDS) - set(WAITING))


@pytest.mark.parametrize("claim_id", ["plaa-2"])
def test_a_correction_of_a_text_that_was_not_at_hand_is_called_our_reading(claim_id: str) -> None:
    assert "our reading" in registry.find(claim_id).source.place


@pytest.mark.parametrize("claim_id", [claim_id for claim_id in IDS if claim_id in WAITING or claim_id[:4] == "src-"])
def test_a_claim_on_runs_or_on_our_definition_of_src_is_not_called_the_paper_s(claim_id: str) -> None:
    claim = registry.find(claim_id)
    assert claim.label == "F" and not claim.printed
