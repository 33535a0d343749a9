"""A claim is formal while the record holds each of its lemmas, with Coq and without."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.proofs_checks import prover
from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.formal.sources import theorems
from lengthgen.proofs_checks.report import mark
from lengthgen.proofs_checks.result import Result
from lengthgen.questions.verify import require_prover

DOCS = Path(__file__).parents[3] / "docs"


def test_a_changed_formula_is_no_formal_step_until_coq_has_accepted_the_new_lemma(
    result_of: Callable[[str], Result],
) -> None:
    result = result_of("ntk-1")
    changed = {**result.identities[0], "right": ["*", ["q", "2"], result.identities[0]["right"]]}
    other = replace(result, identities=(changed, *result.identities[1:]))
    assert (result.strength, other.strength) == (Strength.GENERAL, Strength.GENERAL)
    assert other.formal_steps == result.formal_steps - 1 > 0


def test_an_identity_without_a_certificate_or_with_one_term_on_both_sides_is_no_step() -> None:
    same = {"holds": True, "left": "x", "right": "x", "roots": {}}
    assert recorded.lemmas(({"holds": True, "missing": "outside the fragment"}, same)) == []


def test_a_claim_is_formal_if_a_theorem_states_all_of_it(result_of: Callable[[str], Result]) -> None:
    """alibi-7 has theorems of a part of it, and lemmas; both are steps."""
    formal, part = result_of("rope-1"), result_of("alibi-7")
    assert formal.strength is Strength.FORMAL and mark(formal) == "formal"
    assert part.strength is Strength.GENERAL and mark(part) == f"proved for all, {part.formal_steps} steps formal"
    assert part.formal_steps == len(part.lemmas) + 2


def test_the_record_rests_on_no_axiom_that_is_not_allowed() -> None:
    record = recorded.record()
    assert record["prover"].startswith("Coq 8.") and set(record["assumptions"]) <= prover.ALLOWED


def test_the_page_of_claims_counts_the_formal_ones() -> None:
    page = (DOCS / "claims.md").read_text("utf-8")
    [(formal, with_steps)] = re.findall(r"Formal: (\d+) claims; (\d+) others have formal steps", page)
    assert page.count("| formal |") == int(formal) == len({c for theorem in theorems() for c in theorem.claims})
    assert len(re.findall(r"\| [^|]*, \d+ steps? formal[^|]*\|", page)) == int(with_steps) > 0


def test_without_coq_the_outcome_is_recorded_and_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prover.missing() == "Coq is not installed; on Debian: " + prover.INSTALL
    with pytest.raises(prover.ProverError, match="apt-get install"):
        prover.prove((), tmp_path, lambda _: None)


def test_coq_without_its_library_is_one_line_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("coqc", "coqchk"):
        program = tmp_path / name
        program.write_text(
            "#!/bin/sh\n"
            "echo 'File \"./Needed.v\", line 1, characters 5-15:' >&2\n"
            "echo 'Error: Cannot find a physical path bound to logical path Coquelicot.' >&2\n"
            "exit 1\n"
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    says = prover.missing()
    assert says.startswith("Coq has no Coquelicot (Error: Cannot find a physical path") and "\n" not in says
    assert says.endswith(prover.INSTALL)
    with pytest.raises(prover.ProverError, match="has no Coquelicot"):
        require_prover()
