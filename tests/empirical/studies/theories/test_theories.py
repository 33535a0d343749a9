"""Catalogue of theories: names, a user's own theories, and their errors on one line."""

from pathlib import Path

import pytest

from lengthgen.empirical.studies.theories.rival import SURE, TheoryError
from lengthgen.empirical.studies.theories.theories import OWN, THEORIES, theory_named
from tests.empirical.studies.theories.questions import about


def test_every_theory_is_found_by_its_name_and_says_what_it_is() -> None:
    for name, theory in THEORIES.items():
        assert theory_named(name) is theory
        assert theory.name == name
        assert theory.statement.endswith(".")
        assert theory.label in ("P", "F")
        assert theory.domain


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(TheoryError, match="did you mean k-sparse"):
        theory_named("ksparse")


@pytest.mark.parametrize(
    ("body", "probability"),
    [
        ("return 0.25", 0.25),
        ("return 1", 1.0),
        ("return True", SURE),
        ("return False", 1 - SURE),
        ("return None", None),
        ("return Guess(probability=0.5, reason='even')", 0.5),
        ("return 0.7 if question.encoding == 'rope' else 0.1", 0.7),
    ],
)
def test_a_theory_of_the_users_own_joins_after_the_fact(tmp_path: Path, body: str, probability: float | None) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        f"from lengthgen.empirical.studies.theories.rival import Guess\n\ndef mine(question):\n    {body}\n"
    )
    theory = theory_named(f"{path}:mine")
    assert theory.guess(about("rope")).probability == (None if probability is None else pytest.approx(probability))
    assert (theory.domain, theory.label, theory.source) == (OWN, "F", "")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1.5", "a probability lies in 0..1"),
        ("return float('nan')", "a probability lies in 0..1"),
        ("return 'yes'", "it must give a probability"),
        ("return question.outcome", "AttributeError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("return 1 / 0", "ZeroDivisionError"),
    ],
)
def test_errors_of_an_own_theory_are_one_line_that_names_the_question(tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"def mine(question):\n    {body}\n")
    theory = theory_named(f"{path}:mine")
    with pytest.raises(TheoryError, match=message) as raised:
        theory.guess(about("rope", name="copy"))
    assert "fails for copy with rope" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("named", "text", "message"),
    [
        ("missing.py:mine", None, "does not exist"),
        ("mine.py", "mine = 1", "names no theory"),
        ("mine.py:other", "mine = 1", "defines no 'other': choose"),
        ("mine.py:mine", "mine = 1", "must be a function"),
        ("mine.py:mine", "1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_file_without_the_function_is_refused(tmp_path: Path, named: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    with pytest.raises(TheoryError, match=message):
        theory_named(f"{tmp_path}/{named}")
