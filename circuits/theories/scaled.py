"""Predictions of the SRC rule for questions about long inputs, asked of a small copy of the question.

SRC is computed from all prompts of a scale, so a question about a length above EXACT is scaled down: the tested scale
becomes LARGEST, and the trained scale keeps its share of it ([F]).  A task whose complexity changes first at a length
between the two is answered wrongly by this reading.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from lengthgen.circuits.analysis import Analysis, SearchStopped, analyse
from lengthgen.circuits.clock import Clock
from lengthgen.circuits.encoding_spec import NoRelation, parse_encoding
from lengthgen.circuits.prediction import predict
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.task import Task
from lengthgen.circuits.theories.theory import Question
from lengthgen.infrastructure.errors import LengthgenError

EXACT = 20
"""Largest tested scale that is not scaled down."""
LARGEST = 10
"""Tested scale of small copies; above `circuits.src.MAX_ARITY`, so that a step that reads all digits has no arity."""
MORE_PROMPTS = (1 << 14,)
"""Number of prompts of a sampled training scale that are tried before an operator entry counts as unseen."""
MAX_STEPS = 2_000_000_000
"""Largest number of counted steps of one search for a circuit: a few seconds on one core."""

Answer = TypeVar("Answer", Analysis, Prediction)


class Unanswered(LengthgenError):
    """The rule says nothing about a question; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Scales:
    """Trained and tested scale of the small copy of a question.

    Attributes:
        train, test: largest scale of training, and of the test.
        exact: True if they are those of the question itself.
    """

    train: int
    test: int
    exact: bool

    @property
    def words(self) -> str:
        """Remark after a reason: the scales of the computation; empty if they are those of the question."""
        return "" if self.exact else f" (computed at scales {self.train} and {self.test})"


def scales_of(question: Question) -> Scales:
    """Return the scales at which a question is computed: its own up to EXACT, else in the same ratio."""
    if question.test <= EXACT:
        return Scales(train=question.train, test=question.test, exact=True)
    train = max(2, round(LARGEST * question.train / question.test))
    return Scales(train=min(train, LARGEST - 1), test=LARGEST, exact=False)


def analysis_of(question: Question, *, with_states: bool = False) -> Analysis:
    """Return the analysis of a question's task up to the tested scale of its small copy.

    A task with a reference circuit is analysed by that circuit, any other by search.

    Args:
        question: the question.
        with_states: True for the reading of the task that also writes its states.

    Raises:
        Unanswered: the task is not expressible or has no such reading, or no circuit is found within MAX_STEPS.
    """
    return _required(_analysis(_make(question, with_states=with_states), scales_of(question).test))


def prediction_of(question: Question, *, with_states: bool = False) -> Prediction:
    """Return the prediction of lengthgen.circuits.prediction for the small copy of a question.

    Raises:
        Unanswered: as `analysis_of`, or the encoding has no relation.
    """
    make = _make(question, with_states=with_states)
    return _required(_prediction(make, question.encoding, scales_of(question)))


def _make(question: Question, *, with_states: bool) -> Callable[[], Task]:
    """Return the function that makes a question's task; raise Unanswered if there is none."""
    subject = question.subject
    make = subject.with_states if with_states else subject.task
    if make is None:
        raise Unanswered("it has no reading that writes its states" if with_states else subject.why_not)
    return make


def _required(answer: Answer | str) -> Answer:
    """Return an answer; raise Unanswered if it is the reason why there is none."""
    if isinstance(answer, str):
        raise Unanswered(answer)
    return answer


@cache
def _prediction(make: Callable[[], Task], encoding: str, scales: Scales) -> Prediction | str:
    """Return the prediction for an encoding, or the reason why there is none."""
    analysis = _analysis(make, scales.test)
    if isinstance(analysis, str):
        return analysis
    train, test = range(1, scales.train + 1), range(scales.train + 1, scales.test + 1)
    try:
        prediction = predict(analysis, parse_encoding(encoding), train=train, test=test, more_prompts=MORE_PROMPTS)
    except NoRelation as reason:
        return str(reason)
    return prediction.why if prediction.relation is None else prediction


@cache
def _analysis(make: Callable[[], Task], largest_scale: int) -> Analysis | str:
    """Return the analysis of a task, or the reason why there is none."""
    task = make()
    mode = Mode.DECLARED if task.reference else Mode.FREE
    try:
        return analyse(task, "unaligned", largest_scale, mode, clock=Clock(steps=MAX_STEPS))
    except SearchStopped as stopped:
        return str(stopped)
