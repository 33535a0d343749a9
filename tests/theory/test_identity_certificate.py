"""Certificates: a program without algebra replays them, and refuses every altered one."""

from copy import deepcopy
from typing import Any

import pytest
import sympy as sp

from lengthgen.theory.zero import two_engines
from lengthgen.theory.zero.identity_certificate import NotCertified, certificate
from tests.replay_certificates import replay

a, b, s, t, x, y = sp.symbols("a b s t x y", real=True)


def certified(left: sp.Expr, right: sp.Expr, squares: dict[sp.Symbol, sp.Expr] | None = None) -> dict[str, Any]:
    with two_engines.recorded() as identities:
        two_engines.decide(left, right, squares=squares)
    [identity] = identities
    return certificate(identity)


def unevaluated(build: Any) -> sp.Expr:
    with sp.evaluate(False):
        return build()


TRUE = {
    "addition": (sp.sin(x + y), sp.sin(x) * sp.cos(y) + sp.cos(x) * sp.sin(y), None),
    "double angle": (sp.cos(2 * x), 1 - 2 * sp.sin(x) ** 2, None),
    "hyperbolic": (sp.cosh(x / 2) ** 2, (1 + sp.cosh(x)) / 2, None),
    "quotient": (sp.tanh(x), (sp.exp(2 * x) - 1) / (sp.exp(2 * x) + 1), None),
    "fraction": (1 / (x - y), (x + y) / (x**2 - y**2), None),
    "nested fraction": (1 / (1 / x + 1 / y), x * y / (x + y), None),
    "root": (1 / s, s / (a * b), {s: a * b}),
    "complex": (sp.exp(sp.I * x), sp.cos(x) + sp.I * sp.sin(x), None),
    "derivative": (unevaluated(lambda: sp.Derivative(sp.exp(-(x**2)) / x, x)), -(2 + 1 / x**2) * sp.exp(-(x**2)), None),
    "second derivative": (unevaluated(lambda: sp.Derivative(sp.cos(t * x), (x, 2))), -(t**2) * sp.cos(t * x), None),
}
FALSE = {
    "sign": (sp.sin(x + y), sp.sin(x) * sp.cos(y) - sp.cos(x) * sp.sin(y), None),
    "weight": (sp.cosh(x) ** 2, 1 + 2 * sp.sinh(x) ** 2, None),
    "denominator": (1 / (x - y), (x + y) / (x**2 + y**2), None),
    "root": (1 / s, s / a, {s: a * b}),
    "slope": (unevaluated(lambda: sp.Derivative(sp.exp(2 * x), x)), sp.exp(2 * x), None),
    "complex": (sp.exp(sp.I * x), sp.cos(x) - sp.I * sp.sin(x), None),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_true_identity_is_replayed(name: str) -> None:
    cert = certified(*TRUE[name])
    assert cert["holds"]
    replay(cert)


@pytest.mark.parametrize("name", ["double angle", "hyperbolic", "quotient", "root"])
def test_a_relation_that_a_proof_needs_has_a_cofactor(name: str) -> None:
    cert = certified(*TRUE[name])
    with pytest.raises(AssertionError, match="cofactors"):
        replay({**cert, "cofactors": [[] for _ in cert["relations"]]})


@pytest.mark.parametrize("name", FALSE)
def test_a_false_identity_is_refuted_at_its_point_and_cannot_be_passed_off_as_true(name: str) -> None:
    cert = certified(*FALSE[name])
    assert not cert["holds"]
    replay(cert)
    with pytest.raises(AssertionError, match="cofactors"):
        replay({**cert, "holds": True, "cofactors": [[] for _ in cert["relations"]]})


def altered_cofactor(cert: dict[str, Any]) -> None:
    next(cofactor for cofactor in cert["cofactors"] if cofactor)[0][0] = "17/3"


def other_side(cert: dict[str, Any]) -> None:
    cert["right"] = ["+", cert["right"], "x"]


def false_relation(cert: dict[str, Any]) -> None:
    cert["relations"][-1] = [["1", {"up 0": 1, "down 0": 1}], ["-2", {}]]


def point_off_the_relations(cert: dict[str, Any]) -> None:
    cert["point"]["up 0"] = ["7", "0"]


def symbol_named_like_a_generator(cert: dict[str, Any]) -> None:
    cert["left"] = "up 0"


def half_a_unit(cert: dict[str, Any]) -> None:
    cert["left"] = ["cos", ["*", ["q", "1/2"], "x"]]


def constant_angle(cert: dict[str, Any]) -> None:
    cert["left"] = ["cos", ["q", "1"]]


ALTERATIONS = {
    altered_cofactor: "cofactors",
    other_side: "cofactors",
    false_relation: "other relations",
    point_off_the_relations: "violates a relation",
    symbol_named_like_a_generator: "name of a generator",
    half_a_unit: "no whole multiple",
    constant_angle: "no multiple of a unit",
}


@pytest.mark.parametrize("alter", ALTERATIONS)
def test_an_altered_certificate_is_refused(alter: Any) -> None:
    cert = deepcopy(certified(*TRUE["double angle"]))
    alter(cert)
    with pytest.raises(AssertionError, match=ALTERATIONS[alter]):
        replay(cert)


def test_a_point_with_equal_values_refutes_nothing() -> None:
    cert = certified(x + y, x * y)
    replay(cert)
    with pytest.raises(AssertionError, match="one value"):
        replay({**cert, "point": {"x": ["2", "0"], "y": ["2", "0"]}})


def test_a_denominator_that_is_zero_at_the_point_is_refused() -> None:
    cert = certified(*TRUE["fraction"])
    with pytest.raises(AssertionError, match="denominator is 0"):
        replay({**cert, "point": {"x": ["1", "0"], "y": ["1", "0"]}})


def test_a_relation_between_units_cannot_be_smuggled_in_as_a_root() -> None:
    cert = certified(sp.exp(x), sp.exp(2 * x))
    with pytest.raises(AssertionError, match="name of a generator"):
        replay({**cert, "roots": {"up 0": ["q", "1"]}})


def test_symbols_that_look_alike_are_kept_apart() -> None:
    other = sp.Symbol("x", positive=True)
    cert = certified(x + other, x - other)
    assert {*cert["point"]} == {"x", "x (2)"}
    replay(cert)


def test_the_order_of_terms_does_not_depend_on_sympy() -> None:
    sides = [
        unevaluated(lambda terms=terms: sp.Add(*terms)) for terms in ((a, x * y, sp.sin(s)), (sp.sin(s), y * x, a))
    ]
    assert sides[0].args != sides[1].args
    assert certified(sides[0], t)["left"] == certified(sides[1], t)["left"]


def test_what_is_outside_the_fragment_has_no_certificate() -> None:
    identity = two_engines.Identity(left=sp.sqrt(x), right=x, squares=(), zero=False)
    with pytest.raises(NotCertified, match="no rational function"):
        certificate(identity)


def test_a_remembered_answer_reports_its_identities_each_time() -> None:
    calls = []

    @two_engines.remembered
    def decided(left: sp.Expr) -> bool:
        calls.append(left)
        return two_engines.decide(left, x**2)[0].zero

    with two_engines.recorded() as first:
        assert not decided(x + y)
    with two_engines.recorded() as second:
        assert not decided(x + y)
    assert len(calls) == 1 and first == second and len(first) == 1
