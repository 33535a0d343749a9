"""Linear conditions are met exactly where elimination and search say, for a hundred random ones and more."""

from collections import Counter
from random import Random

import pytest

from lengthgen.theory.formula import linear, parse
from lengthgen.theory.formula.linear import bounds_of_last_position, cases_of, points
from tests.oracles.formulas import by_python

SCALE = 9


def _form(draw: Random, names: str) -> str:
    terms = [f"{draw.randint(-3, 3)}*{name}" for name in names]
    return f"({' + '.join(terms)} + {draw.randint(-8, 8)}{draw.choice(['', '', '/2'])})"


def _condition(draw: Random, names: str, depth: int) -> str:
    if depth == 0:
        return f"({_form(draw, names)} {draw.choice(['<', '<=', '==', '!=', '>', '>='])} {_form(draw, names)})"
    kind = draw.randrange(4)
    if kind == 0:
        return f"(not {_condition(draw, names, depth - 1)})"
    if kind == 1:
        return f"({_form(draw, names)} < {_form(draw, names)} <= {_form(draw, names)})"
    return f"({_condition(draw, names, depth - 1)} {draw.choice(['and', 'or'])} {_condition(draw, names, depth - 1)})"


def _cells(family: bool) -> list[tuple[int, ...]]:
    pairs = [(i, j) for j in range(1, SCALE + 1) for i in range(1, j + 1)]
    return [(i, j, n) for n in range(1, SCALE + 1) for i, j in pairs if j <= n] if family else pairs


@pytest.mark.parametrize("family", [False, True])
def test_the_first_scale_that_meets_a_random_condition_is_found(family: bool) -> None:
    draw = Random(int(family))
    seen: Counter[str] = Counter()
    for _ in range(40 if family else 100):
        text = _condition(draw, "ijn" if family else "ij", draw.randint(0, 2))
        split = cases_of(parse(text).nodes[0])
        assert split.exact
        meeting = [cell[-1] for cell in _cells(family) if by_python(text, dict(zip("ijn", cell, strict=False)))]
        bounds = [bounds_of_last_position(case, family=family) for case in split.cases]
        for scale in meeting:
            assert any(span and span[0] <= scale and (span[1] is None or scale <= span[1]) for span in bounds), text
        solutions = [next(points(case, family=family), None) for case in split.cases]
        first = min((point[-1] for point in solutions if point), default=None)
        assert all(by_python(text, dict(zip("ijn", point, strict=False))) for point in solutions if point), text
        if first is None or first > SCALE:
            assert not meeting, text
            seen["none"] += 1
        else:
            assert first == min(meeting), text
            seen["some"] += 1
        seen["proved empty"] += not any(bounds)
    assert min(seen.values()) > 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*i - 4*j + 1 == 0", None),  # by parity
        ("3*i - 5*j == 0", None),  # i <= j
        ("5*i - 3*j == 0", (3, 5)),
        ("i + j == 101", (50, 51)),
        ("i == 100000", (100_000, 100_000)),
        ("j - i < 0", None),
        ("i > 3 and j < 3", None),
        ("not (i < 7 or j < 9)", (7, 9)),
        ("i != j and i >= j", None),
        ("3*i - 7*j + 20001 == 0", (4, 2_859)),
    ],
)
def test_known_conditions(text: str, expected: tuple[int, int] | None) -> None:
    (case, *others) = cases_of(parse(text).nodes[0]).cases
    solutions = [point for branch in (case, *others) for point in [next(points(branch, family=False), None)] if point]
    first = min(solutions, key=lambda point: point[-1], default=None)
    if expected is None:
        assert first is None
    else:
        assert first is not None
        assert by_python(text, dict(zip("ij", first, strict=True)))
        assert first[-1] <= expected[-1]


def test_conditions_that_are_not_linear_are_left_out() -> None:
    split = cases_of(parse("i*j < 5 and i > j").nodes[0])
    assert not split.exact
    assert all(bounds_of_last_position(case, family=False) is None for case in split.cases)
    assert not cases_of(parse("i*j < 5 or i > j").nodes[0]).exact


def test_a_search_that_would_be_long_is_given_up() -> None:
    (case,) = cases_of(parse("1234567*i - 1000000*j == 1").nodes[0]).cases
    *_, last = points(case, family=False)
    assert last is None


def test_an_elimination_with_more_inequalities_than_allowed_gives_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two inequalities are left for j: the given one, and 1 <= j from 1 <= i <= j."""
    (case,) = cases_of(parse("j <= 9").nodes[0]).cases
    monkeypatch.setattr(linear, "MOST_INEQUALITIES", 2)
    assert bounds_of_last_position(case, family=False) == (1, 9)
    monkeypatch.setattr(linear, "MOST_INEQUALITIES", 1)
    assert bounds_of_last_position(case, family=False) == (1, None)
