"""An identity inside a check is decided by two engines; where they differ nothing is decided."""

from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from proofs_checks import registry
from proofs_checks.claim import Refuted
from proofs_checks.identity import require_equal
from proofs_checks.runner import Verdict, run_claim
from theory import exact, second_engine
from theory.encodings import rotary
from theory.twice import EnginesDisagree

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


def test_sides_of_different_sizes_are_refuted() -> None:
    with pytest.raises(Refuted, match="2 and 1 entries"):
        require_equal("sizes", sp.Matrix([x, y]), x)


def _says(engine: Any, zero: bool) -> Callable[..., Any]:
    return lambda expression, *, squares=None: engine.Decision(zero=zero, generators=())


@pytest.mark.parametrize(
    ("engine", "answers"),
    [
        (exact, "not zero by sympy, zero by python-flint"),
        (second_engine, "zero by sympy, not zero by python-flint"),
    ],
)
def test_an_engine_that_denies_an_identity_is_a_disagreement(
    engine: Any, answers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "decide", _says(engine, False))
    with pytest.raises(EnginesDisagree, match=rf"^binomial, entry 1: {answers}: .*\(x \+ y\)\*\*2"):
        require_equal("binomial", (x + y) ** 2, x**2 + 2 * x * y + y**2)


@pytest.mark.parametrize("engine", [exact, second_engine])
def test_an_engine_that_accepts_everything_is_a_disagreement(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "decide", _says(engine, True))
    with pytest.raises(EnginesDisagree, match=r"x - y"):
        require_equal("false", x, y)


RIGHT_MULTIPLE, RIGHT_TERMS = second_engine._Field._multiple, exact._exponent_terms
RIGHT_REDUCED, RIGHT_VANISHES = second_engine._Field._reduced, exact._vanishes


def _sine_of_the_other_sign(field: Any, monomial: Any, times: int) -> Any:
    cosine, sine = RIGHT_MULTIPLE(field, monomial, times)
    return cosine, -sine if times > 1 else sine


def _without_signs(exponent: sp.Expr, relations: Any) -> Any:
    return [(monomial, abs(weight)) for monomial, weight in RIGHT_TERMS(exponent, relations)]


# Engine, part of it, a wrong part, and an identity over which the engines then disagree.
BROKEN: list[tuple[Any, str, Callable[..., Any], tuple[sp.Expr, sp.Expr]]] = [
    (second_engine._Field, "_multiple", _sine_of_the_other_sign, (sp.sin(2 * x), 2 * sp.sin(x) * sp.cos(x))),
    (second_engine._Field, "_reduced", lambda field, polynomial: polynomial, (sp.sin(x) ** 2, 1 - sp.cos(x) ** 2)),
    (exact, "_exponent_terms", _without_signs, (sp.cosh(x) ** 2, 1 + sp.sinh(x) ** 2)),
    (exact, "_vanishes", lambda polynomial, ideal, symbols: RIGHT_VANISHES(polynomial, [], symbols), (s**2, a * b)),
]


@pytest.mark.parametrize(("place", "name", "wrong", "sides"), BROKEN, ids=[row[1] for row in BROKEN])
def test_a_wrong_part_of_one_engine_is_a_disagreement(
    place: Any, name: str, wrong: Callable[..., Any], sides: tuple[sp.Expr, sp.Expr], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert require_equal("right", *sides, squares={s: a * b})
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(EnginesDisagree):
        require_equal("wrong", *sides, squares={s: a * b})


@pytest.mark.parametrize("engine", [exact, second_engine])
def test_what_one_engine_cannot_decide_is_undecided(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(expression: sp.Expr, *, squares: Any = None) -> Any:
        raise engine.Undecided("out of reach")

    monkeypatch.setattr(engine, "decide", refuse)
    with pytest.raises(engine.Undecided, match="out of reach"):
        require_equal("x", x, x)


@pytest.mark.parametrize("engine", [exact, second_engine])
def test_a_claim_over_which_the_engines_disagree_is_unsettled(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    [rope] = registry.select(["rope-1"])
    monkeypatch.setattr(engine, "decide", _says(engine, False))
    result = run_claim(rope)
    assert result.verdict is Verdict.UNSETTLED
    assert result.reason.startswith("EnginesDisagree: R(0) = I, entry 1: ")
