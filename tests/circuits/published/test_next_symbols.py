"""Next symbols of formal languages: answers against enumerated words, draws, and circuits of the traces with states."""

import random
import re
from collections import Counter
from itertools import product

import numpy as np
import pytest

from lengthgen.circuits.languages.regular import minimal_automaton
from lengthgen.circuits.reference import check_reference
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.published.formal_languages import LANGUAGES
from lengthgen.circuits.tasks.published.next_symbols import next_symbols_task, with_states_task
from tests.circuits.languages.drawn import drawn

SMALL = [name for name in LANGUAGES if name != "d-12"]
"""Languages whose words are no more than 5 symbols longer than their prefixes of 3 symbols need to be."""


def words(expression: str, longest: int) -> set[str]:
    """Words of a language up to a length, by matching all strings."""
    symbols = sorted(set(expression) - set("()*+"))
    pattern = re.compile(expression.replace("+", "|"))
    strings = ("".join(string) for length in range(longest + 1) for string in product(symbols, repeat=length))
    return {string for string in strings if pattern.fullmatch(string)}


def expected(expression: str, length: int, reach: int) -> dict[str, str]:
    """Prefix of a length -> its set of next symbols, from the words that are at most `reach` symbols longer."""
    sets: dict[str, set[str]] = {}
    for word in words(expression, length + reach):
        if len(word) >= length:
            sets.setdefault(word[:length], set()).add(word[length : length + 1] or "$")
    return {prefix: "{" + "".join(sorted(each - {"$"})) + "$" * ("$" in each) + "}" for prefix, each in sets.items()}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_answers_are_those_of_enumerated_words(name: str, length: int) -> None:
    expression = LANGUAGES[name][0]
    task = next_symbols_task(minimal_automaton(expression), name)
    prompts = task.all_prompts(length)
    rows = [task.text(row).split() for row in task.sequences(length, prompts)]
    assert {"".join(row[:-1]): row[-1] for row in rows} == expected(expression, length, 5)


@pytest.mark.parametrize(
    ("name", "prefix", "answer"),
    [
        ("tomita1", "111", "{1$}"),
        ("tomita2", "101", "{0}"),
        ("tomita3", "10", "{0}"),
        ("tomita4", "100", "{1$}"),
        ("tomita5", "0110", "{01$}"),
        ("tomita6", "10", "{01$}"),
        ("tomita7", "0101", "{1$}"),
        ("d-2", "aab", "{ab}"),
        ("d-2", "aa", "{b}"),
        ("d-12", "a" * 12, "{b}"),
        ("d-12", "a" * 11, "{ab}"),
        ("d-12", "a" * 12 + "b" * 12, "{a$}"),
        ("aabbccddee", "aabbc", "{cd}"),
        ("adbc", "abd", "{bc$}"),
        ("012", "10", "{012$}"),
        ("(aa)*", "aaa", "{a}"),
        ("(aaaa)*", "aaaa", "{a$}"),
        ("(abab)*", "abab", "{a$}"),
        ("(abab)*", "ab", "{a}"),
    ],
)
def test_a_prefix_has_its_answer(name: str, prefix: str, answer: str) -> None:
    task = next_symbols_task(minimal_automaton(LANGUAGES[name][0]), name)
    assert task.generate(tuple(prefix)) == [answer]


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("tomita4", lambda word: "000" not in word),
        ("tomita5", lambda word: word.count("0") % 2 == 0 == word.count("1") % 2),
        ("tomita6", lambda word: (word.count("0") - word.count("1")) % 3 == 0),
        ("tomita3", lambda word: not any(len(ones) % 2 and len(zeros) % 2 for ones, zeros in runs(word))),
    ],
)
def test_expressions_have_the_words_that_counting_gives(name: str, counted) -> None:
    every = {"".join(word) for length in range(11) for word in product("01", repeat=length)}
    assert words(LANGUAGES[name][0], 10) == {word for word in every if counted(word)}


def runs(word: str) -> list[tuple[str, str]]:
    """Runs of ones with the run of zeros that follows each."""
    return re.findall(r"(1+)(0+)", word)


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("make", [next_symbols_task, with_states_task])
def test_draws_are_valid_and_fast_answers_plain_ones(name: str, make) -> None:
    task = make(minimal_automaton(LANGUAGES[name][0]), name)
    for scale in (1, 2, 7, 30):
        prompts = task.sample_prompts(scale, 40, np.random.default_rng(scale))
        assert task.are_prompts(scale, prompts).all()
        plain = [task.generate(tuple(task.text(prompt).split())) for prompt in prompts]
        assert [task.text(row).split() for row in task.outputs(prompts)] == plain


def test_prefixes_of_a_length_are_drawn_equally_often() -> None:
    task = next_symbols_task(minimal_automaton("a*b(a+b)"), "own")
    source = random.Random(1)
    counts = Counter("".join(task.draw(3, source)) for _ in range(6_000))
    assert set(counts) == {"aaa", "aab", "aba", "abb"}
    assert all(1_350 < count < 1_650 for count in counts.values())


@pytest.mark.parametrize("name", LANGUAGES)
def test_with_states_one_operator_of_two_arguments_is_enough(name: str) -> None:
    task = with_states_task(minimal_automaton(LANGUAGES[name][0]), name)
    traces = traces_up_to(task, 6)
    check_reference(task, traces)
    assert src(task, traces, 2).values == dict.fromkeys(range(1, 7), 1)


def test_with_states_the_reference_is_right_for_random_languages() -> None:
    for automaton in drawn(4, 2, count=12, seed=5):
        task = with_states_task(automaton, "random language")
        if endless(automaton):
            check_reference(task, traces_up_to(task, 5))


def endless(automaton) -> bool:
    """True if some word is longer than the automaton has states."""
    state_sets = [{0}]
    for _ in range(automaton.states + 1):
        state_sets.append({after for (state, _), after in automaton.step.items() if state in state_sets[-1]})
    return bool(state_sets[-1])


def test_at_once_the_number_of_arguments_tells_memory_from_none() -> None:
    arities = {
        name: minimal_arity(traces_up_to(next_symbols_task(minimal_automaton(LANGUAGES[name][0]), name), 6))
        for name in ("tomita1", "tomita2", "tomita4", "(aa)*", "tomita5")
    }
    assert arities == {"tomita1": 1, "tomita2": 1, "tomita4": 2, "(aa)*": 1, "tomita5": 6}


def test_a_finite_language_has_no_long_prompts() -> None:
    task = next_symbols_task(minimal_automaton("ab+c"), "own")
    assert task.generate(("a",)) == ["{b}"]
    with pytest.raises(TaskError, match="no word of the language has 3 symbols or more"):
        task.layout(3)
