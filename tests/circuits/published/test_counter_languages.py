"""Next symbols of counter languages, against words enumerated by their definitions."""

import re
from collections.abc import Callable
from itertools import groupby, product

import numpy as np
import pytest

from lengthgen.circuits.src import minimal_arity, traces_up_to
from lengthgen.circuits.tasks.published.subjects import SUBJECTS


def equal_runs(letters: str) -> Callable[[str], bool]:
    def contains(word: str) -> bool:
        runs = [(letter, len(list(run))) for letter, run in groupby(word)]
        return "".join(letter for letter, _ in runs) == letters and len({length for _, length in runs}) == 1

    return contains


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


LANGUAGES: dict[str, tuple[str, Callable[[str], bool], int]] = {
    "anbn": ("ab", equal_runs("ab"), 8),
    "anbncn": ("abc", equal_runs("abc"), 9),
    "anbncndn": ("abcd", equal_runs("abcd"), 8),
    "dyck1": ("()", balanced, 8),
    "shuffle2": ("()[]", shuffled, 8),
    "bool3": ("01~+>", expression, 7),
}
"""Name -> symbols, definition, and the longest words that are enumerated."""
PREFIX = {"anbncndn": 1, "anbncn": 2, "bool3": 1}
"""Name -> largest length of prefixes that the enumerated words are long enough for, if it is not 3."""


@pytest.mark.parametrize("name", LANGUAGES)
def test_answers_are_those_of_enumerated_words(name: str) -> None:
    symbols, contains, longest = LANGUAGES[name]
    task = SUBJECTS[name].task()
    strings = ("".join(letters) for length in range(1, longest + 1) for letters in product(symbols, repeat=length))
    words = [word for word in strings if contains(word)]
    for length in range(1, PREFIX.get(name, 3) + 1):
        sets: dict[str, set[str]] = {}
        for word in words:
            if len(word) >= length:
                sets.setdefault(word[:length], set()).add(word[length : length + 1] or "$")
        rows = [task.text(row).split() for row in task.sequences(length, task.all_prompts(length))]
        assert {"".join(row[:-1]): set(row[-1][1:-1]) for row in rows} == sets


@pytest.mark.parametrize(
    ("name", "prefix", "answer"),
    [
        ("anbn", "aa", "{ab}"),
        ("anbn", "aab", "{b}"),
        ("anbn", "aabb", "{$}"),
        ("anbncn", "aabb", "{c}"),
        ("anbncndn", "abcd", "{$}"),
        ("dyck1", "(()", "{()}"),
        ("dyck1", "(())", "{($}"),
        ("shuffle2", "([)", "{([]}"),
        ("shuffle2", "([)]", "{([$}"),
        ("bool3", "+0", "{+01>~}"),
        ("bool3", ">01~0", "{$}"),
        ("bool5", "^0000", "{*+01>^~}"),
        ("bool5", "*0000", "{$}"),
    ],
)
def test_a_prefix_has_its_answer(name: str, prefix: str, answer: str) -> None:
    assert SUBJECTS[name].task().generate(tuple(prefix)) == [answer]


@pytest.mark.parametrize("name", [*LANGUAGES, "bool5"])
def test_no_valid_prompt_goes_on_where_the_language_does_not(name: str) -> None:
    task = SUBJECTS[name].task()
    for prompt in task.sample_prompts(9, 60, np.random.default_rng(2)):
        word = tuple(task.text(prompt).split())
        following = set(task.generate(word)[0][1:-1]) - {"$"}
        assert {symbol for symbol in task.alphabet if len(symbol) == 1 and task.valid((*word, symbol))} == following


def test_at_once_counting_needs_few_places_where_runs_are_sorted_and_many_where_they_are_not() -> None:
    arities = {name: minimal_arity(traces_up_to(SUBJECTS[name].task(), 8)) for name in ("anbn", "dyck1", "bool3")}
    assert arities["anbn"] <= 3
    assert arities["dyck1"] > 3
    assert arities["bool3"] is None or arities["bool3"] > 3
