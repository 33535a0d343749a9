"""`lengthgen language`: theories of length generalization on a regular language, membership in C-RASP and SRC."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Group

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.published.next_symbols import with_states_task
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import filled, titled, yes_no
from lengthgen.terminal.options import Json

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import Automaton


def language(
    expression: Annotated[
        str,
        typer.Argument(
            help="Regular expression: letters and digits as symbols, | or + between alternatives, *, parentheses, and "
            "() for the empty word.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Decide if a regular language is expressible in C-RASP, and compute SRC if every step may write a state.

    `states` counts the states of the minimal automaton from which a word can still be completed; `complete_states`
    also counts the dead state, which all other words reach. `src` is null, and so is `c_rasp`, if the computation
    gives up; `src_why` and `why` say why.
    """
    answer = language_answer(expression)
    show(answer, language_table(answer), as_json)


ARITY = 2
"""Argument slots of every operator of the running trace: the state before a symbol, and the symbol."""
SCALE = 4
"""Length of the longest prefixes of words for which SRC is computed."""
MOST_ROWS = 40
"""Largest number of states shown."""
STEPS = 200_000_000
"""Limit of the search for SRC in counted steps, so that it ends at the same place on every machine."""


class StatesSRC(NamedTuple):
    """SRC of a language's running trace, in which each step writes the state reached after each symbol.

    Attributes:
        value: SRC at arity ARITY, for prefixes of up to SCALE symbols; None if it is not known.
        why: one sentence of explanation.
    """

    value: int | None
    why: str


def language_answer(expression: str) -> dict[str, Any]:
    """Return the automaton of a regular expression, the decision of C-RASP, and SRC with states, as JSON holds them."""
    from lengthgen.circuits.languages.regular import minimal_automaton
    from lengthgen.empirical.studies.theories.c_rasp import decide

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


def src_with_states(automaton: "Automaton") -> StatesSRC:
    """Return SRC of the running trace of an automaton ([F]: the steps that write states are our reading)."""
    scale = _longest_prefix(automaton)
    if not scale:
        return StatesSRC(None, "the empty word is the only one, so no step reads a symbol")
    clock = Clock(steps=STEPS)
    try:
        task = with_states_task(automaton, "running trace")
        result = src(task, traces_up_to(task, scale, clock), ARITY, clock=clock)
    except TaskError as error:
        return StatesSRC(None, str(error))
    least, most = result.bounds[max(result.bounds)]
    if least != most:
        return StatesSRC(None, f"{least} or more operators: {result.stopped}")
    tried = "all" if result.status == "exact" else f"{result.inputs:,}"
    words = f"{tried} prefixes of up to {max(result.bounds)} symbols tried"
    why = f"each step reads the state and the symbol and writes the next state (arity {ARITY}); {words}"
    return StatesSRC(int(most), why)


def _longest_prefix(automaton: "Automaton") -> int:
    """Return the length of the longest prefix of a word of the language, but at most SCALE."""
    reached, length = {0}, 0
    while length < SCALE:
        reached = {following for (state, _), following in automaton.step.items() if state in reached}
        if not reached:
            break
        length += 1
    return length


def language_table(answer: Mapping[str, Any]) -> Group:
    """Return the transitions of the minimal automaton, and below them what is decided of the language."""
    table = filled(
        ["state", *answer["symbols"], "may end"],
        (
            [
                str(state),
                *(str(step.get(symbol, "-")) for symbol in answer["symbols"]),
                yes_no(state in answer["accepting"]),
            ]
            for state, step in enumerate(answer["transitions"][:MOST_ROWS])
        ),
    )
    counts = f"{answer['states']} without the dead state, {answer['complete_states']} in the complete automaton"
    shown = f"; the first {MOST_ROWS} are shown" if answer["states"] > MOST_ROWS else ""
    value = "not known" if answer["src"] is None else answer["src"]
    return titled(
        f"Minimal automaton of {answer['expression']}",
        table,
        "a word starts in state 0; after '-' no word of the language can be completed: the dead state",
        f"states: {counts}{shown}",
        f"expressible in C-RASP: {yes_no(answer['c_rasp'], 'not decided')}: {answer['why']}",
        f"SRC with states: {value}: {answer['src_why']} [F]",
    )
