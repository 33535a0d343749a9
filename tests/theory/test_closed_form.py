"""LRC in closed form is what counting gives, at every scale that is counted, and says what cannot be counted."""

from random import Random

import pytest

from lengthgen.theory import closed_form as module
from lengthgen.theory.closed_form import closed_form
from lengthgen.theory.lrc import profile
from lengthgen.theory.pattern import PatternError, from_array, from_formula
from tests.oracles.formulas import random_presburger_text

FORMS = [
    ("j - i", "LRC(n) = n - 1 at every scale n"),
    ("(j - i) // 3", "LRC(n) = floor((n - 1) / 3) at every scale n"),
    ("(j - i) // 10000", "LRC(n) = floor((n - 1) / 10000) at every scale n"),
    ("j - 3*i", "LRC(n) = 3n - 4 from scale 3 on; before 1, 3"),
    ("i % j", "LRC(n) = n - 1 at every scale n"),
    ("i + n", "LRC(n) = 2n - 1 at every scale n"),
    ("min(j - i, 2)", "LRC(n) = 2 from scale 3 on; before 0, 1"),
    ("min(j - i, 10)", "LRC(n) = 10 from scale 11 on"),
    ("j if j % 7 > 4 else -3*j // 2", "LRC(n) = n at every scale n"),
    ("j // 2 if j % 5 == 0 else 0", "LRC(n) = floor(n / 5) at every scale n"),
    ("j if j % 7 < 2 else 0", "LRC(n + 7) = LRC(n) + 2 at every scale n"),
    ("(j if j % 2 == 0 else 0) * (1 if i % 2 == 0 else -1)", "LRC(n + 2) = LRC(n) + 2 at every scale n"),
    ("7", "LRC(n) = 1 at every scale n"),
]


@pytest.mark.parametrize(("text", "form"), FORMS)
def test_the_form_is_written_as_short_as_it_can_be(text: str, form: str) -> None:
    answer = closed_form(from_formula(text))
    assert str(answer) == form
    assert answer is not None
    counted = profile(from_formula(text), 16 if "n" in text.replace("min", "") else 40)
    for scale in range(1, counted.scale + 1):
        assert counted.bounds(scale) == (answer.at(scale), answer.at(scale))


def test_any_scale_has_its_value_at_once() -> None:
    answer = closed_form(from_formula("(j - i) // 10000 + 7 * (i % 2)"))
    assert answer is not None
    assert answer.at(10**30 + 1) - answer.at(10**30 - 10**4 + 1) == answer.new * 10**4 // answer.period
    assert answer.at(10**30) == pytest.approx(10**26, rel=1e-12)
    with pytest.raises(PatternError, match="scales begin at 1"):
        answer.at(0)


def test_random_formulas_have_the_values_that_counting_gives() -> None:
    draw, decided, repeating = Random(4), 0, 0
    for _ in range(150):
        text = random_presburger_text(draw, draw.choice((1, 2, 2, 3)))
        answer = closed_form(from_formula(text))
        if answer is None:
            continue
        decided += 1
        counted = profile(from_formula(text), 12 if "n" in text.replace("min", "") else 40)
        for scale in range(1, counted.scale + 1):
            assert counted.bounds(scale) == (answer.at(scale), answer.at(scale)), (text, str(answer))
        repeating += answer.start + answer.period <= counted.scale
    assert decided > 145 and repeating > 120


def test_other_patterns_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("i*j", "sqrt(i)", "1 / (j - i)", "[[i, 0], [0, 1]]"):
        assert closed_form(from_formula(text)) is None
    assert closed_form(from_formula("a*i", parameters=["a"])) is None
    assert closed_form(from_array([[1]])) is None
    monkeypatch.setattr(module, "MOST_COUNTED", 5)
    assert closed_form(from_formula("min(j - i, 10)")) is None
    monkeypatch.setattr(module, "MOST_PERIOD", 6)
    assert closed_form(from_formula("j if j % 7 < 2 else 0")) is None
