"""Protocol of theories of length generalization: a question in, a probability or an abstention out.

A question names a task, an encoding and two lengths. An answer is the probability that a model which fits its training
lengths is right at the tested length, or an abstention with its reason. So rival theories can be scored on the same
cells, whoever measured them. Theories speak about kinds of position encodings, by the names of encodings.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lengthgen.circuits.prediction_record import SURE
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.encodings.catalogue import called

NONE = frozenset({"nope"})
"""No position encoding."""
LEARNED_ABSOLUTE = frozenset({"ape", "offset-ape"})
"""Learned absolute codes, without and with random offsets in training; that papers mean both by one name is [F]."""
ABSOLUTE = LEARNED_ABSOLUTE | {"sinusoidal"}
"""Absolute codes, learned or sinusoidal."""
COUPLED = frozenset({"ipe", "ipe-sh"})
"""Codes that give positions with one role one label, as position coupling does ([F])."""


class TheoryError(LengthgenError):
    """Error of a theory: an unknown name, or a user's own theory that fails. The message is one line."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Does a model trained on a task with an encoding up to one length stay right up to another?

    Attributes:
        subject: the task, as its source writes it.
        encoding: text of an encoding (`lengthgen.circuits.encoding_spec.parse_encoding`).
        train: largest length of training.
        test: largest length of the test, above `train`.
    """

    subject: Subject
    encoding: str
    train: int
    test: int


@dataclass(frozen=True, kw_only=True)
class Guess:
    """Answer of a theory to a question.

    Attributes:
        probability: probability that a model which fits its training lengths is right at the tested length, in [0, 1];
            None if the theory abstains.
        reason: one sentence: why this answer, or why none.
        breaks_at: first length at which it predicts failure; None if it predicts none, or does not say where.

    Raises:
        TheoryError: the probability is not in [0, 1].
    """

    probability: float | None
    reason: str
    breaks_at: int | None = None

    def __post_init__(self) -> None:
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise TheoryError(f"a probability lies in 0..1, not {self.probability!r}")


def yes(reason: str) -> Guess:
    """Return the answer of a theory that says yes."""
    return Guess(probability=SURE, reason=reason)


def no(reason: str, *, breaks_at: int | None = None) -> Guess:
    """Return the answer of a theory that says no, with the length at which the model breaks if the theory says it."""
    return Guess(probability=1 - SURE, reason=reason, breaks_at=breaks_at)


def abstain(reason: str) -> Guess:
    """Return the answer of a theory whose domain does not contain the question."""
    return Guess(probability=None, reason=reason)


@dataclass(frozen=True, kw_only=True)
class Theory:
    """Theory of length generalization.

    Attributes:
        name: name on the command line.
        title: name in tables and figures.
        statement: what it says, in one or two plain sentences.
        label: "P" if a paper says it, "F" if the statement is our formalisation.
        source: arXiv id; empty if the theory is ours.
        domain: which questions it answers.
        guess: function from a question to the answer. It sees no outcome of any run.
    """

    name: str
    title: str
    statement: str
    label: str
    source: str
    domain: str
    guess: Callable[[Question], Guess]


def encoding_name(text: str) -> str:
    """Return the name of the encoding that a text names, without options; a name that is not registered unchanged."""
    name = text.partition("[")[0].strip()
    encoding = called(name)
    return name if encoding is None else encoding.name
