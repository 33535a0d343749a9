"""RASP-L conjecture of arXiv 2310.16028: tasks with a short RASP-L program for all lengths generalize."""

from circuits.theories.cited import classification
from circuits.theories.theory import Guess, Question, Theory, abstain, no, yes

NAME = "rasp-l"


def guess(question: Question) -> Guess:
    """Return whether the authors give a short RASP-L program for the task; the encoding does not matter.

    No program is searched for: that a search finds none among the shortest would say little, since the conjecture does
    not say how short is short enough ([F]).
    """
    authors = classification(NAME)
    answer = authors.answers["any"].get(question.subject.name)
    if answer is None:
        return abstain("the authors neither give a RASP-L program for the task nor say that there is none")
    if answer:
        return yes(f"the authors give a short RASP-L program (arXiv {authors.arxiv})")
    return no(f"the authors know of no short RASP-L program (arXiv {authors.arxiv})")


THEORY = Theory(
    name=NAME,
    title="RASP-L",
    statement="Transformers tend to generalize if a short RASP-L program solves the task at all lengths.",
    label="P",
    source="2310.16028",
    domain="tasks that the authors classify, with any encoding; that tasks without a short program fail is read from "
    "their examples",
    guess=guess,
)
