"""Statements on values far out along a path hold there, and nothing is called infinite that is not."""

from collections import Counter
from collections.abc import Iterable
from random import Random

import mpmath
import pytest
import sympy as sp

from lengthgen.theory.formula import parse
from lengthgen.theory.formula.asymptotics import S
from lengthgen.theory.formula.progressions import Path, UndecidedChoice, pieces
from lengthgen.theory.formula.syntax import names
from lengthgen.theory.formula.tails import Spread, Tail, grows_without_end, infinitely_many_values, tail
from lengthgen.theory.growth import RAYS, GrowthKind, growth
from lengthgen.theory.pattern import from_formula
from tests.oracles.formulas import (
    FINITELY_MANY,
    INFINITELY_MANY,
    NoValue,
    Unsure,
    by_python,
    random_mixed_text,
    random_text,
)

DIAGONAL: Path = {"i": (1, 1), "j": (1, 1), "n": (1, 1)}
FAR = range(300, 308)


def _own(text: str, path: Path) -> Path:
    return {name: path[name] for name in path if name in names(parse(text).nodes[0])}


def _reasons(text: str, path: Path = DIAGONAL) -> list[tuple[int, int, str]]:
    return list(infinitely_many_values(parse(text).nodes[0], _own(text, path)))


@pytest.mark.parametrize("text", FINITELY_MANY)
def test_formulas_with_finitely_many_values_are_never_called_infinite(text: str) -> None:
    assert not _reasons(text)


@pytest.mark.parametrize("text", INFINITELY_MANY)
def test_formulas_with_infinitely_many_values_are_recognised(text: str) -> None:
    assert _reasons(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i", "the entry is s + 1, which is strictly monotone"),
        ("floor(sqrt(i))", "from some step on the entry is at least sqrt(s + 1) - 1, which grows without end"),
        ("min(i, i + cos(i))", "from some step on the entry is at least s, which grows without end"),
        ("sin(exp(-i)) % 5", "from some step on the entry takes no value infinitely often"),
        ("sqrt(i) % 4", "the entry takes infinitely many values, as a part of it does"),
        ("min(2 - 1/i, 2 - sin(i)**2/i)", None),
        ("sin(2**sqrt(2)*i + sin(i)) - sin(i)", None),
        ("sin(log(i) + sin(i))", None),
        ("min(2*sin(i) - sin(gcd(i, i)), -2)", None),
    ],
)
def test_the_reason_is_given(text: str, reason: str | None) -> None:
    assert [why for *_, why in _reasons(text)] == ([] if reason is None else [reason])


def test_values_that_grow_without_end_are_told_from_those_that_do_not() -> None:
    def grows(text: str) -> bool:
        return any(grows_without_end(parse(text).nodes[0], _own(text, DIAGONAL)))

    assert all(map(grows, ("i - sin(i)", "-log(i)", "floor(sqrt(i)) / 3", "min(i, 2**i - i**2)")))
    assert not any(map(grows, ("1/i", "sin(i)", "i % 5", "sin(i) * i", "min(i, 10**9)")))


def test_what_is_said_of_random_formulas_holds_far_out() -> None:
    draw, counts = Random(3), Counter[str]()
    for number in range(110):
        path = draw.choice(RAYS)
        listed = draw.choice([["i", "j"], ["i", "j", "n"], ["(j - i)", "j"]])
        make = random_text if number % 4 == 0 else random_mixed_text
        text = make(draw, draw.choice((2, 3)), listed)
        node = parse(text).nodes[0]
        try:
            for start, step, far_out in list(pieces(_own(text, path), lambda at, node=node: tail(node, at)))[:2]:
                if far_out is not None:
                    _holds(far_out, text, path, start, step, counts)
        except UndecidedChoice:
            counts["undecided"] += 1
    assert (
        counts["low"] > 40
        and counts["high"] > 40
        and counts["value"] > 25
        and counts["many"] > 40
        and counts["integer"] > 40
    )
    assert counts["undecided"] < 5


def _values(text: str, path: Path, start: int, step: int, steps: Iterable[int]) -> dict[int, mpmath.mpf]:
    values = {}
    for s in steps:
        cell = {name: first + by * (start + step * s) for name, (first, by) in path.items()}
        try:
            value = by_python(text, cell, real=max(cell.values()) > 10**4)
        except (NoValue, Unsure, OverflowError, ValueError):
            continue
        if abs(value) < 10**300:
            values[s] = mpmath.mpf(value.numerator) / value.denominator if hasattr(value, "numerator") else value
    return values


def _holds(far_out: Tail, text: str, path: Path, start: int, step: int, counts: Counter[str]) -> None:
    with mpmath.workdps(40):
        for s, value in _values(text, path, start, step, FAR).items():
            for side, sign in (("low", 1), ("high", -1), ("value", 0)):
                bound = getattr(far_out, side)
                if bound is not None:
                    gap = (mpmath.mpf(sp.N(bound.subs(S, s), 40)) - value) / (1 + abs(value))
                    assert (sign * gap if sign else abs(gap)) < 1e-12, (text, side, bound, s)
                    counts[side] += 1
            if far_out.integer and abs(value) < 1e20:
                assert abs(value - mpmath.nint(value)) < 1e-12, (text, s)
                counts["integer"] += 1
        if far_out.spread is not Spread.UNKNOWN:
            assert far_out.why_many
            near, far = (_values(text, path, start, step, range(steps)).values() for steps in (60, 300))
            if len({mpmath.nstr(value, 30) for value in near}) == len({mpmath.nstr(value, 30) for value in far}):
                near, far = (
                    _values(text, path, start, step, (2**power for power in range(powers))).values()
                    for powers in (20, 40)
                )
            if len(far) > len(near):
                assert len(set(far)) > len(set(near)), (text, far_out.why_many)
                counts["many"] += 1


def test_of_mixed_formulas_at_most_three_in_a_hundred_are_left_open() -> None:
    draw, left_open = Random(5), []
    for _ in range(200):
        listed = draw.choice([["i", "j"], ["i", "j", "(j - i)"], ["i", "j", "n"], ["(j - i)"]])
        text = random_mixed_text(draw, draw.choice((2, 3, 3)), listed)
        result = growth(from_formula(text))
        assert result is not None
        if result.kind is GrowthKind.UNDECIDED:
            left_open.append(text)
    assert len(left_open) <= 6, left_open
