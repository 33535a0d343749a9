"""Depth: the family L_k is recognized by its automaton, and long alternations need more layers."""

import pytest

from lengthgen.circuits.languages.regular import minimal_automaton
from lengthgen.empirical.studies.theories.rasp import LAYERS, blocks, guess_by_depth
from lengthgen.empirical.studies.theories.rival import SURE
from tests.empirical.studies.theories.questions import about


def alternation(count: int, letters: str = "ab") -> str:
    return "".join(letters[block % 2] * 2 + "*" for block in range(count))


@pytest.mark.parametrize("count", range(1, 9))
def test_alternations_are_counted_over_any_letters(count: int) -> None:
    for letters in ("ab", "ba", "01"):
        assert blocks(minimal_automaton(alternation(count, letters))) == count


@pytest.mark.parametrize("expression", ["a*", "(ab)*", "a*b*a*b*", "aa*bb*cc*", "aa*bb*(aa*+())", "aa*+bb*", "abab"])
def test_other_languages_are_not_in_the_family(expression: str) -> None:
    assert blocks(minimal_automaton(expression)) is None


def test_k_minus_two_layers_are_needed() -> None:
    assert guess_by_depth(about("nope", language=alternation(LAYERS + 2))).probability == SURE
    assert guess_by_depth(about("nope", language=alternation(LAYERS + 3))).probability == pytest.approx(1 - SURE)


@pytest.mark.parametrize(("encoding", "language"), [("rope", alternation(3)), ("nope", "(ab)*"), ("nope", None)])
def test_other_questions_are_not_answered(encoding: str, language: str | None) -> None:
    assert guess_by_depth(about(encoding, language=language)).probability is None
