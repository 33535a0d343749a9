"""Tasks that come with the project, and the names by which tasks are loaded."""

from circuits.tasks.catalogue import TASKS
from circuits.tasks.spec import TaskSpec, load, parse_task

__all__ = ["TASKS", "TaskSpec", "load", "parse_task"]
