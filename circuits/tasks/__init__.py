"""The tasks that come with the project, by the names the command line knows, and the loading of a user's own."""

import difflib
import inspect
from collections.abc import Callable
from dataclasses import replace

from circuits.task import Task, TaskError
from circuits.tasks.addition import addition, addition_carry, addition_high_first, unaligned_addition
from circuits.tasks.copying import copy, reverse, shift, unaligned_copy
from circuits.tasks.counter import counter, parity, parity_direct
from circuits.tasks.division import division, division_remainder
from circuits.tasks.growing import log_shift, permutation, scaled_sum
from circuits.tasks.majority import majority_count, majority_direct
from circuits.tasks.multiplication import multiplication, multiplication_nn
from circuits.tasks.selection import select_first, select_last, select_middle
from circuits.tasks.sorting import sort_direct, sort_trace
from theory.system.userfile import LONGEST_NAME, run_file

TASKS: dict[str, Callable[..., Task]] = {
    "copy": copy,
    "reverse": reverse,
    "shift": shift,
    "parity": parity,
    "parity-direct": parity_direct,
    "addition": addition,
    "addition-high-first": addition_high_first,
    "addition-carry": addition_carry,
    "multiplication": multiplication,
    "multiplication-nn": multiplication_nn,
    "division": division,
    "division-remainder": division_remainder,
    "select-first": select_first,
    "select-middle": select_middle,
    "select-last": select_last,
    "counter": counter,
    "sort-trace": sort_trace,
    "sort-direct": sort_direct,
    "majority-count": majority_count,
    "majority-direct": majority_direct,
    "permutation": permutation,
    "log-shift": log_shift,
    "scaled-sum": scaled_sum,
    "unaligned-copy": unaligned_copy,
    "unaligned-addition": unaligned_addition,
}


def load(spec: str, *, base: int | None = None) -> Task:
    """A task by name, or a user's own as `path/to/file.py:name`. The file is run: it is the user's own code.

    Args:
        spec: name or file.
        base: digits of a named task, if not its default.

    Raises:
        TaskError: no such name, file or attribute, the file fails, or the task has no such base.
    """
    if base is not None:
        if spec not in TASKS or not inspect.signature(TASKS[spec]).parameters:
            with_base = ", ".join(name for name, make in TASKS.items() if inspect.signature(make).parameters)
            raise TaskError(f"task '{spec}' has no base to choose; these have: {with_base}")
        return replace(TASKS[spec](base), name=f"{spec}-base-{base}")
    if spec in TASKS:
        return TASKS[spec]()
    path, colon, attribute = spec.rpartition(":")
    if not colon or not path.endswith(".py"):
        close = difflib.get_close_matches(spec[:LONGEST_NAME], TASKS, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(TASKS)}; your own: path/to/file.py:name"
        raise TaskError(f"unknown task '{spec}': {hint}")
    namespace = run_file(path, what="task", error=TaskError)
    task = namespace.get(attribute)
    # By its type: other objects may have attributes that fail, and a subclass methods that do.
    if type(task) is not Task:
        tasks = [name for name, value in namespace.items() if type(value) is Task]
        raise TaskError(f"'{attribute}' in '{path}' is not a Task; it defines: {', '.join(tasks) or 'none'}")
    return task
