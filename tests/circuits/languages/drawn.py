"""Some random languages."""

from itertools import islice

from circuits.languages.draw import draw_languages
from circuits.languages.regular import Automaton


def drawn(states: int, symbols: int, *, count: int, seed: int) -> list[Automaton]:
    """First languages of a seed."""
    return list(islice(draw_languages(states, symbols, seed), count))
