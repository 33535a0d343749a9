"""Formal languages as tasks: name the symbols that may follow a prefix of a word (arXiv 2410.02140, section 5).

The published models read a word and name, after each symbol, the set of symbols that may follow; a word counts as
right if all sets are.  The model's answers are no part of what it reads.  A `Task` appends its outputs to what is read,
so one instance here is one prefix with the answer after its last symbol ([F]).  The scale is the length of the prefix.
Prefixes are read symbol by symbol, in states, and drawn uniformly.
"""

import random
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Reference, Task, TaskError, Tokens

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import Automaton

State = TypeVar("State", bound=Hashable)
START = 0
"""State of the empty prefix, in every automaton of `lengthgen.circuits.languages`."""


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
        start=START,
        step=lambda state, symbol: automaton.step.get((state, symbol)),
        ends=lambda state: state in automaton.accepting,
    )


def set_token(symbols: Iterable[str]) -> str:
    """Return the token of a set of symbols that may follow: "{ab$}", where "$" says that the word may end."""
    return f"{{{''.join(sorted(symbols, key=lambda symbol: (symbol == '$', symbol)))}}}"


def next_symbols_task(automaton: "Automaton", name: str) -> Task:
    """`w1 .. wn S`: the set S of the symbols that may follow the prefix w of a word of a regular language, at once."""
    prefixes = prefixes_of(automaton)
    sets = [set_token(prefixes.next_symbols(state)) for state in range(automaton.states)]
    answers = tuple(dict.fromkeys(sets))
    numbers = np.array([len(automaton.symbols) + answers.index(token) for token in sets])
    return prefix_task(
        prefixes,
        answers,
        name,
        vectorised=lambda prompts: numbers[_states_after(automaton, prompts)[:, -1:]],
    )


def prefix_task(prefixes: Prefixes[Any], answers: tuple[str, ...], name: str, **more: Any) -> Task:
    """Return the task of naming the symbols that may follow a prefix of a word of a language, at once.

    Every prefix of n symbols is an instance of scale n. `draw` draws uniformly from them. `answers` has the tokens of
    all sets of symbols that may follow a prefix (`set_token`).
    """
    return Task(
        name=name,
        alphabet=(*prefixes.symbols, *answers),
        prompt=lambda n: _allowed(prefixes, n, name),
        generate=lambda prefix: [set_token(prefixes.next_symbols(prefixes.after(prefix)))],
        valid=lambda prefix: prefixes.after(prefix) is not None,
        draw=prefixes.draw,
        **more,
    )


def with_states_task(automaton: "Automaton", name: str) -> Task:
    """`w1 q1 w2 q2 .. wn qn`: after each symbol of a prefix w, the automaton's state and the symbols that may follow.

    A reading of ours [F]: later steps may read the states, so every step has two arguments, q_(t-1) and w_t. The state
    is one token with its set: "1{ab$}". Unit operator: the automaton's step, where the first symbol stands for q_0 too.
    """
    prefixes = prefixes_of(automaton)
    tokens = [f"{state}{set_token(prefixes.next_symbols(state))}" for state in range(automaton.states)]
    numbers = len(automaton.symbols) + np.arange(automaton.states)

    def generate(word: tuple[str, ...]) -> list[str]:
        states = [START]
        for symbol in word:
            states.append(automaton.step[states[-1], symbol])
        return [tokens[state] for state in states[1:]]

    def apply(_: str, symbols: tuple[str, ...]) -> str:
        symbol, before = symbols
        state = START if before in automaton.symbols else tokens.index(before)
        if (state, symbol) not in automaton.step:
            raise ValueError("no word continues so")
        return tokens[automaton.step[state, symbol]]

    return Task(
        name=name,
        alphabet=(*automaton.symbols, *tokens),
        prompt=lambda n: [each for symbols in _allowed(prefixes, n, name) for each in (symbols, ...)],
        generate=generate,
        vectorised=lambda prompts: numbers[_states_after(automaton, prompts)],
        reference=Reference(
            arity=2, steps=lambda n: [("step", (2 * t - 1, max(1, 2 * t - 2))) for t in range(1, n + 1)], apply=apply
        ),
        valid=lambda word: prefixes.after(word) is not None,
        draw=prefixes.draw,
    )


def _allowed(prefixes: Prefixes[Any], length: int, name: str) -> list[tuple[str, ...]]:
    """Return the symbols at each position of the prefixes of a length. Raise TaskError if there are none."""
    allowed = prefixes.allowed(length)
    if not all(allowed):
        raise TaskError(f"task '{name}': no word of the language has {length} symbols or more; take smaller scales")
    return allowed


def _states_after(automaton: "Automaton", words: Tokens) -> NDArray[np.int64]:
    """Return the state after each symbol of many prefixes: uint8 [count, length] -> int64 [count, length]."""
    step = np.zeros((automaton.states, len(automaton.symbols)), dtype=np.int64)
    for (state, symbol), following in automaton.step.items():
        step[state, automaton.symbols.index(symbol)] = following
    states = np.zeros((words.shape[1] + 1, len(words)), dtype=np.int64)
    for place, symbols in enumerate(words.T):
        states[place + 1] = step[states[place], symbols]
    return states[1:].T
