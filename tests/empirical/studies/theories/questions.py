"""Questions about small subjects, for tests of theories."""

from collections.abc import Callable
from functools import partial

from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.studies.theories.rival import Question


def about(
    encoding: str,
    *,
    name: str = "own",
    arxiv: str = "",
    language: str | None = None,
    task: str | Callable[[], Task] | None = None,
    with_states: str | None = None,
    train: int = 50,
    test: int = 100,
) -> Question:
    """Return a question about a subject with this language, or with the task of the catalogue that has this name."""
    subject = Subject(
        name=name,
        words="",
        arxiv=arxiv,
        task=partial(load, task) if isinstance(task, str) else task,
        why_not="" if task else "a test",
        language=language,
        with_states=partial(load, with_states) if with_states else None,
    )
    return Question(subject=subject, encoding=encoding, train=train, test=test)
