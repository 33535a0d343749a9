"""RASP-L conjecture of arXiv 2310.16028: tasks with a short RASP-L program for all lengths generalize."""

from collections.abc import Callable
from functools import cache

from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.theories.cited import classification
from lengthgen.circuits.theories.rasp_l_programs import HEADS, TESTS, examples, features, program
from lengthgen.circuits.theories.theory import Guess, Question, Theory, abstain, no, yes

NAME = "rasp-l"


@cache
def shortest_program(build: Callable[[], Task]) -> tuple[str, ...] | str | None:
    """Return the features of a program for the task that a function builds; None if none is right, or why not tried."""
    try:
        sample = examples(build())
    except TaskError as error:
        return f"programs cannot be tried: {error}"
    return program(sample, features(sample))


def guess(question: Question) -> Guess:
    """Return the authors' answer, or yes if a program was found; the encoding does not matter.

    That a search finds no program says little, since the conjecture does not say how short is short enough ([F]).
    """
    authors, subject = classification(NAME), question.subject
    answer = authors.answers["any"].get(subject.name)
    if answer is not None:
        verb = "give a short" if answer else "know of no short"
        return (yes if answer else no)(f"the authors {verb} RASP-L program (arXiv {authors.arxiv})")
    if subject.task is None:
        return abstain(f"the authors do not classify the task, and no program can be tried: {subject.why_not}")
    found_program = shortest_program(subject.task)
    if isinstance(found_program, str):
        return abstain(found_program)
    if found_program is None:
        return abstain(f"the authors do not classify the task, and no program of {HEADS} features was found")
    parts = ", ".join(["the last token", *found_program])
    return yes(f"a program was found, which is right at scales up to {TESTS[-1]}: a table of {parts}")


THEORY = Theory(
    name=NAME,
    title="RASP-L",
    statement="Transformers tend to generalize if a short RASP-L program solves the task at all lengths.",
    label="P",
    source="2310.16028",
    domain="tasks that the authors classify, and tasks for which enumeration finds a program, with any encoding; that "
    "tasks without a short program fail is read from the authors' examples",
    guess=guess,
)
