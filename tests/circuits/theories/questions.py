"""Questions about tasks of the project."""

from circuits.task import Task
from circuits.tasks import TASKS
from circuits.tasks.published.subject import Subject
from circuits.theories.theory import Question


def subject(name: str, *, with_states: str | None = None) -> Subject:
    """Subject that is a task of the project; another one may stand for its reading that writes states."""
    return Subject(
        name=name, words="", arxiv="", task=TASKS[name], with_states=TASKS[with_states] if with_states else None
    )


def question(name: str, encoding: str, train: int = 3, test: int = 9, *, with_states: str | None = None) -> Question:
    """Question about a task of the project."""
    return Question(subject=subject(name, with_states=with_states), encoding=encoding, train=train, test=test)


def about(task: Task, encoding: str, train: int = 3, test: int = 9) -> Question:
    """Question about a task."""
    of_task = Subject(name=task.name, words="", arxiv="", task=lambda: task)
    return Question(subject=of_task, encoding=encoding, train=train, test=test)
