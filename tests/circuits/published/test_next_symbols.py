"""Next symbols of formal languages: answers against enumerated words, draws, and circuits of the traces with states."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby, product

import numpy as np
import pytest

from lengthgen.circuits.languages.regular import minimal_automaton
from lengthgen.circuits.reference import check_reference
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks.published.formal_languages import LANGUAGES
from lengthgen.circuits.tasks.published.next_symbols import next_symbols_task, with_states_task
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from tests.circuits.languages.drawn import drawn

Language = tuple[str, Callable[[str], object], int, int]
"""Symbols, definition, the largest length of prefixes, and the longest words, which are long enough for these."""


def task_of(name: str) -> Task:
    return SUBJECTS[name].task()


def equal_runs(letters: str, word: str) -> bool:
    runs = [(letter, len(list(run))) for letter, run in groupby(word)]
    return "".join(letter for letter, _ in runs) == letters and len({length for _, length in runs}) == 1


def balanced(word: str) -> bool:
    while "()" in word:
        word = word.replace("()", "")
    return not word


def shuffled(word: str) -> bool:
    round_brackets, square_brackets = re.sub(r"[\[\]]", "", word), re.sub(r"[()]", "", word)
    return balanced(round_brackets) and balanced(square_brackets.translate(str.maketrans("[]", "()")))


def expression(word: str) -> bool:
    """True for one boolean expression: operands are replaced by 0 until nothing changes."""
    for _ in word:
        word = re.sub(r"~[01]|\+[01]{2}|>[01]{3}|\*[01]{4}|\^[01]{5}", "0", word)
    return word in ("0", "1")


def regular(pattern: str) -> Language:
    symbols = "".join(sorted(set(pattern) - set("()*+")))
    return symbols, re.compile(pattern.replace("+", "|")).fullmatch, 3, 8


DEFINED: dict[str, Language] = {
    "anbn": ("ab", partial(equal_runs, "ab"), 3, 8),
    "anbncn": ("abc", partial(equal_runs, "abc"), 2, 9),
    "anbncndn": ("abcd", partial(equal_runs, "abcd"), 1, 8),
    "dyck1": ("()", balanced, 3, 8),
    "shuffle2": ("()[]", shuffled, 3, 8),
    "bool3": ("01~+>", expression, 1, 7),
}
# The words of D_12 are too long for any enumeration of strings.
ENUMERATED = DEFINED | {name: regular(pattern) for name, (pattern, _) in LANGUAGES.items() if name != "d-12"}


def words(symbols: Iterable[str], contains: Callable[[str], object], longest: int) -> set[str]:
    strings = ("".join(string) for length in range(longest + 1) for string in product(symbols, repeat=length))
    return {string for string in strings if contains(string)}


@pytest.mark.parametrize("name", ENUMERATED)
def test_answers_are_those_of_enumerated_words(name: str) -> None:
    symbols, contains, largest, longest = ENUMERATED[name]
    every, task = words(symbols, contains, longest), task_of(name)
    for length in range(1, largest + 1):
        sets: dict[str, set[str]] = {}
        for word in every:
            if len(word) >= length:
                sets.setdefault(word[:length], set()).add(word[length : length + 1] or "$")
        rows = [task.text(row).split() for row in task.sequences(length, task.all_prompts(length))]
        assert {"".join(row[:-1]): set(row[-1][1:-1]) for row in rows} == sets


PREFIXES: dict[str, dict[str, str]] = {
    "tomita1": {"111": "{1$}"},
    "tomita2": {"101": "{0}"},
    "tomita3": {"10": "{0}"},
    "tomita4": {"100": "{1$}"},
    "tomita5": {"0110": "{01$}"},
    "tomita6": {"10": "{01$}"},
    "tomita7": {"0101": "{1$}"},
    "d-2": {"aab": "{ab}", "aa": "{b}"},
    "d-12": {"a" * 12: "{b}", "a" * 11: "{ab}", "a" * 12 + "b" * 12: "{a$}"},
    "aabbccddee": {"aabbc": "{cd}"},
    "adbc": {"abd": "{bc$}"},
    "012": {"10": "{012$}"},
    "(aa)*": {"aaa": "{a}"},
    "(aaaa)*": {"aaaa": "{a$}"},
    "(abab)*": {"abab": "{a$}", "ab": "{a}"},
    "anbn": {"aa": "{ab}", "aab": "{b}", "aabb": "{$}"},
    "anbncn": {"aabb": "{c}"},
    "anbncndn": {"abcd": "{$}"},
    "dyck1": {"(()": "{()}", "(())": "{($}"},
    "shuffle2": {"([)": "{([]}", "([)]": "{([$}"},
    "bool3": {"+0": "{+01>~}", ">01~0": "{$}"},
    "bool5": {"^0000": "{*+01>^~}", "*0000": "{$}"},
}


@pytest.mark.parametrize("name", PREFIXES)
def test_prefixes_have_their_answers(name: str) -> None:
    answers = {prefix: task_of(name).generate(tuple(prefix)) for prefix in PREFIXES[name]}
    assert answers == {prefix: [answer] for prefix, answer in PREFIXES[name].items()}


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("tomita4", lambda word: "000" not in word),
        ("tomita5", lambda word: word.count("0") % 2 == 0 == word.count("1") % 2),
        ("tomita6", lambda word: (word.count("0") - word.count("1")) % 3 == 0),
        ("tomita3", lambda word: not any(len(o) % 2 and len(z) % 2 for o, z in re.findall(r"(1+)(0+)", word))),
    ],
)
def test_expressions_have_the_words_that_counting_gives(name: str, counted: Callable[[str], bool]) -> None:
    assert words("01", ENUMERATED[name][1], 10) == words("01", counted, 10)


@pytest.mark.parametrize("name", [*DEFINED, "bool5"])
def test_no_valid_prompt_goes_on_where_the_language_does_not(name: str) -> None:
    task = task_of(name)
    for prompt in task.sample_prompts(9, 60, np.random.default_rng(2)):
        word = tuple(task.text(prompt).split())
        following = set(task.generate(word)[0][1:-1]) - {"$"}
        assert {symbol for symbol in task.alphabet if len(symbol) == 1 and task.valid((*word, symbol))} == following


def test_prefixes_of_a_length_are_drawn_equally_often() -> None:
    task = next_symbols_task(minimal_automaton("a*b(a+b)"), "own")
    source = random.Random(1)
    counts = Counter("".join(task.draw(3, source)) for _ in range(6_000))
    assert set(counts) == {"aaa", "aab", "aba", "abb"}
    assert all(1_350 < count < 1_650 for count in counts.values())


@pytest.mark.parametrize("name", LANGUAGES)
def test_with_states_one_operator_of_two_arguments_is_enough(name: str) -> None:
    task = SUBJECTS[name].with_states()
    traces = traces_up_to(task, 6)
    check_reference(task, traces)
    assert src(task, traces, 2).values == dict.fromkeys(range(1, 7), 1)


def test_with_states_the_reference_is_right_for_random_languages() -> None:
    right = 0
    for automaton in drawn(4, 2, count=12, seed=5):
        task = with_states_task(automaton, "random language")
        try:
            task.layout(5)
        except TaskError:  # a finite language
            continue
        check_reference(task, traces_up_to(task, 5))
        right += 1
    assert right > 6


def test_at_once_the_number_of_arguments_tells_memory_from_none() -> None:
    arities = {name: minimal_arity(traces_up_to(task_of(name), 6)) for name in ("tomita1", "tomita2", "tomita4")}
    assert arities == {"tomita1": 1, "tomita2": 1, "tomita4": 2}
    assert [minimal_arity(traces_up_to(task_of(name), 6)) for name in ("(aa)*", "tomita5")] == [1, 6]
    sorted_runs, *others = (minimal_arity(traces_up_to(task_of(name), 8)) for name in ("anbn", "dyck1", "bool3"))
    assert sorted_runs <= 3 and all(arity is None or arity > 3 for arity in others)


def test_a_finite_language_has_no_long_prompts() -> None:
    task = next_symbols_task(minimal_automaton("ab+c"), "own")
    assert task.generate(("a",)) == ["{b}"]
    with pytest.raises(TaskError, match="no word of the language has 3 symbols or more"):
        task.layout(3)
