"""Tasks: those that come with the project, and how one is named and loaded."""

from circuits.tasks.catalogue import TASKS
from circuits.tasks.spec import TaskSpec, load, parse_task

__all__ = ["TASKS", "TaskSpec", "load", "parse_task"]
