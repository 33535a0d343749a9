"""Tasks that come with the project, and the names by which tasks are loaded."""

from circuits.tasks.catalogue import TASKS
from circuits.tasks.spec import TaskSpec, load, load_machine, load_two_scales, parse_task

__all__ = ["TASKS", "TaskSpec", "load", "load_machine", "load_two_scales", "parse_task"]
