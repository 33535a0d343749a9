"""Sequential tasks, their circuits, and Sequential Representation Complexity (SRC)."""

from circuits.task import Task, TaskError

__all__ = ["Task", "TaskError"]
