"""Regular expressions and minimal automata: the grammar, its errors, Python's `re`, and minimality."""

import itertools
import random
import re

import pytest

from lengthgen.circuits.languages.regular import LONGEST, Automaton, LanguageError, minimal_automaton
from lengthgen.circuits.tasks.published.next_symbols import prefixes_of

LETTERS = "abc"


def accepts(automaton: Automaton, word: str, state: int = 0) -> bool:
    """True if the word leads from the state to an accepting one."""
    for symbol in word:
        if (state, symbol) not in automaton.step:
            return False
        state = automaton.step[state, symbol]
    return state in automaton.accepting


def words_to(length: int, symbols: str) -> list[str]:
    """All words up to a length."""
    return ["".join(word) for size in range(length + 1) for word in itertools.product(symbols, repeat=size)]


def drawn(source: random.Random, depth: int) -> str:
    """Random expression, with every sign of the grammar."""
    kind = source.choice(["symbol", "empty", "star", "|", "+", "after", "after"]) if depth else "symbol"
    if kind == "symbol":
        return source.choice(LETTERS)
    if kind == "empty":
        return "()"
    first = drawn(source, depth - 1)
    if kind == "star":
        return f"({first})*"
    second = drawn(source, depth - 1)
    return f"{first}{second}" if kind == "after" else f"({first}{kind}{second})"


def test_accepts_the_words_that_the_re_of_python_accepts() -> None:
    source = random.Random(5)
    sizes = set()
    for _ in range(150):
        expression = drawn(source, 4)
        while len(expression) > LONGEST:
            expression = drawn(source, 4)
        pattern = re.compile(expression.replace("+", "|"))
        automaton = minimal_automaton(expression)
        sizes.add(automaton.states)
        for word in words_to(6, LETTERS):
            assert accepts(automaton, word) == bool(pattern.fullmatch(word)), (expression, word)
    assert len(sizes) >= 4


def test_no_two_states_continue_alike_and_every_state_is_needed() -> None:
    source = random.Random(7)
    for _ in range(60):
        automaton = minimal_automaton(drawn(source, 3))
        continuations = {
            state: frozenset(word for word in words_to(6, LETTERS) if accepts(automaton, word, state))
            for state in range(automaton.states)
        }
        assert len(set(continuations.values())) == automaton.states
        assert all(continuations.values())
        assert {0, *automaton.step.values()} == set(range(automaton.states))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a|b", "a+b"),
        ("a b", "ab"),
        ("a**", "a*"),
        ("(a*)*", "a*"),
        ("((a))", "a"),
        ("a|bc*", "a|(b(c*))"),
        ("()a", "a"),
        ("(a+b)*", "(a*b*)*"),
        ("b+a", "a+b"),
        ("()*", "()"),
    ],
)
def test_equal_languages_have_equal_automata(first: str, second: str) -> None:
    assert minimal_automaton(first) == minimal_automaton(second)


@pytest.mark.parametrize(
    ("expression", "states", "complete"),
    [("a*b*a*b*", 4, 5), ("(aa)*", 2, 2), ("(ab)*", 2, 3), ("(a+b)*", 1, 1), ("()", 1, 1), ("01", 3, 4)],
)
def test_a_dead_state_counts_in_the_complete_automaton_only(expression: str, states: int, complete: int) -> None:
    automaton = minimal_automaton(expression)
    assert (automaton.states, automaton.complete_states) == (states, complete)


def test_states_are_numbered_by_the_shortest_words_that_reach_them() -> None:
    automaton = minimal_automaton("ba+abb")
    assert automaton.symbols == ("a", "b")
    assert automaton.step == {(0, "a"): 1, (0, "b"): 2, (1, "b"): 3, (2, "a"): 4, (3, "b"): 4}
    assert automaton.accepting == {4}


def test_the_symbols_that_may_follow_include_the_end_of_a_word() -> None:
    automaton = minimal_automaton("(ab)*")
    assert [prefixes_of(automaton).next_symbols(state) for state in (0, 1)] == [{"a", "$"}, {"b"}]


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("a^b", "'^' is no symbol (character 2): write letters, digits, | or +, *, ( and )"),
        ("aä", "'ä' is no symbol (character 2)"),
        ("a٣", "is no symbol (character 2)"),
        ("*a", "'*' follows nothing (character 1): write () for the empty word"),
        ("a(*b)", "'*' follows nothing (character 3)"),
        ("|a", "'|' follows nothing (character 1)"),
        ("+a", "'+' follows nothing (character 1)"),
        ("(a+)b", "')' follows nothing (character 4)"),
        ("(a||b)", "'|' follows nothing (character 4)"),
        ("a)", "')' closes nothing (character 2): remove it or add '('"),
        ("((a)", "'(' is never closed (character 1): add ')'"),
        ("(", "'(' is never closed (character 1)"),
        ("a+", "nothing follows the last sign (character 2): write () for the empty word; a+ is written aa*"),
        ("", "write () for the language of the empty word"),
        ("  ", "write () for the language of the empty word"),
        ("a" * (LONGEST + 1), f"at most {LONGEST} characters, not {LONGEST + 1}"),
    ],
)
def test_an_error_names_the_place_and_how_to_mend_it(expression: str, says: str) -> None:
    with pytest.raises(LanguageError, match=re.escape(says)) as error:
        minimal_automaton(expression)
    assert "\n" not in str(error.value)
