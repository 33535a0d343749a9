"""Sequential tasks, the circuits that compute them, and the Sequential Representation Complexity (SRC) of a task."""

from lengthgen.circuits.task import Task, TaskError

__all__ = ["Task", "TaskError"]
