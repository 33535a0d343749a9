"""A claim is formal while the record holds each of its lemmas, with Coq and without."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lengthgen.proofs_checks import prover
from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.result import Result
from lengthgen.questions.verify import require_prover

DOCS = Path(__file__).parents[3] / "docs"


def test_a_changed_formula_makes_a_formal_claim_general_until_coq_has_accepted_the_new_lemma(
    result_of: Callable[[str], Result],
) -> None:
    result = result_of("xpos-1")
    assert result.strength is Strength.FORMAL
    changed = {**result.identities[0], "right": ["*", ["q", "2"], result.identities[0]["right"]]}
    assert replace(result, identities=(changed, *result.identities[1:])).strength is Strength.GENERAL


def test_an_identity_without_a_certificate_or_with_complex_numbers_is_not_formal() -> None:
    assert recorded.lemmas(({"holds": True, "missing": "outside the fragment"},)) is None
    assert recorded.lemmas(()) is None


def test_the_record_rests_on_no_axiom_that_is_not_allowed() -> None:
    record = recorded.record()
    assert record["prover"].startswith("Coq 8.") and set(record["assumptions"]) <= prover.ALLOWED


def test_nine_of_ten_algebraic_claims_are_formal() -> None:
    [(formal, algebraic)] = re.findall(r"Formal: (\d+) of the (\d+) claims", (DOCS / "claims.md").read_text("utf-8"))
    assert int(formal) >= 0.9 * int(algebraic) > 0


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
