"""A special case is attained only at values that the parameters can have, whatever the other's parameters are."""

import pytest
import sympy as sp

from lengthgen.theory import domains, laws
from lengthgen.theory.encodings import biases, grape, paths
from lengthgen.theory.encodings.catalogue import named, with_formulas
from lengthgen.theory.encodings.encoding import Encoding, Parameter, Recovery

m, alpha = sp.symbols("m alpha", positive=True)
speed, x = sp.Symbol("speed", nonnegative=True), sp.Symbol("x", real=True)
u = sp.Symbol("u")
f = sp.Function("f")


def parameter(symbol, **fields):
    return Parameter(symbol=symbol, meaning="", **fields)


CASES = [
    (parameter(sp.Symbol("c", positive=True)), m / 2, True),
    (parameter(sp.Symbol("c", positive=True)), -m, False),
    (parameter(sp.Symbol("c", positive=True)), sp.Integer(0), False),
    (parameter(sp.Symbol("c", positive=True)), speed, False),
    (parameter(sp.Symbol("c", positive=True)), m - alpha, None),
    (parameter(sp.Symbol("c", nonnegative=True)), m, True),
    (parameter(sp.Symbol("c", negative=True)), -m, True),
    (parameter(sp.Symbol("c", real=True)), -sp.log(sp.exp(m) - 1), True),
    (parameter(sp.Symbol("c", real=True)), sp.oo, False),
    (parameter(sp.Symbol("c", integer=True)), sp.Rational(1, 2), False),
    (parameter(sp.Symbol("p", positive=True), domain=sp.Interval.Lopen(0, 2)), sp.Integer(2), True),
    (parameter(sp.Symbol("p", positive=True), domain=sp.Interval.Lopen(0, 2)), sp.Integer(3), False),
    (parameter(sp.Symbol("p", positive=True), domain=sp.Interval.Lopen(0, 2)), m, None),
    (parameter(sp.IndexedBase("g", negative=True)), -m, True),
    (parameter(sp.IndexedBase("g", negative=True)), sp.Integer(0), False),
    (parameter(sp.IndexedBase("g"), domain=sp.S.EmptySet), sp.Integer(1), False),
    (parameter(sp.IndexedBase("g"), domain=sp.FiniteSet(-alpha * sp.log(2))), -sp.log(2) * alpha, True),
    (parameter(sp.IndexedBase("g"), domain=sp.FiniteSet(-alpha * sp.log(2))), -m, False),
    (parameter(f, network=True), sp.Lambda(u, 0), True),
    (parameter(f, network=True), sp.Lambda(u, -m * u + 1), True),
    (parameter(f, network=True), sp.Lambda(u, -m * sp.exp(u)), False),
    (parameter(f), sp.Lambda(u, -m * sp.exp(u)), True),
]


@pytest.mark.parametrize(("of", "value", "inside"), CASES)
def test_a_value_is_in_the_domain_for_all_that_its_symbols_stand_for(of, value, inside):
    assert domains.in_domain(of, value) is inside


@pytest.mark.parametrize("name", [encoding.name for encoding in with_formulas()])
def test_special_cases_that_the_catalogue_declares_attained_are_attained(name):
    for recovery in named(name).recovers:
        stated = recovery.attained and not recovery.function
        assert domains.assignment_allowed(named(name), recovery.assignment).holds is stated, recovery.of


@pytest.mark.parametrize(
    ("member", "inside"),
    [(lambda j, i: abs(j - i), True), (lambda j, i: 2 * j + i, True), (lambda j, i: -1 - j, False)],
)
def test_a_function_of_the_indices_gives_each_member_a_value_of_its_domain(member, inside):
    j, i = sp.symbols("j i", integer=True, nonnegative=True)
    hops = parameter(sp.IndexedBase("hops", integer=True, nonnegative=True))
    assert domains.in_domain(hops, sp.Lambda((j, i), member(j, i))) is inside
    assert domains.in_domain(hops, sp.Lambda((j, i), member(j, i) / 2)) is not True


def test_no_constant_slope_is_a_gate_of_content():
    for gate in (sp.Rational(1, 2), sp.log(2), m):
        ruling = domains.assignment_allowed(grape.GATED, {grape.QUERY_GATES: gate})
        assert ruling.holds is False
        assert str(gate) in ruling.reason


def test_a_path_of_equal_edges_has_one_slope_only():
    recovery = Recovery(of="alibi", assignment={grape.EDGES: -m})
    assert laws.decide_recovery(grape.PATH, named("alibi"), recovery).holds
    assert domains.assignment_allowed(grape.PATH, recovery.assignment).holds is False
    (declared,) = grape.PATH.recovers
    assert declared.at == {biases.ALIBI_SLOPE: grape.PATH_SLOPE * sp.log(2)}
    assert domains.assignment_allowed(grape.PATH, declared.assignment).holds
    assert laws.decide_recovery(grape.PATH, named("alibi"), declared).holds
    everywhere = Recovery(of="alibi", assignment=declared.assignment)
    assert laws.decide_recovery(grape.PATH, named("alibi"), everywhere).holds is False


def test_a_value_that_is_not_proved_inside_the_domain_is_left_undecided():
    encoding = Encoding(name="toy", title="", arxiv="", parameters=(parameter(sp.Symbol("c", positive=True)),))
    ruling = domains.assignment_allowed(encoding, {sp.Symbol("c", positive=True): m - alpha})
    assert ruling.holds is None
    assert "not known to be in the domain" in ruling.reason


def test_a_family_may_have_a_value_for_each_member():
    step = sp.Symbol("l", integer=True)
    for value, inside in (
        (-paths.LOG_GATES[step], True),
        (paths.LOG_GATES[step], False),
        (x * paths.LOG_GATES[step], None),
    ):
        assignment = {paths.CABLE_STEPS: sp.Lambda(step, value)}
        assert domains.assignment_allowed(paths.CABLE, assignment).holds is inside
        ruling = laws.decide_recovery(paths.CABLE, paths.FOX, Recovery(of="fox", assignment=assignment))
        assert ruling.holds is (inside is True)
    shifted = {paths.CABLE_STEPS: sp.Lambda(step, -paths.LOG_GATES[step + 1])}
    assert not laws.decide_recovery(paths.CABLE, paths.FOX, Recovery(of="fox", assignment=shifted)).holds
