"""Order of encodings of arXiv 2305.19466: NoPE first, whatever the task."""

from collections.abc import Mapping

from lengthgen.circuits.theories.kinds import ABSOLUTE, encoding_name
from lengthgen.circuits.theories.theory import Guess, Question, Theory, abstain

ORDER: tuple[frozenset[str], ...] = (frozenset({"nope"}), frozenset({"t5"}), frozenset({"alibi"}), ABSOLUTE | {"rope"})
"""Encodings from best to worst; those of one set are equal. NoPE and T5 may also be equal according to the paper."""
FIRST, LAST = 0.8, 0.2
"""Probabilities of the first and the last place; those between are evenly spaced. Chosen before any score, not fitted
to any result ([F])."""
PROBABILITIES: Mapping[str, float] = {
    name: FIRST + (LAST - FIRST) * place / (len(ORDER) - 1) for place, names in enumerate(ORDER) for name in names
}
"""Name of an encoding -> probability that a model with it generalizes."""


def guess(question: Question) -> Guess:
    """Return the probability of the encoding's place in the order, whatever the task."""
    encoding = encoding_name(question.encoding)
    if encoding not in PROBABILITIES:
        return abstain(f"the order has no place for {encoding}")
    place = next(place for place, names in enumerate(ORDER, start=1) if encoding in names)
    return Guess(probability=PROBABILITIES[encoding], reason=f"{encoding} has place {place} of {len(ORDER)}")


THEORY = Theory(
    name="encodings-order",
    title="order of encodings",
    statement="Without positions Transformers generalize best, then with T5's bias, then with ALiBi; rotary and "
    "absolute positions are worst, whatever the task.",
    label="P",
    source="2305.19466",
    domain="NoPE, T5, ALiBi, rotary and absolute codes, any task. The authors saw the order in results that are among "
    "the published ones; the probabilities of the places are ours.",
    guess=guess,
)
