"""Cells and theories for tests of the court, which need no computation."""

from collections.abc import Callable, Mapping

from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.studies.court.cells import Cell
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory

PARITY = Subject(name="parity", words="", arxiv="", task=lambda: load("parity"))


def cell(
    *accuracies: Mapping[int, float],
    task: str = "task",
    encoding: str = "rope",
    evidence: str = "set",
    train: int = 10,
    test: int = 30,
    expressible: bool = True,
) -> Cell:
    """Cell with one run for each mapping from lengths to accuracies."""
    subject = Subject(name=task, words="", arxiv="", task=PARITY.task if expressible else None, why_not="a test")
    return Cell(
        evidence=evidence,
        question=Question(subject=subject, encoding=encoding, train=train, test=test),
        runs={f"seed {n}": accuracy for n, accuracy in enumerate(accuracies)},
    )


def right(share: float = 1.0) -> dict[int, float]:
    """Accuracies of a run that fits and has this accuracy beyond."""
    return {10: 1.0, 20: share, 30: share}


def theory(name: str, guess: Callable[[Question], float | None]) -> Theory:
    """Theory whose answers are given by a function."""
    return Theory(
        name=name,
        title=name,
        statement="",
        label="F",
        source="",
        domain="",
        guess=lambda question: Guess(probability=guess(question), reason=f"as {name} says"),
    )
