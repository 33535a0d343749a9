"""Theories that look at the encoding alone, or at an attention pattern in place of a task.

The order of encodings (arXiv 2305.19466): NoPE first, whatever the task. The min-degree interpolator (arXiv
2410.08898): what gradient descent learns in position-only linear attention.
"""

from collections.abc import Mapping

from lengthgen.circuits.encoding_spec import NoRelation, parse_encoding, relation_of
from lengthgen.circuits.tasks.published.subjects import Subject
from lengthgen.empirical.studies.theories.rival import (
    ABSOLUTE,
    Guess,
    Question,
    Theory,
    abstain,
    encoding_name,
    no,
    yes,
)
from lengthgen.theory.encodings.encoding import EncodingError
from lengthgen.theory.learning.plaa import PlaaError, min_degree_interpolator, relation_basis
from lengthgen.theory.pattern import from_formula

ORDER: tuple[frozenset[str], ...] = (frozenset({"nope"}), frozenset({"t5"}), frozenset({"alibi"}), ABSOLUTE | {"rope"})
"""Encodings from best to worst; those of one set are equal. NoPE and T5 may also be equal according to the paper."""
FIRST, LAST = 0.8, 0.2
"""Probabilities of the first and the last place; those between are evenly spaced. Chosen before any score, not fitted
to any result ([F])."""
PROBABILITIES: Mapping[str, float] = {
    name: FIRST + (LAST - FIRST) * place / (len(ORDER) - 1) for place, names in enumerate(ORDER) for name in names
}
"""Name of an encoding -> probability that a model with it generalizes."""

PREFIX = "pattern "
"""Beginning of the name of a subject that asks for an attention pattern; its formula follows."""
LARGEST = 12
"""Largest tested length for which the interpolator is computed; exact fractions take time n^6."""


def guess_by_order(question: Question) -> Guess:
    """Return the probability of the encoding's place in the order, whatever the task."""
    encoding = encoding_name(question.encoding)
    if encoding not in PROBABILITIES:
        return abstain(f"the order has no place for {encoding}")
    place = next(place for place, names in enumerate(ORDER, start=1) if encoding in names)
    return Guess(probability=PROBABILITIES[encoding], reason=f"{encoding} has place {place} of {len(ORDER)}")


ENCODINGS_ORDER = Theory(
    name="encodings-order",
    title="order of encodings",
    statement="Without positions Transformers generalize best, then with T5's bias, then with ALiBi; rotary and "
    "absolute positions are worst, whatever the task.",
    label="P",
    source="2305.19466",
    domain="NoPE, T5, ALiBi, rotary and absolute codes, any task. The authors saw the order in results that are among "
    "the published ones; the probabilities of the places are ours.",
    guess=guess_by_order,
)


def pattern_subject(formula: str) -> Subject:
    """Return the task of position-only linear attention whose target is an attention pattern A(i, j)."""
    pattern = from_formula(formula)
    return Subject(
        name=f"{PREFIX}{pattern.name}",
        words=f"the sum of x_i x_j A(i, j) over i <= j, where A(i, j) = {pattern.name} and j is the last place",
        arxiv="2410.08898",
        why_not="its output is a number",
    )


def guess_by_min_degree(question: Question) -> Guess:
    """Return yes iff the min-degree interpolator of the encoding's basis is the target at the tested length."""
    name = question.subject.name
    if not name.startswith(PREFIX):
        return abstain("the interpolator is defined for position-only linear attention, which the task is not")
    if question.test > LARGEST:
        return abstain(f"the interpolator is computed up to length {LARGEST}, not {question.test}")
    target = from_formula(name.removeprefix(PREFIX)).matrix(question.test)
    try:
        labels = relation_of(parse_encoding(question.encoding), None).labels(question.test, scale=question.test)
        basis = relation_basis(labels)
        learned = basis.matrix(min_degree_interpolator(basis, target, training_scale=question.train))
    except (EncodingError, NoRelation) as error:
        return abstain(f"the encoding has no basis of patterns: {error}")
    except PlaaError as error:
        return abstain(f"nothing can be learned: {error}")
    wrong = [length for length in range(1, question.test + 1) if (learned - target)[:, length - 1].any()]
    if not wrong:
        return yes("the min-degree interpolator of the encoding's patterns is the target")
    return no("the min-degree interpolator of the encoding's patterns is not the target", breaks_at=wrong[0])


MIN_DEGREE = Theory(
    name="min-degree",
    title="min-degree interpolator",
    statement="Gradient descent on position-only linear attention learns, among all combinations of the encoding's "
    "patterns that fit the training lengths, the one of least degree.",
    label="P",
    source="2410.08898",
    domain=f"attention patterns as targets (subjects of `pattern_subject`) up to length {LARGEST}; it abstains for "
    "every published task",
    guess=guess_by_min_degree,
)
