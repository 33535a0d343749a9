"""Min-degree interpolator: it is the target where the encoding has the target's labels, and breaks where it has not."""

import pytest

from lengthgen.empirical.studies.theories.by_encoding import LARGEST, guess_by_min_degree, pattern_subject
from lengthgen.empirical.studies.theories.rival import SURE, Guess, Question
from lengthgen.infrastructure.errors import LengthgenError
from tests.empirical.studies.theories.questions import about


def asked_about(formula: str, encoding: str, *, train: int = 3, test: int = 6) -> Guess:
    return guess_by_min_degree(Question(subject=pattern_subject(formula), encoding=encoding, train=train, test=test))


def test_relative_codes_learn_relative_patterns_of_distances_seen_in_training() -> None:
    assert asked_about("1 if j - i < 2 else 0", "rpe").probability == SURE


def test_absolute_codes_break_at_the_first_length_beyond_training() -> None:
    answer = asked_about("1 if j - i < 2 else 0", "ape", train=3)
    assert (answer.probability, answer.breaks_at) == (pytest.approx(1 - SURE), 4)


def test_relative_codes_break_at_the_first_distance_that_training_never_shows() -> None:
    answer = asked_about("1 if j - i == 4 else 0", "rpe", train=3)
    assert (answer.probability, answer.breaks_at) == (pytest.approx(1 - SURE), 5)


def test_no_positions_learn_the_constant_pattern_alone() -> None:
    assert asked_about("1", "nope").probability == SURE
    assert asked_about("1 if j - i < 2 else 0", "nope").probability is None


@pytest.mark.parametrize("encoding", ["ipe", "no-such-encoding"])
def test_encodings_without_patterns_are_not_answered(encoding: str) -> None:
    assert asked_about("1", encoding).probability is None


def test_long_and_other_questions_are_not_answered() -> None:
    assert asked_about("1", "rpe", test=LARGEST + 1).probability is None
    assert guess_by_min_degree(about("rpe", task="copy")).probability is None


def test_a_pattern_must_be_a_formula() -> None:
    with pytest.raises(LengthgenError):
        pattern_subject("import os")
