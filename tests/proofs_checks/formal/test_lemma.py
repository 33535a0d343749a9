"""Lemmas are written from the trees that the engines decided: the same sides, over the real numbers."""

from typing import Any

import pytest
import sympy as sp

from lengthgen.proofs_checks.formal.lemma import Lemma, certified
from lengthgen.proofs_checks.formal.negation import NoPointError, refuted, twin_refuted
from lengthgen.proofs_checks.formal.terms import NotReal, identifiers
from lengthgen.theory.zero import two_engines

s, t, x, y = sp.symbols("s t x y", real=True)


def lemma(left: sp.Expr, right: sp.Expr, squares: Any = None) -> Lemma:
    with two_engines.recorded() as identities:
        two_engines.decide(left, right, squares=squares)
    return Lemma(certified(identities)[0])


def test_a_lemma_states_both_sides_for_all_real_numbers() -> None:
    assert lemma(sp.cos(x) ** 2, 1 - sp.sin(x) ** 2).statement == (
        "forall x : R, ((cos (x)) ^ 2) = (1 + (- ((sin (x)) ^ 2)))"
    )


def test_a_denominator_and_the_square_of_a_root_are_hypotheses() -> None:
    assert lemma(1 / s, s / (x * y), {s: x * y}).hypotheses == ["s * s = (x * y)", "s <> 0", "x <> 0", "y <> 0"]
    assert lemma(1 / (1 - x), 1 / x + (1 - 2 * x) / (x**2 - x)).hypotheses[0] == "(1 + (- x)) <> 0"


def test_a_derivative_stands_in_the_statement_and_its_value_is_proved() -> None:
    with sp.evaluate(False):
        slope = sp.Derivative(sp.exp(2 * x), x)
    of_slope = lemma(slope, 2 * sp.exp(2 * x))
    assert of_slope.statement.startswith("forall x : R, (Derive (fun x => (exp (2 * x))) x) = ")
    assert "auto_derive" in of_slope.tactic


def test_the_false_twin_differs_from_the_lemma_by_one() -> None:
    of_sum = lemma(x + y, (x**2 - y**2) / (x - y))
    assert of_sum.twin == f"{of_sum.statement} + 1"


def test_a_twin_and_a_falsifier_are_refuted_at_a_point() -> None:
    """The twin where the hypotheses hold, the root with its square; the falsifier where its sides differ."""
    text = twin_refuted("name", lemma(1 / s, s / x, {s: x}))
    assert text.startswith("Lemma name_twin : ~ (forall s x : R, s * s = x -> s <> 0 -> x <> 0 -> (/ s) = ")
    assert (
        "assert (P0 : 1 * 1 = 1) by away" in text
        and "exact (one_more _ _ (name 1 1 P0 P1 P2) (H 1 1 P0 P1 P2))" in text
    )
    assert refuted("name", lemma(x, x**2)).endswith("apart (K (3 / 2)).\nQed.")


def test_a_lemma_whose_hypotheses_cannot_hold_is_noticed() -> None:
    nothing = ["^", ["+", "x", ["*", ["q", "-1"], "x"]], -1]
    with pytest.raises(NoPointError, match="no point is found at which this is refuted"):
        twin_refuted("name", Lemma({"left": nothing, "right": "x", "roots": {}}))


def test_a_changed_formula_has_another_lemma() -> None:
    assert lemma(sp.sin(2 * x), 2 * sp.sin(x) * sp.cos(x)).digest != lemma(sp.sin(2 * x), sp.sin(x) * sp.cos(x)).digest


def test_complex_numbers_have_no_lemma() -> None:
    with pytest.raises(NotReal, match="complex"):
        _ = lemma(sp.exp(sp.I * x), sp.cos(x) + sp.I * sp.sin(x)).statement


def test_names_that_coq_reserves_or_that_are_no_names_are_replaced_and_differ() -> None:
    names = ["R", "fun", "x", "x_", "theta'", "Max(1, n)", "Max(2, n)", "2^j"]
    chosen = identifiers(names)
    assert chosen["x"] == "x" and chosen["theta'"] == "theta'"
    assert len(set(chosen.values())) == len(names) and not {"R", "fun"} & {*chosen.values()}
