"""Decision of C-RASP: the published members and non-members, a second implementation, and laws."""

import pytest

from lengthgen.circuits.languages.regular import Automaton, minimal_automaton
from lengthgen.empirical.studies.theories.c_rasp import MAX_STATES, decide
from tests.circuits.languages.drawn import drawn
from tests.oracles.balanced_labels import passes

MEMBERS = (
    "(aa(ba)*abb(ab)*b)*",
    "(aa*bb*)(aa*bb*)(aa*bb*)",
    "(ab)(ab)*aa*",
    "(ab)(ab)*bb*(ab)(ab)*",
    "(ab+ba)*",
    "b*",
    "(ba)*",
    "(a(ab)*b)*",
    "(a+b)*d(b+c)*",
    "aa*bb*cc*dd*ee*",
    "a*b*a*b*",
)
"""Languages in C-RASP according to arXiv 2410.02140 and its program."""
OTHERS = (
    "(a+b)*bb(a+b)*",
    "(a+b)*b",
    "(aa*bb*)(aa*bb*)*",
    "((ab)(ab)*bb*)*",
    "(ab+bba)*",
    "(ab+aabb)*",
    "(aa)*",
    "(aaaa)*",
    "(abab)*",
    "(a+b+c)*ac*",
    "(b+ab+aab)*(a+aa+b*)",
    "(b*ab*a)*b*",
)
"""Languages not in C-RASP; the published program errs on the second and the third."""


@pytest.mark.parametrize("expression", MEMBERS)
def test_members_are_in(expression: str) -> None:
    assert decide(minimal_automaton(expression)).c_rasp is True


@pytest.mark.parametrize("expression", OTHERS)
def test_others_are_not_in(expression: str) -> None:
    assert decide(minimal_automaton(expression)).c_rasp is False


def test_agrees_with_enumerated_cycles_on_random_automata() -> None:
    answers = [
        (decide(automaton).c_rasp, passes(automaton))
        for states in (1, 2, 3, 4)
        for automaton in drawn(states, 2, count=40, seed=states)
    ]
    assert all(first == second for first, second in answers)
    assert {first for first, _ in answers} == {True, False}


def test_the_names_of_symbols_do_not_matter() -> None:
    for expression in (*MEMBERS, *OTHERS):
        renamed = expression.translate(str.maketrans("abcde", "edcba"))
        assert decide(minimal_automaton(renamed)).c_rasp == decide(minimal_automaton(expression)).c_rasp


def test_languages_that_count_modulo_a_number_are_out() -> None:
    for modulus in range(2, 9):
        assert decide(minimal_automaton(f"({'a' * modulus})*")).c_rasp is False


def test_bounded_depth_is_in_at_every_depth() -> None:
    expression = "(ab)*"
    for _ in range(8):
        assert decide(minimal_automaton(expression)).c_rasp is True
        expression = f"(a{expression}b)*"


def test_gives_up_on_large_components_and_says_so() -> None:
    size = MAX_STATES + 1
    ring = Automaton(
        symbols=("a",), step={(state, "a"): (state + 1) % size for state in range(size)}, accepting=frozenset({0})
    )
    decision = decide(ring)
    assert decision.c_rasp is None
    assert f"{size} states" in decision.why


def test_the_reason_names_two_words_that_no_count_tells_apart() -> None:
    assert "the empty word from that after 'a'" in decide(minimal_automaton("(aa)*")).why
