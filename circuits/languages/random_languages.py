"""Random regular languages: distinct minimal automata with a given number of states, and names for them.

A name, random-language-STATES-SYMBOLS-SEED-INDEX, says everything, so a language that was drawn is loaded again.
"""

import random
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice

from automata.fa.dfa import DFA

from lengthgen.circuits.languages.regular import Automaton, LanguageError, canonical

MISSING = 0.25
"""Probability that a transition is missing, so that languages with and without forbidden continuations are drawn."""
MAX_TRIES = 100_000
"""Largest number of random automata that are tried for one that is minimal and new."""
MAX_STATES, MAX_SYMBOLS = 8, 4
"""Largest numbers of states and of symbols in a name."""
NAME = re.compile(r"random-language-([1-9])-([1-9])-([0-9]{1,9})-([0-9]{1,3})")


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
    letters = tuple(chr(ord("a") + index) for index in range(symbols))
    tried: set[tuple[object, ...]] = set()
    seen: set[tuple[object, ...]] = set()
    tries = 0
    while tries < MAX_TRIES:
        tries += 1
        step, accepting = _drawn(states, letters, source)
        if (drawn := (tuple(step.items()), accepting)) in tried:
            continue
        tried.add(drawn)
        automaton = _minimal(states, letters, *drawn)
        key = (frozenset(automaton.step.items()), automaton.accepting)
        if automaton.states == states and key not in seen:
            seen.add(key)
            tries = 0
            yield automaton


def _drawn(
    states: int, letters: tuple[str, ...], source: random.Random
) -> tuple[dict[tuple[int, str], int], frozenset[int]]:
    """Return the transitions and the accepting states of a random automaton."""
    step = {
        (state, letter): source.randrange(states)
        for state in range(states)
        for letter in letters
        if source.random() >= MISSING
    }
    return step, frozenset(state for state in range(states) if source.random() < 0.5)


# To minimise an automaton takes thirty times as long as to draw it, and a language of a name is found by drawing anew
# all that come before it.
@lru_cache(maxsize=10_000)
def _minimal(
    states: int, letters: tuple[str, ...], steps: tuple[tuple[tuple[int, str], int], ...], accepting: frozenset[int]
) -> Automaton:
    """Return the minimal automaton of an automaton that starts in state 0."""
    step = dict(steps)
    automaton = DFA(
        states=set(range(states)),
        input_symbols=set(letters),
        transitions={
            state: {letter: step[state, letter] for letter in letters if (state, letter) in step}
            for state in range(states)
        },
        initial_state=0,
        final_states=set(accepting),
        allow_partial=True,
    )
    return canonical(automaton.minify())


@cache
def random_language(name: str) -> Automaton:
    """Return the minimal automaton that a name stands for: the language at INDEX, from 0, of the draw with SEED.

    Raises:
        LanguageError: the name has another form, a number is too large, or there are fewer languages.
    """
    match = NAME.fullmatch(name)
    numbers = [int(part) for part in match.groups()] if match else []
    if not numbers or numbers[0] > MAX_STATES or numbers[1] > MAX_SYMBOLS:
        raise LanguageError(
            f"'{name}' is no random language: write random-language-STATES-SYMBOLS-SEED-INDEX with up to "
            f"{MAX_STATES} states and {MAX_SYMBOLS} symbols"
        )
    states, symbols, seed, index = numbers
    automaton = next(islice(draw_languages(states, symbols, seed), index, None), None)
    if automaton is None:
        raise LanguageError(f"'{name}': there are not {index + 1} languages of {states} states over {symbols} symbols")
    return automaton
