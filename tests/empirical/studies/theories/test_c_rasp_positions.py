"""Membership in C-RASP[periodic, local]: known members and non-members, and laws of the two proofs."""

import itertools

import pytest

from lengthgen.circuits.languages.regular import Automaton, minimal_automaton
from lengthgen.empirical.studies.theories.c_rasp import decide
from lengthgen.empirical.studies.theories.c_rasp_positions import (
    MAX_LENGTH,
    confused_states,
    decide_with_positions,
    stable_actions,
    with_positions,
)
from tests.circuits.languages.drawn import drawn

ONLY_WITH_POSITIONS = (
    *("(aa)*", "(abab)*", "(a+b)*b", "(a+b)*abb", "(b+ab+aab)*(()+a+aa)", "((a+b)(a+b))*", "(ab+aabb)*"),
    "(b+ac*a)*",  # a counts 1 at even positions and -1 at odd ones, c 2 and -2: the sum is 0 after an even number of a
)
"""Languages outside C-RASP that a period or the last few symbols decide."""
NOT_EVEN_THEN = ("(a+b+c)*ac*", "(b*ab*a)*b*", "((a+b+c)*ac*bc*)*")
"""Languages in which a letter may be repeated at will between the symbols that matter."""


@pytest.mark.parametrize("expression", ONLY_WITH_POSITIONS)
def test_periods_and_nearby_symbols_decide_more_languages(expression: str) -> None:
    automaton = minimal_automaton(expression)
    assert decide(automaton).c_rasp is False
    assert decide_with_positions(automaton).c_rasp is True


@pytest.mark.parametrize("expression", NOT_EVEN_THEN)
def test_positions_do_not_help_where_symbols_can_be_moved_apart(expression: str) -> None:
    assert decide_with_positions(minimal_automaton(expression)).c_rasp is False


def test_no_language_has_both_proofs() -> None:
    both = []
    for states in (2, 3, 4):
        for automaton in drawn(states, 2, count=20, seed=states):
            sizes = itertools.product(range(3), range(1, 5))
            rewritten = (with_positions(automaton, window=window, modulus=modulus) for window, modulus in sizes)
            member = any(other is not None and decide(other).c_rasp for other in rewritten)
            both.append((member, confused_states(automaton) is not None))
    assert (True, True) not in both
    assert {(True, False), (False, True)} <= set(both)


def test_a_letter_that_changes_nothing_makes_positions_useless() -> None:
    for automaton in drawn(3, 2, count=40, seed=7):
        idle = {(state, "z"): state for state in range(automaton.states)}
        padded = Automaton(symbols=("a", "b", "z"), step={**automaton.step, **idle}, accepting=automaton.accepting)
        assert decide_with_positions(padded).c_rasp == decide(padded).c_rasp


def test_rewritten_words_are_accepted_as_the_words_were() -> None:
    automaton = minimal_automaton("(ab+aabb)*")
    rewritten = with_positions(automaton, window=2, modulus=3)
    assert rewritten is not None
    for word in map("".join, itertools.product("ab", repeat=6)):
        state: int | None = 0
        other: int | None = 0
        for place, symbol in enumerate(word):
            state = automaton.step.get((state, symbol))
            richer = f"{symbol} after {word[max(0, place - 2) : place]} at {place % 3}"
            other = rewritten.step.get((other, richer))
        assert (state in automaton.accepting) == (other in rewritten.accepting)


def test_actions_of_stable_length_are_closed_under_composition() -> None:
    for automaton in drawn(3, 2, count=20, seed=3):
        actions = stable_actions(automaton)
        assert actions is not None
        for first, second in itertools.product(actions, repeat=2):
            assert tuple(-1 if state == -1 else second[state] for state in first) in actions


def test_gives_up_on_long_periods_and_says_so() -> None:
    size = MAX_LENGTH + 1
    ring = {(state, "a"): (state + 1) % size for state in range(size)}
    ring |= {(state, "b"): 0 for state in range(size)}
    decision = decide_with_positions(Automaton(symbols=("a", "b"), step=ring, accepting=frozenset({0})))
    assert decision.c_rasp is None
    assert "was found" in decision.why
