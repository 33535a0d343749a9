"""SRC theories: they say what circuits/prediction.py says, at the scales of the question or of a small copy."""

import pytest

from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.studies.theories.rival import Guess, Question
from lengthgen.empirical.studies.theories.src_rules import LARGEST, SRC_THEORIES, scales_of
from tests.empirical.studies.theories.questions import about

BY_NAME = {theory.name: theory for theory in SRC_THEORIES}
OF_PREDICTION = ("src", "src-coverage", "src-selection", "src-distractors")


def question(task: str, encoding: str, train: int = 3, test: int = 9) -> Question:
    """Question about a task of the project."""
    return about(encoding, task=task, train=train, test=test)


def answer(name: str, asked_question: Question) -> Guess:
    """Answer of a theory by its name."""
    return BY_NAME[name].guess(asked_question)


@pytest.mark.parametrize(("train", "test"), [(50, 150), (20, 40), (8, 21), (1, 1_000), (999, 1_000)])
def test_small_copies_keep_the_order_and_about_the_ratio_of_scales(train: int, test: int) -> None:
    scales = scales_of(question("copy", "rpe", train, test))
    assert scales.test == LARGEST
    assert not scales.exact
    assert 2 <= scales.train < scales.test
    if 5 * train > test:
        assert scales.train / scales.test == pytest.approx(train / test, abs=0.1)


def test_a_small_copy_names_no_breaking_length() -> None:
    assert answer("src-coverage", question("copy", "rpe")).breaks_at == 4
    copy = answer("src-coverage", question("copy", "rpe", 50, 150))
    assert copy.probability == pytest.approx(0.1)
    assert copy.breaks_at is None
    assert f"(computed at scales 3 and {LARGEST})" in copy.reason


def test_abstains_where_there_is_nothing_to_compute() -> None:
    nothing = Subject(name="sky", words="", arxiv="", why_not="its words are those of a language model")
    asked_question = Question(subject=nothing, encoding="rpe", train=3, test=9)
    for name in OF_PREDICTION:
        assert answer(name, asked_question) == Guess(probability=None, reason="its words are those of a language model")
    assert "draws positions anew" in answer("src-coverage", question("copy", "random-rope")).reason
    assert "no reading that writes its states" in answer("src-steps", question("copy", "rpe")).reason


def test_states_are_a_reading_of_their_own() -> None:
    at_once = about("rpe", task="parity-direct", with_states="parity-online", train=3, test=9)
    assert answer("src-coverage", at_once).probability == pytest.approx(0.1)
    running = question("parity-online", "rpe")
    assert answer("src-steps", at_once).probability == answer("src-coverage", running).probability
