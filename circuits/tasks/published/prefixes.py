"""Prefixes of the words of a language, read symbol by symbol: their states, and draws of them."""

import random
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import Automaton

State = TypeVar("State", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Prefixes(Generic[State]):
    """Prefixes of the words of a language.

    Attributes:
        symbols: the alphabet.
        start: state of the empty prefix.
        step: function from a state and a symbol to the next state; None if no word of the language continues so.
        ends: function from a state to True if a word may end there.
    """

    symbols: tuple[str, ...]
    start: State
    step: Callable[[State, str], State | None]
    ends: Callable[[State], bool]

    def after(self, prefix: tuple[str, ...]) -> State | None:
        """Return the state after some symbols; None if they are no prefix of a word."""
        state: State | None = self.start
        for symbol in prefix:
            state = None if state is None else self.step(state, symbol)
        return state

    def next_symbols(self, state: State) -> frozenset[str]:
        """Return the symbols that may follow in a state, with "$" if the word may end there."""
        following = {symbol for symbol in self.symbols if self.step(state, symbol) is not None}
        return frozenset(following | ({"$"} if self.ends(state) else set()))

    def allowed(self, length: int) -> list[tuple[str, ...]]:
        """Return the symbols that stand at each position of prefixes of a length; none if there is no such prefix."""
        allowed = []
        for before, after in pairwise(_layers(self, length)):
            symbols = {symbol for state in before for symbol, _ in self._steps(state, after)}
            allowed.append(tuple(symbol for symbol in self.symbols if symbol in symbols))
        return allowed

    def draw(self, length: int, source: random.Random) -> list[str]:
        """Return a prefix of a length, drawn uniformly from all of them. There must be one."""
        state, prefix = self.start, []
        for ways in _ways(self, length):
            total, steps = ways[state]
            chosen = source.randrange(total)
            for symbol, following, count in steps:
                chosen -= count
                if chosen < 0:
                    prefix.append(symbol)
                    state = following
                    break
        return prefix

    def _steps(self, state: State, to: Collection[State]) -> list[tuple[str, State]]:
        """Return the symbols that lead from a state to one of some states, each with that state."""
        steps = ((symbol, self.step(state, symbol)) for symbol in self.symbols)
        return [(symbol, following) for symbol, following in steps if following is not None and following in to]


@lru_cache(maxsize=64)
def _layers(prefixes: Prefixes[Any], length: int) -> list[dict[Any, int]]:
    """Return the states after 0, 1, .., `length` symbols, each with the number of ways to go on to that length.

    States from which that length is not reached are left out.
    """
    reached: list[list[Any]] = [[prefixes.start]]
    for _ in range(length):
        following = (prefixes.step(state, symbol) for state in reached[-1] for symbol in prefixes.symbols)
        reached.append([state for state in dict.fromkeys(following) if state is not None])
    layers = [dict.fromkeys(reached[-1], 1)]
    for states in reversed(reached[:-1]):
        after = layers[-1]
        counts = {state: sum(after[following] for _, following in prefixes._steps(state, after)) for state in states}
        layers.append({state: count for state, count in counts.items() if count})
    return layers[::-1]


@lru_cache(maxsize=64)
def _ways(prefixes: Prefixes[Any], length: int) -> list[dict[Any, tuple[int, list[tuple[str, Any, int]]]]]:
    """Return, for each position up to `length`, state -> the number of ways to go on, and that through each symbol."""
    ways = []
    for before, after in pairwise(_layers(prefixes, length)):
        steps = {state: [(*step, after[step[1]]) for step in prefixes._steps(state, after)] for state in before}
        ways.append({state: (before[state], steps[state]) for state in before})
    return ways


def prefixes_of(automaton: "Automaton") -> Prefixes[int]:
    """Return the prefixes of the words of a regular language. States are those of the automaton."""
    return Prefixes(
        symbols=automaton.symbols,
        start=0,
        step=lambda state, symbol: automaton.step.get((state, symbol)),
        ends=lambda state: state in automaton.accepting,
    )
