"""Tasks that are not listed in tables of all tasks, by name: random circuits, random languages, published tasks."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks.other_kinds import KINDS, task_of_kind
from lengthgen.circuits.tasks.published.next_symbols import next_symbols_task, with_states_task
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.circuits.tasks.random_circuits import random_circuit
from lengthgen.infrastructure.errors import nearest

if TYPE_CHECKING:
    from lengthgen.circuits.languages.regular import Automaton

RANDOM, RANDOM_LANGUAGE, PUBLISHED = "random-", "random-language-", "published-"
"""Beginnings of the names of random circuits, random languages, and tasks of published experiments."""
WITH_STATES = "-with-states"
"""Ending of the name of a published task that also writes what it has computed so far."""

PUBLISHED_TASKS: Mapping[str, Callable[[], Task]] = {
    f"{PUBLISHED}{name}{ending}": make
    for name, subject in SUBJECTS.items()
    for ending, make in (("", subject.task), (WITH_STATES, subject.with_states))
    if make is not None
}
"""Name on the command line -> published task, as its models met it or with states."""


def is_of_family(name: str) -> bool:
    """True if a name begins like that of a random task or of a published task."""
    return name.startswith((RANDOM, PUBLISHED))


def has_base(name: str) -> bool:
    """True if a task of a family has a base to choose: random tasks have, but for languages."""
    return name.startswith(RANDOM) and not name.startswith(RANDOM_LANGUAGE)


def require_family(name: str) -> None:
    """Raise TaskError if there is no random task, random language or published task of this name."""
    if name.startswith(RANDOM_LANGUAGE):
        _automaton(name)
    elif name.startswith(RANDOM):
        _random_task(name)
    elif name not in PUBLISHED_TASKS:
        subject = SUBJECTS.get(name.removeprefix(PUBLISHED).removesuffix(WITH_STATES))
        if subject and subject.why_not:
            raise TaskError(f"'{name}' is no task of the project: {subject.why_not}")
        if subject:
            raise TaskError(f"'{name}' is no task of the project: leave out '{WITH_STATES}'")
        hint = nearest(name, PUBLISHED_TASKS, listed="`lengthgen published` lists all")
        raise TaskError(f"unknown task '{name}': {hint}")


def task_of_family(name: str, base: int | None = None) -> Task:
    """Return a random task, with a base if one is chosen and it is no language, or a published task.

    Raise TaskError if there is none of this name, or the base is out of range.
    """
    require_family(name)
    if name.startswith(RANDOM_LANGUAGE):
        make = with_states_task if name.endswith(WITH_STATES) else next_symbols_task
        return make(_automaton(name), name)
    if name.startswith(RANDOM):
        return _random_task(name) if base is None else _random_task(name, base)
    return PUBLISHED_TASKS[name]()


def _random_task(name: str, base: int = 3) -> Task:
    """Return a random circuit, or a random task of another kind. Raise TaskError if there is none of this name."""
    is_other = name.startswith(tuple(f"{RANDOM}{kind}-" for kind in KINDS))
    return task_of_kind(name, base) if is_other else random_circuit(name, base)


def _automaton(name: str) -> "Automaton":
    """Return the automaton of a random language; raise TaskError if the name stands for none."""
    # They import automata-lib, which most commands do not need.
    from lengthgen.circuits.languages.random_languages import random_language
    from lengthgen.circuits.languages.regular import LanguageError

    try:
        return random_language(name.removesuffix(WITH_STATES))
    except LanguageError as error:
        raise TaskError(str(error)) from None
