"""Theories of Sequential Representation Complexity (SRC): our reading of the conjecture of arXiv 2510.04130, amended.

All are computed by lengthgen.circuits.prediction, for long inputs from a small copy of the question. The amendment that
reads counts is in lengthgen.empirical.studies.theories.counts.

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
from lengthgen.circuits.prediction_record import Prediction, VariantPrediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.circuits.task import Task
from lengthgen.empirical.studies.theories.rival import Guess, Question, Theory, abstain, no, yes
from lengthgen.infrastructure.errors import LengthgenError

EXACT = 20
"""Largest tested scale that is not scaled down."""
LARGEST = 10
"""Tested scale of small copies; above `circuits.src.MAX_ARITY`, so that a step that reads all digits has no arity."""
MORE_PROMPTS = (1 << 14,)
"""Number of prompts of a sampled training scale that are tried before an operator entry counts as unseen."""
MAX_STEPS = 2_000_000_000
"""Largest number of counted steps of one search for a circuit: a few seconds on one core."""
DOMAIN = "every task that is expressible, with every encoding that has a relation of positions"
"""Domain of the theories that are computed from a circuit."""

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
    """
    return _required(_analysis(_make(question, with_states=with_states), scales_of(question).test))


def prediction_of(question: Question, *, with_states: bool = False) -> Prediction:
    """Return the prediction of lengthgen.circuits.prediction for the small copy of a question."""
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


def literal(question: Question) -> Guess:
    """Answer of our literal reading of the conjecture: yes iff the induced complexity is finite and does not grow."""

    def rule(prediction: Prediction) -> tuple[bool, int | None, str]:
        low, high = prediction.complexity_train, prediction.complexity_test
        return bool(prediction.literal), None, f"operators: {low:g} in training, {high:g} in the test"

    return _guess(question, rule)


def coverage(question: Question) -> Guess:
    """Answer if training must also show every label of relevant keys and every operator entry in use."""
    return _guess(question, _covered)


def selection(question: Question) -> Guess:
    """Answer if, besides, the labels and tokens that a step reads must select its operator."""
    return _guess(question, lambda prediction: _variant(prediction.selection))


def distractors(question: Question) -> Guess:
    """Answer if, besides coverage, irrelevant keys may show no pair of label and token beyond training."""
    return _guess(question, lambda prediction: _variant(prediction.distractors))


def steps(question: Question) -> Guess:
    """Answer of coverage for the reading of the task that writes its states, one after the other."""
    return _guess(question, _covered, with_states=True)


def _covered(prediction: Prediction) -> tuple[bool, int | None, str]:
    return prediction.breaks_at is None, prediction.breaks_at, prediction.why


def _variant(variant: VariantPrediction | None) -> tuple[bool, int | None, str]:
    assert variant is not None  # predictions with a relation have all variants
    return variant.generalizes, variant.breaks_at, variant.why


def _guess(
    question: Question, rule: Callable[[Prediction], tuple[bool, int | None, str]], *, with_states: bool = False
) -> Guess:
    """Return the answer of a rule: prediction -> it generalizes, the first scale at which it fails, the reason."""
    try:
        prediction = prediction_of(question, with_states=with_states)
    except Unanswered as reason:
        return abstain(str(reason))
    scales = scales_of(question)
    generalizes, breaks_at, why = rule(prediction)
    if generalizes:
        return yes(why + scales.words)
    return no(why + scales.words, breaks_at=breaks_at if scales.exact else None)


SRC_THEORIES = (
    Theory(
        name="src",
        title="SRC, literal",
        statement="Our literal reading of the conjecture: an encoding generalizes iff the complexity that it induces "
        "is finite and does not grow.",
        label="F",
        source="2510.04130",
        domain=DOMAIN,
        guess=literal,
    ),
    Theory(
        name="src-coverage",
        title="SRC with coverage",
        statement="As src, and training shows every label of a relevant key and every operator entry that is used.",
        label="F",
        source="2510.04130",
        domain=DOMAIN,
        guess=coverage,
    ),
    Theory(
        name="src-selection",
        title="SRC with selection",
        statement="As src-coverage, and what a step reads tells it which operator to apply.",
        label="F",
        source="",
        domain=DOMAIN,
        guess=selection,
    ),
    Theory(
        name="src-distractors",
        title="SRC without new distractors",
        statement="As src-coverage, and irrelevant keys show no pair of label and token beyond training.",
        label="F",
        source="",
        domain=DOMAIN,
        guess=distractors,
    ),
    Theory(
        name="src-steps",
        title="SRC of the states",
        statement="As src-coverage, of the task that writes its state after each symbol: depth may stand for steps.",
        label="F",
        source="",
        domain="regular languages and other tasks with a reading that writes states",
        guess=steps,
    ),
)
