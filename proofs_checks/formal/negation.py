"""Proofs that false statements are false, each at one point: the false twins of lemmas, and what falsifiers say.

A lemma that presumes what cannot be would hold of nothing, and its twin as well.  So the twin, the lemma with 1 added
to its right side, is refuted at a point at which the hypotheses hold; a falsifier is where its sides differ besides.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import isqrt, prod
from typing import Any

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.proofs_checks.formal.lemma import Lemma
from lengthgen.proofs_checks.formal.terms import QUOTIENTS, Tree, number

_VALUES = tuple(map(Fraction, ("1", "3/2", "1/2", "2", "3/4")))
_TRIED = 2_000
_MARGIN = 0.001


class NoPointError(LengthgenError):
    """A false statement is given of which no point is found that refutes it; the message is one line."""


def twin_refuted(name: str, lemma: Lemma) -> str:
    """Coq text of the negation of the false twin of the lemma that has this name, and its proof.

    Raises:
        NoPointError: no point is found at which the hypotheses of the lemma hold.
    """
    steps, arguments = _at(lemma, _point(lemma, apart=False))
    return _negation(f"{name}_twin", lemma.twin, [*steps, f"exact (one_more _ _ ({name}{arguments}) (H{arguments}))"])


def refuted(name: str, statement: Lemma) -> str:
    """Coq text of the negation of a false statement, and its proof.

    Raises:
        NoPointError: no point is found at which its hypotheses hold and its sides differ.
    """
    steps, arguments = _at(statement, _point(statement, apart=True))
    return _negation(
        name,
        statement.statement,
        [f"assert (K : {statement.computed}) by ({statement.by_values('H')})", *steps, f"apart (K{arguments})"],
    )


def _negation(name: str, statement: str, steps: list[str]) -> str:
    body = "".join(f"  {step}.\n" for step in ["intros H", *steps])
    return f"Lemma {name} : ~ ({statement}).\nProof.\n{body}Qed."


def _at(lemma: Lemma, point: Mapping[str, Fraction]) -> tuple[list[str], str]:
    """Steps that prove the hypotheses of a lemma at a point, and the arguments by which it speaks of this point."""
    values = {symbol: number(value) for symbol, value in point.items()}
    laws = lemma.hypotheses_of(values)
    steps = [f"assert (P{n} : {law}) by away" for n, law in enumerate(laws)]
    arguments = [*(values[symbol] for symbol in lemma.names), *(f"P{n}" for n, _ in enumerate(laws))]
    return steps, "".join(f" {argument}" for argument in arguments)


def _point(lemma: Lemma, *, apart: bool) -> Mapping[str, Fraction]:
    """First point at which the hypotheses hold and, if they should be `apart`, the sides differ, with a margin."""
    for point in _points(lemma):
        try:
            bases = [_value(base, point) for base in lemma.bases]
            left, right = (_value(side, point) for side in lemma.computed_sides)
        except (OverflowError, ZeroDivisionError):
            continue
        if all(abs(base) > _MARGIN for base in bases) and (abs(left - right) > _MARGIN or not apart):
            return point
    raise NoPointError(f"no point is found at which this is refuted: {lemma.twin if not apart else lemma.statement}")


def _points(lemma: Lemma) -> Iterator[Mapping[str, Fraction]]:
    """Rational points at which the squares of the roots are as the lemma says."""
    roots = lemma.certificate["roots"]
    free = [symbol for symbol in lemma.names if symbol not in roots]
    for tried in range(_TRIED):
        digits = (tried // len(_VALUES) ** (n % 4) + n * (tried > 0) for n, _ in enumerate(free))
        point = {symbol: _VALUES[digit % len(_VALUES)] for symbol, digit in zip(free, digits, strict=True)}
        for root, square in roots.items():
            value = _value(square, point)
            exact = isinstance(value, Fraction) and value > 0
            sides = (isqrt(value.numerator), isqrt(value.denominator)) if exact else (0, 1)
            if Fraction(*sides) ** 2 != value:
                break
            point[root] = Fraction(*sides)
        else:
            yield point


def _value(tree: Tree, point: Mapping[str, Fraction]) -> Any:
    """Value of a tree without derivatives: exact, or a float if it has functions."""
    if isinstance(tree, str):
        return point[tree]
    head, *parts = tree
    match head:
        case "q":
            return Fraction(parts[0])
        case "+":
            return sum(_value(part, point) for part in parts)
        case "*":
            return prod(_value(part, point) for part in parts)
        case "^":
            return _value(parts[0], point) ** parts[1]
    argument = _value(parts[0], point)
    if head not in QUOTIENTS:
        return getattr(math, head)(argument)
    above, below = QUOTIENTS[head]
    return (getattr(math, above)(argument) if above else 1) / getattr(math, below)(argument)
