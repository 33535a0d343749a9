"""Regular languages as tables for people."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group

from lengthgen.tables.layout import columns, titled, yes_no

MOST_ROWS = 40
"""Largest number of states shown."""


def language_table(answer: Mapping[str, Any]) -> Group:
    """Return the transitions of the minimal automaton, and below them what is decided of the language."""
    table = columns("state", *answer["symbols"], "may end")
    for state, step in enumerate(answer["transitions"][:MOST_ROWS]):
        following = (str(step.get(symbol, "-")) for symbol in answer["symbols"])
        table.add_row(str(state), *following, yes_no(state in answer["accepting"]))
    counts = f"{answer['states']} without the dead state, {answer['complete_states']} in the complete automaton"
    shown = f"; the first {MOST_ROWS} are shown" if answer["states"] > MOST_ROWS else ""
    value = "not known" if answer["src"] is None else answer["src"]
    decided = {True: "yes", False: "no", None: "not decided"}[answer["c_rasp"]]
    return titled(
        f"Minimal automaton of {answer['expression']}",
        table,
        "a word starts in state 0; after '-' no word of the language can be completed: the dead state",
        f"states: {counts}{shown}",
        f"expressible in C-RASP: {decided}: {answer['why']}",
        f"SRC with states: {value}: {answer['src_why']} [F]",
    )
