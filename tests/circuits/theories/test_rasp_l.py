"""RASP-L: the authors' classification, whatever the encoding, and nothing else."""

import pytest

from circuits.tasks.published.catalogue import SUBJECTS
from circuits.theories.cited import classification
from circuits.theories.rasp_l import guess
from circuits.theories.theory import SURE, Question
from tests.circuits.theories.questions import about


def test_every_classified_task_is_a_published_one() -> None:
    assert set(classification("rasp-l").answers["any"]) <= set(SUBJECTS)


@pytest.mark.parametrize("encoding", ["nope", "ape", "rope"])
def test_the_encoding_does_not_matter(encoding: str) -> None:
    for name, answer in {"copy_unique": SURE, "parity": 1 - SURE}.items():
        question = Question(subject=SUBJECTS[name], encoding=encoding, train=50, test=100)
        assert guess(question).probability == pytest.approx(answer)


def test_other_tasks_are_not_answered() -> None:
    assert guess(about("nope", language="(aa)*")).probability is None
