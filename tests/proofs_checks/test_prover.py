"""Coq accepts true lemmas and theorems, refuses false ones, and is refused itself if it accepts a false twin."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from lengthgen.proofs_checks import prover
from lengthgen.proofs_checks.formal import sources
from lengthgen.proofs_checks.formal.lemma import certified
from lengthgen.proofs_checks.formal.negation import NoPointError
from lengthgen.proofs_checks.prover import ProverError
from lengthgen.proofs_checks.result import FalsifierResult, Result, Verdict
from lengthgen.theory.zero import two_engines
from tests.proofs_checks.toys import CLAIMS

SOURCES = sources.FOLDER
pytestmark = pytest.mark.skipif(bool(prover.missing()), reason=prover.missing())

x, y = sp.symbols("x y", real=True)
TRUE = (sp.sin(x + y), sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y))
FALSE = (sp.sin(x + y), sp.sin(x) + sp.sin(y))
FALSE_TOO = (sp.cos(x + y), sp.cos(x) + sp.cos(y))
THEOREM = """
(* Both hold in either order (claim toy-accept). *)
Theorem swapped : forall P Q : Prop, P /\\ Q -> Q /\\ P.
Proof. intros. tauto. Qed.
Lemma swapped_twin : ~ (forall P Q : Prop, P /\\ Q -> Q /\\ ~ P).
Proof. intros H. specialize (H True True). tauto. Qed.
"""
TWIN = "Q /\\ ~ P)"


class Steps:
    def step(self, name: str) -> None:
        pass


def identities(left: sp.Expr, right: sp.Expr) -> Any:
    with two_engines.recorded() as decided:
        two_engines.decide(left, right)
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
    """Folder of the theorems by hand, with one theorem, and with no tactics, as it needs no real numbers."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in (sources.SHARED, sources.REFUTING):
        (folder / f"{name}.v").touch()
    (folder / "Swapped.v").write_text(THEOREM)
    monkeypatch.setattr(sources, "FOLDER", folder)
    sources.theorems.cache_clear()
    yield folder
    sources.theorems.cache_clear()


@pytest.fixture
def tactics(by_hand: Path) -> Path:
    """The same folder with the tactics of lemmas and negations: Coq loads the real numbers in each of its processes."""
    for name in (sources.SHARED, sources.REFUTING):
        shutil.copy(SOURCES / f"{name}.v", by_hand)
    return by_hand


def run(folder: Path, *results: Result) -> prover.Outcome:
    build = folder.parent / "build"
    build.mkdir(exist_ok=True)
    return prover.prove(results, build, lambda _: Steps())


def test_true_lemmas_and_theorems_are_accepted_and_false_ones_refuted(tactics: Path) -> None:
    """False statements of a claim without a lemma of its own are refuted too; what says nothing is no lemma."""
    passed_off_as_true = tuple({**identity, "holds": True} for identity in identities(*FALSE))
    first = result(
        identities(*TRUE) + identities(sp.Mul(1, x, evaluate=False), x) + passed_off_as_true, identities(*FALSE)
    )
    other = next(claim for claim in CLAIMS.values() if claim.id != "toy-accept")
    second = replace(result(identities(*TRUE), identities(*FALSE_TOO)), claim=other)
    outcome = run(tactics, first, second)
    assert len(outcome.lemmas) == 1 and [claim for claim, _ in outcome.unproved] == ["toy-accept"]
    assert [theorem.name for theorem in outcome.theorems] == ["swapped"]
    assert outcome.refuted == 4, "the lemma's twin, both falsifiers, the theorem's twin"
    assert outcome.assumptions and set(outcome.assumptions) <= prover.ALLOWED
    assert (tactics.parent / "build" / "Refuted1.v").read_text().count("Lemma") == 2


def test_a_false_statement_that_is_true_is_noticed(tactics: Path) -> None:
    with pytest.raises(NoPointError, match="no point is found"):
        run(tactics, result((), identities(*TRUE)))


def test_a_false_statement_that_coq_does_not_refute_is_noticed(tactics: Path) -> None:
    weak = (
        (tactics / f"{sources.REFUTING}.v").read_text().replace("pose proof equation as E", "assert (E : 0 = 0) by lra")
    )
    (tactics / f"{sources.REFUTING}.v").write_text(weak)
    with pytest.raises(ProverError, match=r"Refuted1.v, line \d+: a false statement is not refuted"):
        run(tactics, result((), identities(*FALSE)))


@pytest.mark.parametrize("other", ["Q /\\ P)", "Q /\\ R)"])
def test_a_twin_that_is_true_or_no_statement_is_noticed(by_hand: Path, other: str) -> None:
    renamed = THEOREM.replace(TWIN, other).replace("P /\\ Q -> Q /\\ P)", "Q /\\ P -> P /\\ Q)")
    (by_hand / "Swapped.v").write_text(renamed)
    with pytest.raises(ProverError, match=r"Swapped.v, line \d"):
        run(by_hand)


def test_an_axiom_that_is_not_allowed_is_noticed(by_hand: Path) -> None:
    of_proofs = THEOREM.replace("intros. tauto.", "intros. pose proof (proof_irrelevance True I I). tauto.")
    (by_hand / "Swapped.v").write_text("Require Import ProofIrrelevance.\n" + of_proofs)
    with pytest.raises(ProverError, match=r"not allowed: .*proof_irrelevance"):
        run(by_hand)
