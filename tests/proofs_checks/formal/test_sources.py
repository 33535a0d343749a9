"""Theorems by hand: nothing is assumed or left open, and each has a false twin."""

import pytest

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.formal import recorded, sources
from lengthgen.proofs_checks.formal.sources import SourceError, parsed, refuse, theorems

THEOREM = """
(* Sums commute (claims rope-1, rope-2). *)
Theorem sums : forall x y, x + y = y + x.
Proof. intros. ring. Qed.
Lemma sums_twin : ~ (forall x y, x + y = y - x).
Proof. intros H. specialize (H 1 0). lra. Qed.
"""
LEFT_OPEN = [
    "Lemma a : False. Proof. Admitted.",
    "Lemma a : False. Proof. admit. Qed.",
    "Axiom a : False.",
    "Axioms a b : False.",
    "Parameter a : False.",
    "Conjecture a : False.",
    "Hypothesis a : False.",
    "Variable a : False.",
    "Context (a : False).",
    "Unset Guard Checking.",
    "#[bypass_check(guard)] Fixpoint a (n : nat) : False := a n.",
]


@pytest.mark.parametrize("text", LEFT_OPEN)
def test_a_source_that_assumes_or_leaves_open_is_refused(text: str) -> None:
    with pytest.raises(SourceError, match="may assume and leave open nothing"):
        refuse(f"(* a comment *) {text}", "a.v")


def test_a_comment_may_say_what_a_source_may_not_do() -> None:
    refuse("(* no Axiom, (* nested Admitted *) no Parameter *) Definition a := 0.", "a.v")


def test_the_sources_assume_nothing_and_leave_nothing_open() -> None:
    for path in sources.files():
        refuse(path.read_text(encoding="utf-8"), path.name)


def test_a_theorem_comes_with_its_words_its_claims_and_its_false_twin() -> None:
    [theorem] = parsed(THEOREM, "Sums")
    assert (theorem.name, theorem.says, theorem.claims) == ("sums", "Sums commute.", ("rope-1", "rope-2"))
    assert theorem.statement == "forall x y, x + y = y + x"


def test_a_theorem_whose_false_twin_is_not_refuted_is_refused() -> None:
    with pytest.raises(SourceError, match="no false twin of sums is refuted"):
        parsed(THEOREM.replace("sums_twin", "sums_other"), "Sums")


@pytest.mark.parametrize("twin", ["forall x y, x + y = y + x", "False"])
def test_a_twin_that_is_the_theorem_or_another_statement_is_refused(twin: str) -> None:
    with pytest.raises(SourceError, match="sums_twin refutes no small change of sums"):
        parsed(THEOREM.replace("forall x y, x + y = y - x", twin), "Sums")


def test_a_theorem_without_words_is_refused() -> None:
    with pytest.raises(SourceError, match="no words are written above sums"):
        parsed(THEOREM.replace("(* Sums commute (claims rope-1, rope-2). *)", ""), "Sums")


def test_the_theorems_name_claims_that_exist_and_are_those_that_coq_compiled() -> None:
    named = {claim for theorem in theorems() for claim in (*theorem.claims, *theorem.part_of)}
    assert len(theorems()) >= 30 and all(theorem.claims or theorem.part_of for theorem in theorems())
    assert named <= {claim.id for claim in registry.CLAIMS}
    assert recorded.record()["theorems"] == {theorem.name: theorem.digest for theorem in theorems()}, "make proofs"


def test_a_theorem_comes_with_the_definitions_behind_it_and_no_others() -> None:
    """A variable of a definition's name is no use of it."""
    definitions = """
Definition half (x : R) := x / 2.
Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0
  | S k => sum k f + half (f k) end.
Definition y (x : R) := x + 1.
"""
    [theorem] = parsed(definitions + THEOREM.replace("x + y =", "sum x y ="), "S")
    assert theorem.definitions == (
        "Definition half (x : R) := x / 2.",
        "Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => sum k f + half (f k) end.",
    )
    by_name = {theorem.name: theorem for theorem in theorems()}
    assert by_name["theorem_1e"].definitions[-1] == "Definition lrc (l : list R) : nat := length (values l)."
    assert len(by_name["src_never_falls"].definitions) == 3
