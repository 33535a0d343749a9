"""Tasks that are not listed in tables of all tasks, by name: random circuits and tasks of published experiments."""

from collections.abc import Callable, Mapping

from circuits.task import Task, TaskError
from circuits.tasks.published.catalogue import SUBJECTS
from circuits.tasks.random_circuits import random_circuit
from theory.system.errors import nearest

RANDOM, PUBLISHED = "random-", "published-"
"""Beginnings of the names of random circuits, and of tasks of published experiments."""
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
    """True if a name begins like that of a random circuit or of a published task."""
    return name.startswith((RANDOM, PUBLISHED))


def has_base(name: str) -> bool:
    """True if a task of a family has a base to choose: random circuits have."""
    return name.startswith(RANDOM)


def require_family(name: str) -> None:
    """Raise TaskError if there is no random circuit and no published task of this name."""
    if name.startswith(RANDOM):
        random_circuit(name)
    elif name not in PUBLISHED_TASKS:
        subject = SUBJECTS.get(name.removeprefix(PUBLISHED).removesuffix(WITH_STATES))
        if subject and subject.why_not:
            raise TaskError(f"'{name}' is no task of the project: {subject.why_not}")
        if subject:
            raise TaskError(f"'{name}' is no task of the project: leave out '{WITH_STATES}'")
        raise TaskError(f"unknown task '{name}': {nearest(name, PUBLISHED_TASKS)}")


def task_of_family(name: str, base: int | None = None) -> Task:
    """Return a random circuit, with a base if one is chosen, or a published task.

    Raises:
        TaskError: there is none of this name, or the base is out of range.
    """
    require_family(name)
    if name.startswith(RANDOM):
        return random_circuit(name) if base is None else random_circuit(name, base)
    return PUBLISHED_TASKS[name]()
