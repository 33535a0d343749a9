"""A task specification: its text gives it back, and errors, words and titles name the task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.circuits.formats import FORMATS
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks import TASKS, TaskSpec, load, parse_task

NAMES = (*TASKS, "mine.py:task", "a folder/of[1]/mine.py:task_2")


@st.composite
def specs(draw):
    name = draw(st.sampled_from(NAMES))
    base = draw(st.none() | st.integers(2, 9)) if name in ("copy", "addition", "counter") else None
    return TaskSpec(name=name, base=base, format=draw(st.sampled_from(FORMATS)))


@given(specs())
def test_its_text_gives_the_task_back(spec):
    assert parse_task(str(spec)) == spec
    assert parse_task(f" {spec} ") == spec


@given(specs(), specs())
def test_tasks_are_equal_iff_their_texts_are(first, second):
    assert (first == second) == (str(first) == str(second)) == (first.as_json() == second.as_json())
    assert first != second or hash(first) == hash(second)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("copy", TaskSpec(name="copy")),
        ("copy[format=unaligned]", TaskSpec(name="copy")),
        ("copy[base=3]", TaskSpec(name="copy", base=3)),
        ("copy[ format=aligned , base=3 ]", TaskSpec(name="copy", base=3, format="aligned")),
        ("my.py:own[format=aligned]", TaskSpec(name="my.py:own", format="aligned")),
    ],
)
def test_a_text_names_a_task(text, spec):
    assert parse_task(text) == spec
    assert len(str(spec)) <= len(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("copyy", "unknown task 'copyy': did you mean copy?"),
        ("xyz", "unknown task 'xyz': there are 107, such as "),
        ("", "your own: path/to/file.py:name"),
        ("mine.py", "your own: path/to/file.py:name"),
        ("copy\nparity", "printable text"),
        ("copy" * 500, "at most 1,000 characters"),
        ("parity[base=3]", "task 'parity' has no base to choose; these have: copy, reverse"),
        ("mine.py:task[base=3]", "task 'mine.py:task' has no base to choose"),
        ("copy[base=1]", "task 'copy': the base must be 2 to 252, not 1"),
        ("copy[format=diagonal]", "unknown format 'diagonal': choose one of aligned, unaligned, filled"),
        ("copy[base=3,base=4]", "is no task: write NAME or NAME[base=DIGITS,format=FORMAT]"),
        ("copy[]", "is no task"),
        ("copy[base=x]", "is no task"),
        ("copy[size=3]", "is no task"),
        ("mine.py:task]", "unknown task"),
        ("publishd-d-2", "unknown task 'publishd-d-2': did you mean published-d-2"),
        ("published-d-5", "unknown task 'published-d-5': did you mean published-d-4"),
        ("published-pcfg", "'published-pcfg' is no task of the project: a prompt of one nesting depth has no fixed"),
        ("published-anbn-with-states", "leave out '-with-states'"),
        ("published-d-2[base=3]", "task 'published-d-2' has no base to choose; these have: copy"),
        ("random-local-5", "'random-local-5' is no random circuit: write random-WIRING-GROWTH-SEED"),
        ("random-local-grows-5[base=11]", "the base must be 2 to 10, not 11"),
    ],
)
def test_a_text_that_names_no_task_is_refused_in_one_line(text, message):
    with pytest.raises(TaskError) as caught:
        parse_task(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_and_identifiers_of_a_task():
    plain, based, own = (parse_task(text) for text in ("addition", "addition[base=4]", "some/where/mine.py:task"))
    assert (plain.words, plain.title, plain.identifier()) == ("addition",) * 3
    assert (based.words, based.title, based.identifier()) == (
        "addition base 4",
        "addition (base 4)",
        "addition-base4",
    )
    assert (own.key, own.words, own.title, own.identifier()) == ("some/where/mine.py:task", "task", "task", "task")
    assert (plain.key, based.key) == (plain.words, based.words)
    assert own.identifier(with_file=True) == "some-where-mine-task"
    assert based.identifier(with_file=True) == "addition-base4"


def test_a_task_is_loaded_with_its_base_and_laid_out_in_its_format():
    spec = parse_task("counter[base=3,format=aligned]")
    assert spec.plain().alphabet == load("counter", base=3).alphabet == ("0", "1", "2", "=", "$")
    assert spec.plain().name == spec.identifier() == "counter-base3"
    assert spec.laid_out(4).name == "counter-base3", "a format changes no name"
    assert parse_task("counter").laid_out(4).name == "counter"


def test_a_chosen_default_is_told_from_none_chosen():
    assert parse_task("copy[base=2]").plain().alphabet == parse_task("copy").plain().alphabet
    assert parse_task("copy[base=2]") != parse_task("copy")


@pytest.mark.parametrize(
    "text",
    [
        "random-local-rises3-1",
        "random-local-rises3-1[base=4]",
        "published-d-2",
        "published-(aa)*",
        "published-d-2-with-states",
        "published-copy-cmc2x",
        "published-addition",
    ],
)
def test_random_circuits_and_published_tasks_are_named_but_not_listed(text):
    spec = parse_task(text)
    assert str(spec) == text
    assert spec.plain().name == spec.identifier()
    assert spec.name not in TASKS
    assert spec.laid_out(3).name == spec.identifier()


def test_a_file_may_begin_like_a_family():
    assert parse_task("random-circuits/mine.py:task").is_own
    assert parse_task("published-mine.py:task").is_own
