"""Some random languages."""

from itertools import islice

from lengthgen.circuits.languages.random_languages import draw_languages
from lengthgen.circuits.languages.regular import Automaton


def drawn(states: int, symbols: int, *, count: int, seed: int) -> list[Automaton]:
    """First languages of a seed."""
    return list(islice(draw_languages(states, symbols, seed), count))
