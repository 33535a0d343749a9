"""`lengthgen language`: its answer in JSON and as a table, when it gives up, and one line for every mistake."""

import pytest

from lengthgen.circuits.languages.regular import minimal_automaton
from lengthgen.empirical.studies.theories.language import SCALE
from tests.lengthgen.refusal import refused


def test_the_transitions_are_those_of_the_automaton(answer):
    output, automaton = answer("language", "(ab+bba)*"), minimal_automaton("(ab+bba)*")
    step = {(state, symbol): to for state, row in enumerate(output["transitions"]) for symbol, to in row.items()}
    assert (step, set(output["accepting"])) == (automaton.step, set(automaton.accepting))


def test_each_half_of_the_answer_is_null_where_it_gives_up(answer):
    many = answer("language", "(a+b)*a" + "(a+b)" * 5)
    assert (many["states"], many["c_rasp"], many["src"]) == (64, None, 1)
    assert "64 states" in many["why"]
    too_many = answer("language", "(a+b)*a" + "(a+b)" * 7)
    assert (too_many["states"], too_many["src"]) == (256, None)
    assert "at most 254 symbols" in too_many["src_why"]
    empty = answer("language", "()")
    assert (empty["states"], empty["symbols"], empty["src"]) == (1, [], None)
    assert "the empty word is the only one" in empty["src_why"]


def test_a_finite_language_is_tried_up_to_its_longest_word(answer):
    assert "up to 2 symbols" in answer("language", "ab")["src_why"]
    assert f"up to {SCALE} symbols" in answer("language", "a" * (SCALE + 1))["src_why"]


def test_the_table_of_a_large_automaton_is_cut_and_says_so(run):
    _, out, _ = run("language", "(a+b)*a" + "(a+b)" * 7)
    assert "the first 40 are shown" in out
    assert len(out.splitlines()) < 60


@pytest.mark.parametrize("expression", ["", "a^b", "(a", "a)", "*a", "a||b", "a" * 61, "\x1b[31m", "a\n("])
def test_a_mistake_is_one_line(run, expression):
    refused(run("language", expression), "regular expression")
