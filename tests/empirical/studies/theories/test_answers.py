"""Answers of theories where no published result asks for them; `court/test_record.py` repeats the recorded answers."""

import numpy as np
import pytest

from lengthgen.circuits.languages.regular import minimal_automaton
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.studies.court.published.load import huang_predictions
from lengthgen.empirical.studies.theories.by_encoding import (
    LARGEST,
    guess_by_min_degree,
    guess_by_order,
    pattern_subject,
)
from lengthgen.empirical.studies.theories.k_sparse import TRAIN, Dependencies, dependencies, guess
from lengthgen.empirical.studies.theories.rasp import (
    LAYERS,
    blocks,
    classification,
    guess_by_c_rasp,
    guess_by_depth,
    guess_by_rasp_l,
)
from lengthgen.empirical.studies.theories.rasp_l_programs import (
    Examples,
    Head,
    _are_tables,
    examples,
    features,
    program,
)
from lengthgen.empirical.studies.theories.rival import SURE, Question
from lengthgen.infrastructure.errors import LengthgenError
from tests.empirical.studies.theories.questions import about

NO = pytest.approx(1 - SURE)
BITS = ("0", "1")


def pattern(formula: str, encoding: str, train: int = 3, test: int = 6) -> Question:
    return Question(subject=pattern_subject(formula), encoding=encoding, train=train, test=test)


def alternation(count: int, letters: str = "ab") -> str:
    return "".join(letters[block % 2] * 2 + "*" for block in range(count))


def window_of_three() -> Task:
    """After n bits write, for each of n places, the parity of the last three tokens."""

    def generate(bits: tuple[str, ...]) -> list[str]:
        text = [int(bit) for bit in bits]
        for _ in bits:
            text.append(sum(text[-3:]) % 2)
        return [str(bit) for bit in text[len(bits) :]]

    return Task(name="window", alphabet=BITS, prompt=lambda n: [BITS] * n, generate=generate)


def failing() -> Task:
    return Task(name="failing", alphabet=("0",), prompt=lambda n: [()], generate=lambda bits: bits)


ANSWERS = {
    "relative codes learn distances of training": (
        guess_by_min_degree, pattern("1 if j - i < 2 else 0", "rpe"), SURE, None, "",
    ),
    "absolute codes break at the first longer scale": (
        guess_by_min_degree, pattern("1 if j - i < 2 else 0", "ape"), NO, 4, "",
    ),
    "relative codes break at the first new distance": (
        guess_by_min_degree, pattern("1 if j - i == 4 else 0", "rpe"), NO, 5, "",
    ),
    "no positions learn the constant": (guess_by_min_degree, pattern("1", "nope"), SURE, None, ""),
    "no positions, another pattern": (guess_by_min_degree, pattern("1 if j - i < 2 else 0", "nope"), None, None, ""),
    "an encoding without patterns": (guess_by_min_degree, pattern("1", "ipe"), None, None, ""),
    "an unknown encoding": (guess_by_min_degree, pattern("1", "no-such-encoding"), None, None, ""),
    "a long pattern": (guess_by_min_degree, pattern("1", "rpe", test=LARGEST + 1), None, None, ""),
    "no pattern": (guess_by_min_degree, about("rpe", task="copy"), None, None, ""),
    "k layers and two": (guess_by_depth, about("nope", language=alternation(LAYERS + 2)), SURE, None, ""),
    "k layers and three": (guess_by_depth, about("nope", language=alternation(LAYERS + 3)), NO, None, ""),
    "alternation with rotations": (guess_by_depth, about("rope", language=alternation(3)), None, None, ""),
    "no alternation": (guess_by_depth, about("nope", language="(ab)*"), None, None, ""),
    "a window": (guess, about("rope", task=window_of_three), SURE, None, ""),
    "far, uncoupled": (guess, about("rope", task="copy"), NO, 51, ""),
    "far, coupled": (guess, about("ipe", task="copy"), SURE, None, ""),
    "unbounded, coupled": (guess, about("ipe", task="parity-direct"), NO, 51, ""),
    "sparse, without a task": (guess, about("rope"), None, None, "a test"),
    "sparse, of a task that fails": (guess, about("rope", task=failing), None, None, "cannot be computed"),
    "a program, without a task": (guess_by_rasp_l, about("nope"), None, None, "a test"),
    "cited of this paper": (guess_by_c_rasp, about("nope", name="sort", arxiv="2410.02140"), SURE, None, ""),
    "the name in another paper": (guess_by_c_rasp, about("nope", name="sort", arxiv="2305.19466"), None, None, ""),
    "an undecided language": (guess_by_c_rasp, about("nope", language=f"({'a' * 50})*"), None, None, "undecided"),
    "an encoding without a place": (guess_by_order, about("fox"), None, None, "fox"),
}  # fmt: skip


@pytest.mark.parametrize("case", ANSWERS)
def test_a_theory_answers_or_says_why_not(case: str) -> None:
    theory, question, probability, breaks_at, reason = ANSWERS[case]
    answer = theory(question)
    assert (answer.probability, answer.breaks_at) == (probability, breaks_at)
    assert answer.reason and reason in answer.reason


def test_a_pattern_must_be_a_formula() -> None:
    with pytest.raises(LengthgenError):
        pattern_subject("import os")


def test_aliases_and_options_have_the_place_of_the_encoding() -> None:
    assert len({guess_by_order(about(name)).probability for name in ("rope", "rotary", "rope[base=500]")}) == 1
    assert guess_by_order(about("t5", task="copy")) == guess_by_order(about("t5", language="(aa)*"))


@pytest.mark.parametrize("count", range(1, 9))
def test_alternations_are_counted_over_any_letters(count: int) -> None:
    for letters in ("ab", "ba", "01"):
        assert blocks(minimal_automaton(alternation(count, letters))) == count


@pytest.mark.parametrize("expression", ["a*", "(ab)*", "a*b*a*b*", "aa*bb*cc*", "aa*bb*(aa*+())", "aa*+bb*", "abab"])
def test_other_languages_are_no_alternations(expression: str) -> None:
    assert blocks(minimal_automaton(expression)) is None


def test_dependencies_are_sparse_and_near_where_they_are() -> None:
    assert dependencies(window_of_three) == Dependencies(sparsity=3, distance=3, more_at=None, farther_at=None)
    copied = dependencies(lambda: load("copy"))
    assert copied == Dependencies(sparsity=1, distance=TRAIN + 1, more_at=None, farther_at=TRAIN + 1)


def test_cited_answers_of_c_rasp_are_those_of_its_authors_and_every_other_task_is_a_regular_language() -> None:
    cited, published = classification("c-rasp").answers, huang_predictions()
    assert set(cited) == {"ape", "nope"}
    for kind, answers in cited.items():
        encoding = "offset-ape" if kind == "ape" else kind
        assert answers == {task: published[task, encoding] for task in answers}
        others = {task for task, _ in published} - set(answers)
        assert all(SUBJECTS[task].language is not None for task in others)


def has_program(sample: Examples) -> bool:
    return program(sample, features(sample)) is not None


@pytest.mark.parametrize("name", sorted(classification("rasp-l").answers["any"]))
def test_enumeration_finds_a_program_where_the_authors_do(name: str) -> None:
    build = SUBJECTS[name].task
    assert build is not None
    assert has_program(examples(build())) == classification("rasp-l").answers["any"][name]


def last_but_two() -> Task:
    """Task that writes the token three places before, until the text has doubled."""

    def generate(bits: tuple[str, ...]) -> list[str]:
        text = list(bits)
        for _ in bits:
            text.append(text[-3])
        return text[len(bits) :]

    return Task(name="last", alphabet=tuple("0123"), prompt=lambda n: ["0123"] * (n + 2), generate=generate)


def test_a_head_reads_what_its_words_say_and_none_reads_a_place_at_a_distance() -> None:
    sample = examples(last_but_two(), (4,))
    head = str(Head(key=1, query=0, relation="=", rank="place", largest=True, value=0))
    for step, value in enumerate(features(sample)[head]):
        text = sample.tokens[sample.text[step], : sample.query[step] + 1]
        after = [int(text[place]) for place in range(1, len(text)) if text[place - 1] == text[-1]]
        assert value == (after[-1] if after else -1)
    assert not has_program(examples(last_but_two(), (1, 2, 3, 4, 5, 6, 8)))


def test_a_program_must_be_right_beyond_the_scales_that_fill_its_table() -> None:
    def late(bits: tuple[str, ...]) -> list[str]:
        return ["1" if len(bits) > 6 else "0"]

    task = Task(name="late", alphabet=BITS, prompt=lambda n: [BITS] * n, generate=late)
    assert has_program(examples(task, (1, 2, 3, 4, 5)))
    assert not has_program(examples(task, (1, 2, 3, 4, 5, 6, 8)))
    sort = SUBJECTS["sort"].task
    assert sort is not None
    assert np.count_nonzero(~examples(sort()).trained), "a missing scale ends the examples only beyond a tested one"


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
