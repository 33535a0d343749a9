"""Tasks that come with the project, and the names by which tasks are loaded."""

from lengthgen.circuits.tasks.catalogue import TASKS
from lengthgen.circuits.tasks.spec import TaskSpec, load, load_machine, load_two_scales, parse_task

__all__ = ["TASKS", "TaskSpec", "load", "load_machine", "load_two_scales", "parse_task"]
