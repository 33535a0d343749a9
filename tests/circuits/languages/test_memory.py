"""Memory of automata: what the last letters of a word decide, against all words."""

import itertools

import pytest

from lengthgen.circuits.languages.random_languages import random_language
from lengthgen.circuits.languages.regular import Automaton, definiteness, own_letter_decides

EXAMPLES = [random_language(f"random-language-{states}-2-3-{index}") for states in (2, 3, 4) for index in range(12)]
LONGEST = 8


def automaton(step: dict[tuple[int, str], int]) -> Automaton:
    return Automaton(symbols=("a", "b"), step=step, accepting=frozenset({0}))


def state_after(automaton: Automaton, word: tuple[str, ...], state: int) -> int | None:
    """State after a word; None if it cannot be read."""
    for letter in word:
        if (state, letter) not in automaton.step:
            return None
        state = automaton.step[state, letter]
    return state


def merges(automaton: Automaton, length: int) -> bool:
    """True if each word of a length leads from whatever state to one state at most."""
    return all(
        len({state_after(automaton, word, state) for state in range(automaton.states)} - {None}) <= 1
        for word in itertools.product(automaton.symbols, repeat=length)
    )


def test_the_last_letters_decide_the_state_and_fewer_do_not() -> None:
    for example in EXAMPLES:
        length = definiteness(example)
        if length is None:
            assert not merges(example, LONGEST), example
        else:
            assert merges(example, length) and not (length and merges(example, length - 1)), example


def test_known_automata() -> None:
    last_letter = {(0, "a"): 0, (0, "b"): 1, (1, "a"): 0, (1, "b"): 1}
    parity = {(0, "a"): 1, (0, "b"): 0, (1, "a"): 0, (1, "b"): 1}
    last_but_one = {(0, "a"): 0, (0, "b"): 1, (1, "a"): 2, (1, "b"): 3}
    last_but_one |= {(2, "a"): 0, (2, "b"): 1, (3, "a"): 2, (3, "b"): 3}
    assert [definiteness(automaton(step)) for step in (last_letter, parity, last_but_one)] == [1, None, 2]
    assert [own_letter_decides(automaton(step), 1, 9) for step in (last_letter, parity, last_but_one)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("first", [1, 3])
def test_the_own_letter_decides_as_all_words_say(first: int) -> None:
    for example in EXAMPLES:
        after: dict[str, set[int]] = {}
        for length in range(first, LONGEST + 1):
            for word in itertools.product(example.symbols, repeat=length):
                state = state_after(example, word, 0)
                if state is not None:
                    after.setdefault(word[-1], set()).add(state)
        decides = all(len(states) == 1 for states in after.values())
        assert own_letter_decides(example, first, LONGEST) == decides, example


def test_a_start_that_differs_counts_only_if_it_is_asked_for() -> None:
    later = automaton({(0, "a"): 1, (0, "b"): 2, (1, "a"): 2, (1, "b"): 1, (2, "a"): 2, (2, "b"): 1})
    assert not own_letter_decides(later, 1, 9) and own_letter_decides(later, 2, 9)
