"""Published tasks: prompts and answers as the papers give them, draws, fast answers, and circuits."""

import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from lengthgen.circuits.reference import check_reference
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import UNDEFINED, Task, TaskError
from lengthgen.circuits.tasks import TASKS
from lengthgen.circuits.tasks.published.subjects import SUBJECTS

NAMES = (
    "(aa)* 012 aabbccddee adbc addition anbn anbncn anbncndn binary_majority binary_majority_interleave bool3 "
    "bool5 copy_repeat copy_unique d-12 d-2 d-3 d-4 dyck1 majority parity shuffle2 sort tomita1 tomita2 tomita3 "
    "tomita4 tomita5 tomita6 tomita7 (aaaa)* (abab)* count unique_reverse unique_bigram_copy copy-cmc2x copy-cmc "
    "copy-rdc copy-rsc2x copy-rsc reverse-mc2x reverse-mc reverse-mcrv scan-len scan-mdlen pcfg-md pcfg "
    "addition-steps summation parity-steps sorting-single sorting-multi polynomial lego"
)

MADE: dict[str, Task] = {
    f"{name}{ending}": make()
    for name, subject in SUBJECTS.items()
    for ending, make in (("", subject.task), ("-with-states", subject.with_states))
    if make
}
"""All published tasks, and their readings with states."""

EXAMPLES = [
    ("binary_majority", "1 0 1 =", "1 $"),
    ("binary_majority_interleave", "1 0 0 1 0 1 0 0 1 =", "1 0 1 $"),
    ("majority", "2 0 2 1 =", "2 $"),
    ("sort", "11 3 7 =", "3 7 11 $"),
    ("copy_unique", "145 45 101 76 =", "145 45 101 76 $"),
    ("copy_repeat", "0 0 1 =", "0 0 1 $"),
    ("parity", "1 0 1 1 =", "1 $"),
    ("parity-with-states", "1 0 1 1 =", "1 1 0 1 $"),
    ("addition", "1 1 0 + 1 1 =", "1 0 0 1 $"),
    ("addition", "0 + 0 =", "0 $"),
    ("addition", "1 + 1 =", "1 0 $"),
    ("count", ". . . 129 132 =", "129 130 131 132 $"),
    ("count", "149 149 =", "149 $"),
    ("unique_reverse", "75 73 105 135 =", "135 105 73 75 $"),
    ("unique_bigram_copy", "6 0 9 12 7 =", "6 0 9 12 7 $"),
    ("copy-cmc", "5 5 17 =", "5 5 17 $"),
    ("copy-cmc2x", "5 17 =", "5 17 , 5 17 $"),
    ("copy-rdc", "6 99 , 6 6 6 =", "99 99 99 $"),
    ("copy-rsc", "6 6 6 =", "6 6 6 $"),
    ("copy-rsc2x", "6 6 =", "6 6 6 6 $"),
    ("reverse-mc", "5 6 17 =", "17 6 5 $"),
    ("reverse-mc2x", "5 6 =", "6 5 , 6 5 $"),
    ("reverse-mcrv", "5 6 =", "6 5 , 5 6 $"),
    ("scan-len", "walk twice jump once =", "WALK WALK JUMP $"),
    ("addition-steps", "1 1 + 1 0 =", "1 0 1 $"),
    ("addition-steps", "1 0 + 0 1 =", "1 1 $"),
    ("addition-steps-with-states", "1 1 + 0 1 =", "1 0 0 1 $"),
    ("summation", "2 + 2 + 1 =", "2 $"),
    ("summation-with-states", "2 + 2 + 1 =", "2 1 2 $"),
    ("parity-steps", "0 0 0 0 0 1 1 1 =", "1 $"),
    ("sorting-single", "2 1 0 1 =", "0 1 1 2 $"),
    ("sorting-multi", "1 0 , 0 1 , 0 0 =", "0 0 , 0 1 , 1 0 $"),
    ("polynomial", "2 1 2 2 0 2 1 =", "1 $"),  # 1*2**2 + 2*2**0 + 2*2**1 = 10
    ("polynomial-with-states", "2 1 2 2 0 2 1 =", "1 0 1 $"),
    ("polynomial", "0 2 0 =", "2 $"),
    ("lego", "q - 1 t - q c + t ? c =", "+ $"),
    ("lego", "q - 1 t + q ? t =", "- $"),
    ("lego-with-states", "q - 1 t - q c + t f - c ? c =", "- + + $"),
]


def words(task: Task, tokens: np.ndarray) -> list[list[str]]:
    return [[task.alphabet[token] for token in row if token != UNDEFINED] for row in tokens]


def test_every_published_name_has_a_subject_and_no_subject_is_listed_among_all_tasks() -> None:
    assert set(SUBJECTS) == set(NAMES.split())
    assert not {task.name for task in MADE.values()} & set(TASKS)


def test_a_subject_has_a_task_or_says_why_not() -> None:
    for name, subject in SUBJECTS.items():
        assert bool(subject.task) != bool(subject.why_not), name
        assert subject.words, name
        assert subject.arxiv in ("2410.02140", "2602.08857", "2305.19466"), name
        assert (subject.language is None) or subject.with_states, name


def test_a_task_bears_its_name() -> None:
    assert {name: task.name for name, task in MADE.items()} == {name: f"published-{name}" for name in MADE}


@pytest.mark.parametrize(("name", "prompt", "output"), EXAMPLES)
def test_a_prompt_has_its_answer(name: str, prompt: str, output: str) -> None:
    task = MADE[name]
    assert task.generate(tuple(prompt.split())) == output.split()
    assert task.valid is None or task.valid(tuple(prompt.split()))


@pytest.mark.parametrize("name", MADE)
def test_draws_are_prompts_and_fast_answers_are_plain_ones(name: str) -> None:
    task = MADE[name]
    for scale in (1, 2, 5, 12):
        prompts = task.sample_prompts(scale, 50, np.random.default_rng(scale))
        assert task.are_prompts(scale, prompts).all(), scale
        plain = [task.generate(tuple(prompt)) for prompt in words(task, prompts)]
        assert words(task, task.outputs(prompts)) == plain, scale


@pytest.mark.parametrize("name", [name for name, task in MADE.items() if task.reference])
def test_the_reference_circuit_is_right(name: str) -> None:
    check_reference(MADE[name], traces_up_to(MADE[name], 4))


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("binary_majority", "1 0 ="),
        ("binary_majority_interleave", "1 0 0 0 0 0 ="),
        ("majority", "2 0 2 0 1 ="),
        ("sort", "3 3 ="),
        ("copy_unique", "3 4 3 ="),
        ("unique_bigram_copy", "3 4 3 4 ="),
        ("addition", "0 1 + 1 ="),
        ("addition", "1 1 1 ="),
        ("addition", "1 + 1 + 1 ="),
        ("count", ". 7 9 ="),
        ("copy-rsc", "6 7 ="),
        ("copy-rdc", "6 6 , 6 6 ="),
        ("copy-rdc", "6 7 , 7 7 ="),
        ("lego", "q - 1 t - q c + q ? c ="),
        ("lego", "q - 1 t - q c + t ? q ="),
        ("lego", "q - 1 q - q ? q ="),
    ],
)
def test_a_word_that_the_paper_excludes_is_no_prompt(name: str, prompt: str) -> None:
    assert not MADE[name].valid(tuple(prompt.split()))


@pytest.mark.parametrize(
    ("name", "scale", "message"),
    [
        ("sort", 13, "task 'published-sort': no word has 13 symbols; take scales of at most 12"),
        ("copy_unique", 151, "take scales of at most 150"),
        ("unique_bigram_copy", 258, "take scales of at most 257"),
        ("count", 151, "there are 150 numbers"),
        ("lego", 27, "there are 26 variables"),
    ],
)
def test_a_scale_without_words_is_refused_in_one_line(name: str, scale: int, message: str) -> None:
    with pytest.raises(TaskError, match=message) as caught:
        MADE[name].layout(scale)
    assert "\n" not in str(caught.value)


def test_the_number_of_ones_is_drawn_uniformly_as_in_the_paper() -> None:
    source = random.Random(3)
    for name, counts in (("parity", {0, 1, 2, 3, 4}), ("binary_majority", {0, 1, 3, 4})):
        drawn = Counter(MADE[name].draw(4, source).count("1") for _ in range(4_000))
        assert set(drawn) == counts
        assert all(abs(count - 4_000 / len(counts)) < 160 for count in drawn.values())


def test_published_additions_have_operands_of_all_lengths() -> None:
    source = random.Random(3)
    prompts = ["".join(MADE["addition"].draw(9, source)) for _ in range(500)]
    assert {prompt.index("+") for prompt in prompts} == {1, 2, 3, 4, 5, 6}
    assert {len(prompt) for prompt in prompts} == {9}


def test_interleaved_words_have_the_multiple_of_three_nearest_to_the_scale() -> None:
    lengths = [len(MADE["binary_majority_interleave"].layout(scale)) - 1 for scale in range(1, 12)]
    assert lengths == [3, 3, 3, 3, 6, 6, 6, 9, 9, 9, 12]


def test_words_of_unique_bigrams_are_all_drawn() -> None:
    source = random.Random(1)
    drawn = {tuple(MADE["unique_bigram_copy"].draw(2, source)[:2]) for _ in range(8_000)}
    assert drawn == {(str(first), str(second)) for first in range(16) for second in range(16)}
    word = MADE["unique_bigram_copy"].draw(200, source)
    assert len(set(pairwise(word))) == 200


@pytest.mark.parametrize("name", ["copy_unique", "copy-cmc", "copy-cmc2x", "copy-rdc", "copy-rsc2x", "reverse-mcrv"])
def test_copies_need_one_operator_of_one_argument(name: str) -> None:
    traces = traces_up_to(MADE[name], 4)
    assert minimal_arity(traces) == 1
    assert set(src(MADE[name], traces, 1).values.values()) == {1}
