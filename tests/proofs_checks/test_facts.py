"""Identities that two engines decide, zeros, signs and induction: what is open decides nothing."""

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.facts import (
    combine,
    derivative,
    empty_value,
    is_zero,
    last_term,
    product,
    require_equal,
    same_by_sympy,
    sign,
)
from lengthgen.proofs_checks.result import Verdict
from lengthgen.proofs_checks.runner import run_claim
from lengthgen.theory.encodings import rotary
from lengthgen.theory.zero import flint_engine, sympy_engine
from lengthgen.theory.zero.sympy_engine import Undecided
from lengthgen.theory.zero.two_engines import EnginesDisagree, OneExpression, decide

ROOT = sp.sqrt(2)
OPEN = sp.log(3 + 2 * ROOT) - 2 * sp.log(1 + ROOT)
"""Zero, but no proof of it is found."""


def test_zero_and_sign_are_those_of_the_number_and_what_is_open_is_neither() -> None:
    assert is_zero(sp.sqrt(3 + 2 * ROOT) - 1 - ROOT)
    assert not is_zero(ROOT - sp.Rational(7, 5))
    assert [sign(value) for value in (sp.Rational(7, 5) - ROOT, sp.S.Zero, sp.pi - 3)] == [-1, 0, 1]
    with pytest.raises(Undecided, match="neither proved to be 0 nor not to be"):
        is_zero(OPEN)
    for value in (OPEN, sp.Symbol("x", real=True)):
        with pytest.raises(Undecided, match="is not known"):
            sign(value)


a, b, s, t, x, y = sp.symbols("a b s t x y")
ADDITION = ("R(x) R(y) = R(x + y)", rotary.rotation(x) * rotary.rotation(y), rotary.rotation(x + y))


def test_the_fact_names_both_decisions_and_their_rings() -> None:
    assert require_equal(*ADDITION) == (
        "R(x) R(y) = R(x + y): 4 entries decided equal over Q(i)[(exp(I*x))^±1][(exp(I*y))^±1] "
        "and again by python-flint over Q(i)[cos(x), sin(x)][cos(y), sin(y)]"
    )
    assert require_equal("e", sp.cosh(x) ** 2, 1 + sp.sinh(x) ** 2) == (
        "e: 1 entry decided equal over Q(i)[(exp(x))^±1] and again by python-flint"
    )


def test_roots_are_bound_for_both_engines() -> None:
    assert require_equal("s", 1 / s, s / (a * b), squares={s: a * b})
    with pytest.raises(Refuted):
        require_equal("s", 1 / s, s / (a * b))


def test_a_false_identity_is_refuted_with_the_point_and_both_values() -> None:
    with pytest.raises(Refuted, match=r"^sum, entry 1: 8\.0+ != 16\.0+ at x = 4, y = 4$"):
        require_equal("sum", x + y, x * y)
    with pytest.raises(Refuted, match="2 and 1 entries"):
        require_equal("sizes", sp.Matrix([x, y]), x)


@pytest.mark.parametrize(
    "sides",
    [
        (x + y, y + x),
        (sp.Integer(0), sp.Integer(0)),
        (sp.Matrix([x, 0]), sp.Matrix([x, 0])),
        (lambda: x * (y + 1), lambda: x * (y + 1)),
        ((x + 1) - 1, x),  # sympy has cancelled what was to be decided
        (sp.exp(sp.log(x)), x),
    ],
    ids=["sums", "zeros", "matrices", "functions", "cancelled by sympy", "evaluated by sympy"],
)
def test_sides_that_are_one_expression_are_refused(sides: tuple[Any, Any]) -> None:
    with pytest.raises(OneExpression, match=r"^same: the sides are one expression, so nothing is decided"):
        require_equal("same", *sides)
    for engine in (sympy_engine, flint_engine):
        assert engine.is_zero(sp.Integer(0))
    with pytest.raises(OneExpression):
        decide(x, x)


def test_entries_that_are_one_expression_are_not_counted_as_decided() -> None:
    fact = require_equal("three", sp.Matrix([0, x, (x + y) ** 2]), sp.Matrix([0, x, x**2 + 2 * x * y + y**2]))
    assert fact == (
        "three: 1 entry decided equal over Q(i) and again by python-flint; 1 entry 0 on both sides as written; "
        "1 entry one expression on both sides as written"
    )


def _recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Record the sides with which each engine is called from now on."""
    sides: list[tuple[Any, Any]] = []
    for engine in (sympy_engine, flint_engine):

        def record(left: Any, right: Any, *, squares: Any = None, right_one: Any = engine.decide) -> Any:
            sides.append((left, right))
            return right_one(left, right, squares=squares)

        monkeypatch.setattr(engine, "decide", record)
    return sides


def test_a_side_that_is_built_reaches_the_engines_unevaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = _recorded(monkeypatch)
    turn = rotary.rotation(x)
    require_equal("R^T R = I", lambda: turn.T * turn, sp.eye(2))
    require_equal("R(0) = I", lambda: rotary.rotation(0 * x), sp.eye(2))
    require_equal("R' = J2 R", lambda: derivative(turn, x), lambda: sp.Matrix([[0, -1], [1, 0]]) * turn)
    require_equal("A^2 = 0", product(*[sp.Matrix([[0, 1], [0, 0]])] * 2), sp.zeros(2, 2))
    assert len(sides) == 2 * 4 * 4
    assert sum(left.doit() == right.doit() for left, right in sides) == 2 * 14  # all but the two of sin^2 + cos^2
    assert not any(left == right for left, right in sides)


def test_the_second_engine_does_not_see_what_sympy_evaluates(monkeypatch: pytest.MonkeyPatch) -> None:
    """If sympy evaluated one side wrongly, the second engine would object."""
    sides: Any = ("distributed", lambda: x * (y + 1), lambda: x * y + x)
    assert require_equal(*sides)
    right = sympy_engine._evaluated
    monkeypatch.setattr(sympy_engine, "_evaluated", lambda side: right(side) + (1 if side.is_Mul else 0))
    with pytest.raises(EnginesDisagree, match="not equal by sympy, equal by python-flint"):
        require_equal(*sides)


def test_functions_that_the_engines_do_not_know_are_evaluated_by_sympy_and_named() -> None:
    fact = require_equal("log", lambda: sp.log(x + x) * (y + 1), sp.log(2 * x) * y + sp.log(2 * x))
    assert fact == "log: 1 entry decided equal over Q(i) and again by python-flint; evaluated by sympy before: log(2*x)"
    with pytest.raises(Refuted):
        require_equal("logs", sp.log(x) * y, sp.log(2 * x) * y)


def test_sides_that_sympy_evaluates_to_one_expression_are_decided_by_no_engine() -> None:
    assert (
        same_by_sympy("log", sp.exp(-sp.log(x)), 1 / x) == "log: sympy evaluates both sides to 1/x; no engine decides"
    )
    decided = same_by_sympy("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
    assert decided.startswith("square: ")
    assert "decided equal" in decided
    with pytest.raises(Refuted):
        same_by_sympy("false", x, 2 * x)


def _engine_that_decides(zero: bool) -> Callable[..., Any]:
    return lambda left, right, *, squares=None: sympy_engine.Decision(zero=zero, generators=())


@pytest.mark.parametrize("engine", [sympy_engine, flint_engine])
def test_an_engine_that_denies_or_accepts_everything_is_a_disagreement(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    denies = ["not equal by sympy, equal by python-flint", "equal by sympy, not equal by python-flint"]
    [rope] = registry.select(["rope-1"])
    monkeypatch.setattr(engine, "decide", _engine_that_decides(False))
    answers = denies[engine is flint_engine]
    with pytest.raises(EnginesDisagree, match=rf"^binomial, entry 1: {answers}: .*\(x \+ y\)\*\*2"):
        require_equal("binomial", (x + y) ** 2, x**2 + 2 * x * y + y**2)
    result = run_claim(rope)
    assert result.verdict is Verdict.UNSETTLED
    assert result.reason.startswith("EnginesDisagree: R(0) = I, entry 1: ")
    monkeypatch.setattr(engine, "decide", _engine_that_decides(True))
    with pytest.raises(EnginesDisagree, match=r"x = y"):
        require_equal("false", x, y)


RIGHT_MULTIPLE, RIGHT_TERMS = flint_engine._Field._multiple, sympy_engine._exponent_terms
RIGHT_REDUCED, RIGHT_VANISHES = flint_engine._Field._reduced, sympy_engine._vanishes


def _sine_of_the_other_sign(field: Any, monomial: Any, times: int) -> Any:
    cosine, sine = RIGHT_MULTIPLE(field, monomial, times)
    return cosine, -sine if times > 1 else sine


def _without_signs(exponent: sp.Expr, relations: Any) -> Any:
    return [(monomial, abs(weight)) for monomial, weight in RIGHT_TERMS(exponent, relations)]


# Engine, part of it, a wrong part, and an identity over which the engines then disagree.
BROKEN: list[tuple[Any, str, Callable[..., Any], tuple[sp.Expr, sp.Expr]]] = [
    (flint_engine._Field, "_multiple", _sine_of_the_other_sign, (sp.sin(2 * x), 2 * sp.sin(x) * sp.cos(x))),
    (flint_engine._Field, "_reduced", lambda field, polynomial: polynomial, (sp.sin(x) ** 2, 1 - sp.cos(x) ** 2)),
    (sympy_engine, "_exponent_terms", _without_signs, (sp.cosh(x) ** 2, 1 + sp.sinh(x) ** 2)),
    (
        sympy_engine,
        "_vanishes",
        lambda polynomial, ideal, symbols: RIGHT_VANISHES(polynomial, [], symbols),
        (s**2, a * b),
    ),
]


@pytest.mark.parametrize(("place", "name", "wrong", "sides"), BROKEN, ids=[row[1] for row in BROKEN])
def test_a_wrong_part_of_one_engine_is_a_disagreement(
    place: Any, name: str, wrong: Callable[..., Any], sides: tuple[sp.Expr, sp.Expr], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert require_equal("right", *sides, squares={s: a * b})
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(EnginesDisagree):
        require_equal("wrong", *sides, squares={s: a * b})


@pytest.mark.parametrize(
    ("engine", "undecided"), [(sympy_engine, sympy_engine.Undecided), (flint_engine, flint_engine.FlintUndecided)]
)
def test_an_identity_that_one_engine_cannot_decide_is_undecided(
    engine: Any, undecided: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(left: sp.Expr, right: sp.Expr, *, squares: Any = None) -> Any:
        raise undecided("out of reach")

    monkeypatch.setattr(engine, "decide", refuse)
    with pytest.raises(undecided, match="out of reach"):
        require_equal("x", x * y + x, x * (y + 1))


GATE = sp.IndexedBase("g", real=True)
N, K = sp.Symbol("n", integer=True), sp.Symbol("k", integer=True)
ONE, TWO = (sp.Symbol(f"g[{place}]", real=True) for place in ("n", "n + 1"))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (sp.Sum(GATE[K], (K, N + 1, N)), sp.Integer(0)),
        (sp.Product(GATE[K], (K, N + 1, N)), sp.Integer(1)),
        (sp.Sum(GATE[K], (K, N, N)), ONE),
        (sp.Sum(GATE[K], (K, N, N + 1)), ONE + TWO),
        (sp.Product(GATE[K], (K, N, N + 1)), ONE * TWO),
        (sp.Sum(K**2, (K, 3, 5)), sp.Integer(50)),
    ],
)
def test_a_path_with_few_terms_is_written_out(path: sp.Expr, value: sp.Expr) -> None:
    assert empty_value("path", path) == value


@pytest.mark.parametrize("upper", [N - 1, 2 * N])
def test_a_path_whose_number_of_terms_is_no_number_from_0_on_is_refuted(upper: sp.Expr) -> None:
    with pytest.raises(Refuted, match="path: the path from a position to itself has"):
        empty_value("path", sp.Sum(GATE[K], (K, N + 1, upper)))


def test_the_last_term_is_that_at_the_new_end() -> None:
    path, extended = sp.Sum(GATE[K], (K, 1, N)), sp.Sum(GATE[K], (K, 1, N + 1))
    assert last_term("sum", path, extended) == TWO
    assert combine(path, sp.Integer(3), TWO) == 3 + TWO
    assert combine(sp.Product(GATE[K], (K, 1, N)), sp.Integer(3), TWO) == 3 * TWO


@pytest.mark.parametrize(
    "extended",
    [
        sp.Sum(GATE[K], (K, 1, N + 2)),
        sp.Sum(GATE[K], (K, 1, N)),
        sp.Sum(GATE[K], (K, 2, N + 1)),
        sp.Sum(2 * GATE[K], (K, 1, N + 1)),
        sp.Product(GATE[K], (K, 1, N + 1)),
    ],
    ids=["two terms more", "no term more", "another start", "another family", "a product"],
)
def test_whatever_is_not_the_path_with_one_term_more_is_refuted(extended: sp.Expr) -> None:
    with pytest.raises(Refuted, match=r"is not .* with one more term"):
        last_term("sum", sp.Sum(GATE[K], (K, 1, N)), extended)
