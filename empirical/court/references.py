"""References and controls of the court: probabilities that are computed from outcomes, and so are no theories.

Base rates are what every theory must beat.  A base rate never sees the task that it is asked about, save the one by
task, which sees its other cells.  Controls show that the court can tell right from wrong.
"""

from collections.abc import Callable, Sequence

from lengthgen.circuits.rivals.rival import SURE
from lengthgen.empirical.court.outcomes import Outcome

BASE_RATE = "base-rate"
"""Reference that verdicts compare a theory with."""
REFERENCES: dict[str, str] = {
    BASE_RATE: "share of generalizing runs in the cells of all other tasks",
    "base-rate-encoding": "the same, in the cells of other tasks with the same encoding",
    "base-rate-evidence": "the same, in the cells of other tasks of the same data set",
    "base-rate-task": "the same, in the other cells of the same task",
}
"""Name of each base rate -> what it says."""
CONTROLS = {
    "opposite-of-src": "the opposite of the literal conjecture: must be refuted",
    "fed-with-answers": "knows the outcomes: must be supported",
    "opposite-of-answers": "knows the outcomes and says the opposite: must be refuted",
}
"""Name of each control -> what it is."""


def base_rates(judged: Sequence[Outcome]) -> dict[str, list[float]]:
    """Return the probabilities of every base rate for cells with a fitting run, (successes + 1) / (cells + 2)."""

    def rates(counts: Callable[[Outcome, Outcome], bool]) -> list[float]:
        shares = [[other.share for other in judged if counts(outcome, other)] for outcome in judged]
        return [(sum(of_others) + 1) / (len(of_others) + 2) for of_others in shares]

    return {
        BASE_RATE: rates(lambda cell, other: _task(cell) != _task(other)),
        "base-rate-encoding": rates(
            lambda cell, other: _task(cell) != _task(other) and _encoding(cell) == _encoding(other)
        ),
        "base-rate-evidence": rates(
            lambda cell, other: _task(cell) != _task(other) and cell.cell.evidence == other.cell.evidence
        ),
        "base-rate-task": rates(lambda cell, other: cell is not other and _task(cell) == _task(other)),
    }


def controls(judged: Sequence[Outcome], literal: Sequence[float | None]) -> dict[str, list[float | None]]:
    """Return the probabilities of every control.

    Args:
        judged: outcomes of cells with a fitting run.
        literal: probabilities of the theory `src` for the same cells.
    """
    answers = [SURE if 2 * outcome.generalizes > outcome.fit else 1 - SURE for outcome in judged]
    return {
        "opposite-of-src": [None if probability is None else 1 - probability for probability in literal],
        "fed-with-answers": [*answers],
        "opposite-of-answers": [1 - answer for answer in answers],
    }


def _task(outcome: Outcome) -> str:
    return outcome.cell.question.subject.name


def _encoding(outcome: Outcome) -> str:
    return outcome.cell.question.encoding
