"""Task of a published experiment: what its models were asked, and what of it can be computed with here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lengthgen.circuits.task import Task

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import (
        Automaton,  # it imports automata-lib, which most commands do not need
    )


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Task of a published experiment.

    Attributes:
        name: name in the catalogue of published tasks.
        words: what the model reads and what it must write, in one sentence.
        arxiv: paper that measured it.
        task: function that returns the task as the models met it; None if it is not expressible as a `Task`.
        why_not: reason why there is no `task`; empty if there is one.
        language: regular expression, or minimal automaton, if the task is to name the symbols that may follow each
            prefix of a word of this regular language (`lengthgen.circuits.languages`); None for other tasks.
        with_states: function that returns the same language as a task that also writes what it has computed so far
            after each symbol, a reading of ours [F]; None if there is none.
    """

    name: str
    words: str
    arxiv: str
    task: Callable[[], Task] | None = None
    why_not: str = ""
    language: "str | Automaton | None" = None
    with_states: Callable[[], Task] | None = None

    def __post_init__(self) -> None:
        """Have each task made once: it keeps its traces, which all theories ask for."""
        for name in ("task", "with_states"):
            if (make := getattr(self, name)) is not None:
                object.__setattr__(self, name, cache(make))

    @property
    def automaton(self) -> "Automaton | None":
        """Minimal automaton of the language; None without a language."""
        from lengthgen.circuits.languages.regular import minimal_automaton

        return minimal_automaton(self.language) if isinstance(self.language, str) else self.language
