"""Coq accepts true lemmas and theorems, refuses false ones, and is refused itself if it accepts a false twin."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from proofs_checks import prover
from proofs_checks.certificates import certified
from proofs_checks.formal import sources
from proofs_checks.prover import ProverError
from proofs_checks.result import FalsifierResult, Result, Verdict
from tests.proofs_checks.toys import CLAIMS
from theory import twice

pytestmark = pytest.mark.skipif(bool(prover.missing()), reason=prover.missing())

x, y = sp.symbols("x y", real=True)
TRUE = (sp.sin(x + y), sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y))
FALSE = (sp.sin(x + y), sp.sin(x) + sp.sin(y))
THEOREM = """
Require Import Reals.
Open Scope R_scope.

(* Sums commute (claim toy-accept).
   False twin: "= y + x" becomes "= y - x". *)
Theorem sums : forall x y, x + y = y + x.
Proof. intros. ring. Qed.
"""


class Steps:
    def step(self, name: str) -> None:
        pass


def identities(left: sp.Expr, right: sp.Expr) -> Any:
    with twice.recorded() as decided:
        twice.decide(left, right)
    return certified(decided)


def result(true: Any, false: Any) -> Result:
    falsifier = FalsifierResult(name="false", rejected=True, reason="1 != 2", identities=false)
    return Result(
        claim=CLAIMS["toy-accept"],
        verdict=Verdict.VERIFIED,
        evidence=None,
        reason="",
        falsifiers=(falsifier,),
        seconds=0,
        identities=true,
    )


@pytest.fixture
def by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder of the theorems by hand, with the tactics and one theorem."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "Tactics.v").write_text((sources.FOLDER / "Tactics.v").read_text())
    (folder / "Sums.v").write_text(THEOREM)
    monkeypatch.setattr(sources, "FOLDER", folder)
    sources.theorems.cache_clear()
    yield folder
    sources.theorems.cache_clear()


def run(folder: Path, *results: Result) -> prover.Outcome:
    build = folder.parent / "build"
    build.mkdir(exist_ok=True)
    return prover.prove(results, build, lambda _: Steps())


def test_true_lemmas_and_theorems_are_accepted_and_false_ones_refused(by_hand: Path) -> None:
    passed_off_as_true = tuple({**identity, "holds": True} for identity in identities(*FALSE))
    outcome = run(by_hand, result(identities(*TRUE) + passed_off_as_true, identities(*FALSE)))
    assert len(outcome.lemmas) == 1 and [claim for claim, _ in outcome.unproved] == ["toy-accept"]
    assert [theorem.name for theorem in outcome.theorems] == ["sums"]
    assert outcome.twins == 3 and set(outcome.assumptions) <= prover.ALLOWED


def test_a_twin_that_is_true_is_noticed(by_hand: Path) -> None:
    with pytest.raises(ProverError, match=r"Refuted1.v.*has not failed"):
        run(by_hand, result(identities(*TRUE), identities(*TRUE)))
    (by_hand / "Sums.v").write_text(THEOREM.replace('becomes "= y - x"', 'becomes "= x + y"'))
    sources.theorems.cache_clear()
    with pytest.raises(ProverError, match="the false twin of sums is accepted"):
        run(by_hand)


def test_false_statements_of_a_claim_without_a_lemma_of_its_own_are_tried_too(by_hand: Path) -> None:
    other = next(claim for claim in CLAIMS.values() if claim.id != "toy-accept")
    first = result(identities(*TRUE), ())
    second = replace(result(identities(*TRUE), identities(*FALSE)), claim=other)
    assert run(by_hand, first, second).twins == 3, "of the lemma, of the falsifier, of the theorem"
    tried = (by_hand.parent / "build" / "Refuted1.v").read_text()
    assert tried.count("Fail solve") == 1


def test_a_twin_that_is_no_statement_is_noticed(by_hand: Path) -> None:
    (by_hand / "Sums.v").write_text(THEOREM.replace('becomes "= y - x"', 'becomes "= y - q"'))
    with pytest.raises(ProverError, match="is no statement"):
        run(by_hand)


def test_an_axiom_that_is_not_allowed_is_noticed(by_hand: Path) -> None:
    of_proofs = THEOREM.replace("Require Import Reals.", "Require Import Reals ProofIrrelevance.").replace(
        "intros. ring.", "intros. pose proof (proof_irrelevance True I I). ring."
    )
    (by_hand / "Sums.v").write_text(of_proofs)
    with pytest.raises(ProverError, match=r"not allowed: .*proof_irrelevance"):
        run(by_hand)
