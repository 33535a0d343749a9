"""RASP-L: the authors' classification, programs that enumeration finds, and no answer else."""

import numpy as np
import pytest

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.studies.theories.rasp import classification, guess_by_rasp_l
from lengthgen.empirical.studies.theories.rasp_l_programs import (
    TESTS,
    Examples,
    Head,
    _are_tables,
    examples,
    features,
    program,
)
from lengthgen.empirical.studies.theories.rival import SURE, Question
from tests.empirical.studies.theories.questions import about


def has_program(sample: Examples) -> bool:
    return program(sample, features(sample)) is not None


def test_every_classified_task_is_a_published_one() -> None:
    assert set(classification("rasp-l").answers["any"]) <= set(SUBJECTS)


@pytest.mark.parametrize("encoding", ["nope", "ape", "rope"])
def test_the_encoding_does_not_matter(encoding: str) -> None:
    for name, answer in {"copy_unique": SURE, "parity": 1 - SURE}.items():
        question = Question(subject=SUBJECTS[name], encoding=encoding, train=50, test=100)
        assert guess_by_rasp_l(question).probability == pytest.approx(answer)


@pytest.mark.parametrize("name", sorted(classification("rasp-l").answers["any"]))
def test_enumeration_finds_a_program_where_the_authors_do(name: str) -> None:
    build = SUBJECTS[name].task
    assert build is not None
    assert (has_program(examples(build()))) == classification("rasp-l").answers["any"][name]


@pytest.mark.parametrize(
    ("name", "head"), [("tomita4", "token before"), ("majority", "most frequent"), ("dyck1", "more often")]
)
def test_a_program_that_was_found_is_described(name: str, head: str) -> None:
    answer = guess_by_rasp_l(Question(subject=SUBJECTS[name], encoding="nope", train=50, test=100))
    assert answer.probability == SURE
    assert head in answer.reason
    assert f"up to {TESTS[-1]}" in answer.reason


@pytest.mark.parametrize("name", ["tomita5", "(aa)*", "reverse-mc"])
def test_a_task_without_a_program_is_not_answered(name: str) -> None:
    answer = guess_by_rasp_l(Question(subject=SUBJECTS[name], encoding="nope", train=50, test=100))
    assert answer.probability is None
    assert "no program" in answer.reason


def test_a_head_reads_what_its_words_say() -> None:
    sample = examples(last_but_two(), (4,))
    head = str(Head(key=1, query=0, relation="=", rank="place", largest=True, value=0))
    values = features(sample)[head]
    for step, value in enumerate(values):
        text = sample.tokens[sample.text[step], : sample.query[step] + 1]
        after = [int(text[place]) for place in range(1, len(text)) if text[place - 1] == text[-1]]
        assert value == (after[-1] if after else -1)


def last_but_two() -> Task:
    """Task that writes the token three places before, until the text has doubled."""

    def generate(bits: tuple[str, ...]) -> list[str]:
        text = list(bits)
        for _ in bits:
            text.append(text[-3])
        return text[len(bits) :]

    return Task(name="last", alphabet=tuple("0123"), prompt=lambda n: ["0123"] * (n + 2), generate=generate)


def test_a_place_at_a_distance_has_no_program() -> None:
    assert not has_program(examples(last_but_two(), (1, 2, 3, 4, 5, 6, 8)))


def test_a_program_must_be_right_beyond_the_scales_that_fill_its_table() -> None:
    def late(bits: tuple[str, ...]) -> list[str]:
        return ["1" if len(bits) > 6 else "0"]

    task = Task(name="late", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * n, generate=late)
    assert has_program(examples(task, (1, 2, 3, 4, 5)))
    assert not has_program(examples(task, (1, 2, 3, 4, 5, 6, 8)))


def test_a_missing_scale_ends_the_examples_only_beyond_the_first_tested_one() -> None:
    sort = SUBJECTS["sort"].task
    assert sort is not None
    assert np.count_nonzero(~examples(sort()).trained)


def test_a_subject_without_a_task_is_not_answered() -> None:
    answer = guess_by_rasp_l(about("nope"))
    assert answer.probability is None
    assert "a test" in answer.reason


def test_a_table_is_right_where_each_key_has_one_symbol_or_one_token_read() -> None:
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(300):
        keys, read = rng.integers(0, 4, (5, 8)), rng.integers(0, 3, (5, 2, 8))
        target = read[rng.integers(5), rng.integers(2)]
        for answer, its_keys, its_read in zip(_are_tables(keys, read, target), keys, read, strict=True):
            entries = [its_keys == key for key in set(its_keys.tolist())]
            plain = all(
                len(set(target[entry])) == 1 or any((part[entry] == target[entry]).all() for part in its_read)
                for entry in entries
            )
            assert answer == plain
            answers.append(plain)
    assert 0.05 < np.mean(answers) < 0.95
