"""Random regular languages: distinct minimal automata with a given number of states."""

import random
from collections.abc import Iterator

from automata.fa.dfa import DFA

from circuits.languages.regular import Automaton, canonical

MISSING = 0.25
"""Probability that a transition is missing, so that languages with and without forbidden continuations are drawn."""
MAX_TRIES = 100_000
"""Largest number of random automata that are tried for one that is minimal and new."""


def draw_languages(states: int, symbols: int, seed: int) -> Iterator[Automaton]:
    """Yield distinct minimal automata over the first letters; endless, unless MAX_TRIES find no new one.

    Every transition is missing with probability MISSING or leads to a random state, and every state accepts with
    probability 1/2; automata which are not minimal are rejected.

    Args:
        states: number of states, without the dead one.
        symbols: size of the alphabet, 1 to 26.
        seed: seed of the draw; equal seeds give equal automata.
    """
    source = random.Random(f"{states} {symbols} {seed}")
    letters = [chr(ord("a") + index) for index in range(symbols)]
    seen: set[tuple[object, ...]] = set()
    tries = 0
    while tries < MAX_TRIES:
        tries += 1
        automaton = _drawn(states, letters, source)
        key = (frozenset(automaton.step.items()), automaton.accepting)
        if automaton.states == states and key not in seen:
            seen.add(key)
            tries = 0
            yield automaton


def _drawn(states: int, letters: list[str], source: random.Random) -> Automaton:
    """Return the minimal automaton of a random one."""
    transitions = {
        state: {letter: source.randrange(states) for letter in letters if source.random() >= MISSING}
        for state in range(states)
    }
    accepting = {state for state in range(states) if source.random() < 0.5}
    automaton = DFA(
        states=set(range(states)),
        input_symbols=set(letters),
        transitions=transitions,
        initial_state=0,
        final_states=accepting,
        allow_partial=True,
    )
    return canonical(automaton.minify())
