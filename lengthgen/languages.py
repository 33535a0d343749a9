"""Verdicts of theories of length generalization on a regular language: membership in C-RASP, and SRC with states."""

from dataclasses import dataclass
from typing import Any

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.languages.c_rasp import decide
from lengthgen.circuits.languages.regular import Automaton, minimal_automaton
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.published.next_symbols import with_states_task

ARITY = 2
"""Argument slots of every operator of the running trace: the state before a symbol, and the symbol."""
SCALE = 4
"""Length of the longest prefixes of words for which SRC is computed."""
STEPS = 200_000_000
"""Limit of the search for SRC in counted steps, so that it ends at the same place on every machine."""


@dataclass(frozen=True, kw_only=True)
class StatesSRC:
    """SRC of a language's running trace, in which each step writes the state reached after each symbol.

    Attributes:
        value: SRC at arity ARITY, for prefixes of up to SCALE symbols; None if it is not known.
        why: one sentence of explanation.
    """

    value: int | None
    why: str


def language_answer(expression: str) -> dict[str, Any]:
    """Return the automaton of a regular expression, the decision of C-RASP, and SRC with states, as JSON holds them.

    Raises:
        LanguageError: as `lengthgen.circuits.languages.regular.minimal_automaton`.
    """
    automaton = minimal_automaton(expression)
    decision, complexity = decide(automaton), src_with_states(automaton)
    return {
        "expression": expression,
        "symbols": list(automaton.symbols),
        "states": automaton.states,
        "complete_states": automaton.complete_states,
        "accepting": sorted(automaton.accepting),
        "transitions": [
            {symbol: automaton.step[state, symbol] for symbol in automaton.symbols if (state, symbol) in automaton.step}
            for state in range(automaton.states)
        ],
        "c_rasp": decision.c_rasp,
        "why": decision.why,
        "src": complexity.value,
        "src_why": complexity.why,
        "label": "F",
    }


def src_with_states(automaton: Automaton) -> StatesSRC:
    """Return SRC of the running trace of an automaton ([F]: the steps that write states are our reading)."""
    scale = _longest_prefix(automaton)
    if not scale:
        return StatesSRC(value=None, why="the empty word is the only one, so no step reads a symbol")
    clock = Clock(steps=STEPS)
    try:
        task = with_states_task(automaton, "running trace")
        result = src(task, traces_up_to(task, scale, clock), ARITY, clock=clock)
    except TaskError as error:
        return StatesSRC(value=None, why=str(error))
    least, most = result.bounds[max(result.bounds)]
    if least != most:
        return StatesSRC(value=None, why=f"{least} or more operators: {result.stopped}")
    tried = "all" if result.status == "exact" else f"{result.inputs:,}"
    words = f"{tried} prefixes of up to {max(result.bounds)} symbols tried"
    return StatesSRC(
        value=int(most),
        why=f"each step reads the state and the symbol and writes the next state (arity {ARITY}); {words}",
    )


def _longest_prefix(automaton: Automaton) -> int:
    """Return the length of the longest prefix of a word of the language, but at most SCALE."""
    reached, length = {0}, 0
    while length < SCALE:
        reached = {following for (state, _), following in automaton.step.items() if state in reached}
        if not reached:
            break
        length += 1
    return length
