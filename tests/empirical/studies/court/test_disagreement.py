"""Strata: every listed cell is disagreed on as its stratum says, shares are exact, and a seed decides everything."""

from itertools import islice

import pytest

from lengthgen.circuits.tasks import parse_task
from lengthgen.empirical.studies.court.disagreement import IN_TRAINING, questions, stratified
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory
from tests.empirical.studies.court.examples import theory

SILENT = theory("silent", lambda _: None)
YES = theory("yes", lambda _: 0.9)


def by_letter(name: str, letter: str) -> Theory:
    """Theory that says yes to encodings with a letter in their name."""
    return theory(name, lambda question: 0.9 if letter in question.encoding else 0.1)


def drawn(count: int, seed: int = 0) -> list[Question]:
    """First questions of a seed."""
    return [*islice(questions(seed), count)]


def test_every_cell_is_disagreed_on_as_its_stratum_says() -> None:
    answer = stratified(by_letter("t", "t"), by_letter("e", "e"), drawn(60), per_stratum=4)
    assert {(stratum["yes"], stratum["no"]) for stratum in answer["strata"]} == {("t", "e"), ("e", "t")}
    for stratum in answer["strata"]:
        assert len(stratum["cells"]) == min(4, stratum["share"]["successes"])
        for cell in stratum["cells"]:
            assert cell["guesses"][stratum["yes"]]["probability"] > 0.5 > cell["guesses"][stratum["no"]]["probability"]


def test_shares_add_up_and_lie_in_their_intervals() -> None:
    answer = stratified(by_letter("o", "o"), by_letter("e", "e"), drawn(40), per_stratum=1)
    shares = [*answer["apart"].values(), *(stratum["share"] for stratum in answer["strata"])]
    assert sum(share["successes"] for share in shares) == answer["questions"] == 40
    assert all(share["low"] <= share["successes"] / 40 <= share["high"] for share in shares)


@pytest.mark.parametrize(("second", "kind"), [(SILENT, "abstains"), (theory("also", lambda _: 0.8), "both yes")])
def test_agreement_and_silence_fill_no_stratum(second: Theory, kind: str) -> None:
    answer = stratified(YES, second, drawn(10), per_stratum=1)
    assert answer["strata"] == []
    assert answer["apart"][kind]["successes"] == 10


def test_strata_are_split_by_the_breaking_scale() -> None:
    def breaks(question: Question) -> Guess:
        return Guess(probability=0.1, reason="", breaks_at=5 if question.encoding == "nope" else 7)

    other = Theory(name="b", title="b", statement="", label="F", source="", domain="", guess=breaks)
    strata = stratified(YES, other, drawn(30), per_stratum=2)["strata"]
    assert [stratum["breaks_at"] for stratum in strata] == [5, 7]
    assert all(cell["encoding"] == "nope" for cell in strata[0]["cells"])


def test_a_no_within_training_is_no_stratum() -> None:
    def at_train(question: Question) -> Guess:
        return Guess(probability=0.1, reason="", breaks_at=question.train)

    other = Theory(name="b", title="b", statement="", label="F", source="", domain="", guess=at_train)
    answer = stratified(YES, other, drawn(10), per_stratum=2)
    assert answer["strata"] == []
    assert answer["apart"][IN_TRAINING]["successes"] == 10


def test_tasks_are_loaded_again_by_their_names() -> None:
    for question in drawn(12):
        assert question.subject.task is not None
        again, first = parse_task(question.subject.name).plain(), question.subject.task()
        prompts = first.all_prompts(3)
        assert prompts is not None
        assert (again.outputs(prompts) == first.outputs(prompts)).all()
