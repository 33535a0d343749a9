"""Formal languages as tasks: name the symbols that may follow a prefix of a word (arXiv 2410.02140, section 5).

The published models read a word and name, after each symbol, the set of symbols that may follow; a word counts as
right if all sets are.  The model's answers are no part of what it reads.  A `Task` appends its outputs to what is read,
so one instance here is one prefix with the answer after its last symbol ([F]).  The scale is the length of the prefix.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Reference, Task, TaskError, Tokens
from lengthgen.circuits.tasks.published.prefixes import Prefixes, prefixes_of

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import Automaton

START = 0
"""State of the empty prefix, in every automaton of `lengthgen.circuits.languages`."""


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

    Every prefix of n symbols is an instance of scale n. `draw` draws uniformly from them.

    Args:
        prefixes: prefixes of the language.
        answers: tokens of all sets of symbols that may follow a prefix (`set_token`).
        name: name of the task.
        more: further fields of the `Task`.
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
