"""The lattice: what kind of edge each recovery is, and that the claim on a missing edge falls where the edge exists."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.recovery_graph import NON_EDGES, lattice
from lengthgen.theory.encodings import biases, grape, hope
from lengthgen.theory.zero.sympy_engine import Undecided
from tests.proofs_checks.test_wrong_formulas import check_with


@pytest.fixture(autouse=True)
def forget_evaluated_functions() -> Iterator[None]:
    clear_cache()
    yield
    clear_cache()


def _both_sides(query: sp.Expr, key: sp.Expr, length: sp.Expr) -> sp.Expr:
    return -grape.GRAPE_SLOPE * sp.Abs(query - key)


def _turning(*, rate: sp.Expr, damping: sp.Expr) -> hope.Pair:
    return sp.exp(sp.I * rate), sp.exp(-sp.I * rate)


def _in_steps(distance: sp.Expr, *, scale: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    return RIGHT_POWER(sp.floor(distance / 2), scale=scale, exponent=exponent)


def _in_competition(logit: sp.Expr) -> sp.Expr:
    """A weight that falls with the logit m of another key, as under softmax."""
    return 1 / (1 + sp.exp(sp.Symbol("m", real=True) - logit))


RIGHT_POWER = biases.kerple_power

WITH_THE_EDGE: dict[tuple[str, str], tuple[str, Any]] = {
    ("hope", "rope"): ("lengthgen.theory.encodings.hope.decay_factors", _turning),
    ("t5", "alibi"): ("lengthgen.theory.encodings.biases.t5_bucket", lambda offset: offset),
    ("grape-additive", "alibi on both sides"): (
        "lengthgen.theory.encodings.grape.ADDITIVE",
        replace(grape.ADDITIVE, bias=_both_sides),
    ),
    ("grape-path", "grape-gated"): ("lengthgen.theory.encodings.grape.EDGES", sp.IndexedBase("psi", real=True)),
    ("grape-gated", "alibi"): ("lengthgen.theory.encodings.grape.content_gate", lambda along: sp.log(2)),
    ("bam", "rope"): ("lengthgen.theory.encodings.rotary.rotation", lambda angle: sp.eye(2)),
    ("bam-ssmax", "alibi"): ("lengthgen.theory.encodings.biases.bam_temperature", lambda position, *, factor: factor),
    ("cable-gated", "alibi"): ("lengthgen.theory.encodings.paths.cable_rectified", lambda logit: sp.Integer(1)),
    ("wavelet", "alibi"): ("lengthgen.theory.encodings.relations.ricker", lambda point, *, scale: -point),
    ("kerple-power", "t5"): ("lengthgen.theory.encodings.biases.kerple_power", _in_steps),
    ("swat", "alibi"): ("lengthgen.theory.encodings.rotary.swat_weight", lambda logit: sp.Rational(1, 2)),
    ("swat", "rope"): ("lengthgen.theory.encodings.rotary.swat_weight", _in_competition),
}
"""Formulas with which one encoding does contain the other, or is no longer kept from it by the reason given."""


def test_every_missing_edge_is_tried() -> None:
    assert {(edge.by, edge.of) for edge in NON_EDGES} == set(WITH_THE_EDGE)


@pytest.mark.parametrize("edge", NON_EDGES, ids=lambda edge: f"{edge.by}-{edge.of}")
def test_the_claim_on_a_missing_edge_falls_where_the_edge_exists(edge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = registry.find(edge.claim)
    claim.check(**claim.holds)
    formula, other = WITH_THE_EDGE[edge.by, edge.of]
    module, _, name = formula.rpartition(".")
    right = getattr(import_module(module), name)
    monkeypatch.setattr(formula, other)
    clear_cache()
    with pytest.raises((Refuted, Undecided)):  # HoPE with complex eigenvalues is left undecided
        check_with(right, other, edge.claim)


def test_the_composition_of_paths_would_not_see_that_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claim grape-15 once stood for that edge, and says nothing of signs."""
    monkeypatch.setattr(*WITH_THE_EDGE["grape-path", "grape-gated"])
    claim = registry.find("grape-15")
    claim.check(**claim.holds)


KINDS = """
fox alibi exact; kerple-power alibi exact; cable fox exact; cable nope limit; cable-gated cable-nw exact;
cable-gated nope exact; cable-gated alibi impossible; kerple-power nope limit; bam alibi exact; bam nope exact;
bam kerple-power limit; grape-path alibi some; dynamic-ntk rope within; fire nope exact; fire t5 function;
fire alibi function; fire kerple-power function; fire kerple-log function; grape-gated alibi impossible;
grape-path grape-gated impossible; hope rope impossible
"""


def test_an_edge_says_how_the_special_case_is_reached_and_why_not_or_when() -> None:
    edges = lattice().edges(data=True)
    assert {tuple(row.split()) for row in KINDS.split(";")} <= {(by, of, data["kind"]) for by, of, data in edges}
    reasons = {(by, of): data["reason"] for by, of, data in edges if data["kind"] in ("exact", "some")}
    assert reasons["bam", "alibi"] == "up to a number that all keys of a query share"
    assert reasons["grape-path", "alibi"] == "only for m = alpha*log(2)"
