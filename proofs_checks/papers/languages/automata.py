"""Small automata, and languages made from others: complements, reversed words, renamed and doubled letters."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

from automata.fa.dfa import DFA
from automata.fa.nfa import NFA

from lengthgen.circuits.languages.regular import Automaton, canonical

LETTERS = ("a", "b")
STATES = 3
"""Largest number of live states of the small automata."""


@cache
def small_automata() -> tuple[Automaton, ...]:
    """Return the minimal automata of all languages over two letters with at most STATES live states, by transitions.

    Membership depends on the transitions alone, so each set of transitions comes once.
    """
    by_transitions: dict[frozenset[tuple[tuple[int, str], int]], Automaton] = {}
    for targets in product(range(-1, STATES), repeat=STATES * len(LETTERS)):
        table = dict(zip(product(range(STATES), LETTERS), targets, strict=True))
        transitions = {
            state: {symbol: table[state, symbol] for symbol in LETTERS if table[state, symbol] >= 0}
            for state in range(STATES)
        }
        if not _in_order(transitions):
            continue
        for accepting in product((False, True), repeat=STATES):
            automaton = _minimal(transitions, accepting)
            by_transitions.setdefault(frozenset(automaton.step.items()), automaton)
    return tuple(by_transitions.values())


def _in_order(transitions: Mapping[int, Mapping[str, int]]) -> bool:
    """True if breadth-first search meets states in the order of their numbers, and leads on from no state unmet."""
    met = [0]
    for state in met:
        for following in transitions[state].values():
            if following not in met:
                met.append(following)
    return met == list(range(len(met))) and not any(transitions[state] for state in range(len(met), STATES))


def _minimal(transitions: Mapping[int, Mapping[str, int]], accepting: Sequence[bool]) -> Automaton:
    """Return the minimal automaton of the language of an automaton that starts in state 0."""
    automaton = DFA(
        states=set(transitions),
        input_symbols=set(LETTERS),
        transitions={state: dict(step) for state, step in transitions.items()},
        initial_state=0,
        final_states={state for state, accepts in enumerate(accepting) if accepts},
        allow_partial=True,
    )
    return canonical(automaton.minify())


def renamed_padded_complement(automaton: Automaton) -> Automaton:
    """Return the complement, with letters in another order, and with one more letter that changes no state."""
    other = _complement(automaton)
    names = dict(zip(other.symbols, reversed(other.symbols), strict=True))
    step = {(state, names[symbol]): following for (state, symbol), following in other.step.items()}
    step |= {(state, "z"): state for state in range(other.states)}
    return Automaton(symbols=(*other.symbols, "z"), step=step, accepting=other.accepting)


def reversed_words(automaton: Automaton) -> Automaton:
    """Return the minimal automaton of the reversed words."""
    return canonical(DFA.from_nfa(NFA.from_dfa(_dfa(automaton)).reverse(), minify=True))


def doubled_letters(automaton: Automaton) -> Automaton:
    """Return the automaton of the words of which every letter is written twice."""
    halves = {pair: automaton.states + place for place, pair in enumerate(automaton.step)}
    first = {(state, symbol): half for (state, symbol), half in halves.items()}
    second = {(half, symbol): automaton.step[state, symbol] for (state, symbol), half in halves.items()}
    return Automaton(symbols=automaton.symbols, step={**first, **second}, accepting=automaton.accepting)


def _complement(automaton: Automaton) -> Automaton:
    return canonical(_dfa(automaton).to_complete().complement(minify=False))


def _dfa(automaton: Automaton) -> DFA:
    """Return the automaton as automata-lib has it."""
    transitions: dict[int, dict[str, int]] = {state: {} for state in range(automaton.states)}
    for (state, symbol), following in automaton.step.items():
        transitions[state][symbol] = following
    return DFA(
        states=set(transitions),
        input_symbols=set(automaton.symbols),
        transitions=transitions,
        initial_state=0,
        final_states=set(automaton.accepting),
        allow_partial=True,
    )


def text(automaton: Automaton) -> str:
    """Return the transitions and accepting states on one line, for people."""
    steps = ", ".join(f"{state}{symbol}{following}" for (state, symbol), following in sorted(automaton.step.items()))
    return f"the language with transitions {steps or 'none'} and ends {sorted(automaton.accepting)}"
