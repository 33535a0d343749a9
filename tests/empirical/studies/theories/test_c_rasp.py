"""C-RASP: decisions of regular languages, cited classifications, and the authors' own predictions."""

import csv
from importlib.resources import files

import pytest

from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.studies.theories.rasp import classification, guess_by_c_rasp
from lengthgen.empirical.studies.theories.rival import SURE, Question
from tests.empirical.studies.theories.questions import about

ROWS = tuple(
    csv.DictReader(
        (files("lengthgen.empirical.studies.court.published") / "huang2025.csv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
)


def test_predicts_what_its_authors_predict() -> None:
    for row in ROWS:
        if row["pe"] in ("ape", "nope"):
            answer = guess_by_c_rasp(Question(subject=SUBJECTS[row["task"]], encoding=row["pe"], train=50, test=150))
            assert answer.probability == pytest.approx(SURE if row["predicted"] == "True" else 1 - SURE), row


def test_the_cited_answers_are_those_of_the_published_table() -> None:
    table = {(row["pe"], row["task"]): row["predicted"] == "True" for row in ROWS}
    cited = classification("c-rasp").answers
    assert set(cited) == {"ape", "nope"}
    for kind, answers in cited.items():
        assert answers == {task: table[kind, task] for task in answers}


def test_every_published_task_is_a_regular_language_or_cited() -> None:
    tasks = {row["task"] for row in ROWS}
    for answers in classification("c-rasp").answers.values():
        assert tasks == set(answers) | {task for task in tasks if SUBJECTS[task].language is not None}


def test_periods_count_for_learned_absolute_codes_only() -> None:
    assert guess_by_c_rasp(about("nope", language="(aa)*")).probability == pytest.approx(1 - SURE)
    assert guess_by_c_rasp(about("ape", language="(aa)*")).probability == SURE
    assert guess_by_c_rasp(about("offset-ape", language="(aa)*")).probability == SURE


@pytest.mark.parametrize("encoding", ["rope", "t5", "alibi", "sinusoidal", "ipe"])
def test_other_encodings_are_outside_its_domain(encoding: str) -> None:
    answer = guess_by_c_rasp(about(encoding, language="(aa)*"))
    assert answer.probability is None
    assert encoding in answer.reason


def test_a_task_of_the_same_name_from_another_paper_is_not_answered() -> None:
    assert guess_by_c_rasp(about("nope", name="sort", arxiv="2410.02140")).probability == SURE
    assert guess_by_c_rasp(about("nope", name="sort", arxiv="2305.19466")).probability is None


def test_an_undecided_language_is_not_answered() -> None:
    answer = guess_by_c_rasp(about("nope", language=f"({'a' * 50})*"))
    assert answer.probability is None
    assert "undecided" in answer.reason
