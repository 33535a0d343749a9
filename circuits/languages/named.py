"""Random regular languages by name, random-language-STATES-SYMBOLS-SEED-INDEX: one that was drawn is loaded again."""

import re
from functools import cache
from itertools import islice

from lengthgen.circuits.languages.draw import draw_languages
from lengthgen.circuits.languages.regular import Automaton, LanguageError

MAX_STATES, MAX_SYMBOLS = 8, 4
"""Largest numbers of states and of symbols in a name."""
NAME = re.compile(r"random-language-([1-9])-([1-9])-([0-9]{1,9})-([0-9]{1,3})")


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
