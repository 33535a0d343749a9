"""The tasks that come with the project, by the names the command line knows, and the loading of a user's own."""

import difflib
from collections.abc import Callable

from circuits.task import Task, TaskError
from circuits.tasks.copying import copy
from circuits.tasks.parity import parity
from circuits.tasks.permutation import permutation
from theory.userfile import run_file

TASKS: dict[str, Callable[[], Task]] = {"copy": copy, "parity": parity, "permutation": permutation}


def load(spec: str) -> Task:
    """A task by name, or a user's own as `path/to/file.py:name`. The file is run: it is the user's own code.

    Raises:
        TaskError: no such name, file or attribute, or the file fails.
    """
    if spec in TASKS:
        return TASKS[spec]()
    path, colon, attribute = spec.rpartition(":")
    if not colon or not path.endswith(".py"):
        close = difflib.get_close_matches(spec, TASKS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(TASKS)}; your own: path/to/file.py:name"
        raise TaskError(f"unknown task '{spec}': {hint}")
    namespace = run_file(path, what="task", error=TaskError)
    task = namespace.get(attribute)
    if not isinstance(task, Task):
        tasks = [name for name, value in namespace.items() if isinstance(value, Task)]
        raise TaskError(f"'{attribute}' in '{path}' is not a Task; it defines: {', '.join(tasks) or 'none'}")
    return task
