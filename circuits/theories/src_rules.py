"""Theories of Sequential Representation Complexity (SRC): the conjecture of arXiv 2510.04130 and its amendments.

All are computed by lengthgen.circuits.prediction at the scales of lengthgen.circuits.theories.scaled.  The amendment
that reads counts is in lengthgen.circuits.theories.counts.
"""

from collections.abc import Callable

from lengthgen.circuits.prediction_record import Prediction, VariantPrediction
from lengthgen.circuits.theories.scaled import Unanswered, prediction_of, scales_of
from lengthgen.circuits.theories.theory import Guess, Question, Theory, abstain, no, yes

DOMAIN = "every task that is expressible, with every encoding that has a relation of positions"
"""Domain of the theories that are computed from a circuit."""


def literal(question: Question) -> Guess:
    """Answer of the conjecture as it is written: yes iff the induced complexity is finite and does not grow."""

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
        statement="Length generalization iff the complexity that the encoding induces is finite and does not grow.",
        label="P",
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
