"""The exact encoder of the claims on modular addition: its counterexamples, and what else keeps or loses the order."""

from fractions import Fraction

import pytest
import sympy as sp

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.papers.modular_encoder import (
    RATIONAL,
    SYMBOLIC,
    disagreement,
    encode,
    no_label,
    offset,
    read_cls,
    read_mean,
    squared_difference,
)


def decide(claim_id, **changes):
    claim = registry.find(claim_id)
    return claim.check(**{**claim.holds, **changes})


def test_the_mean_loses_the_order_too():
    assert decide("mod-1", readout=read_mean).reach == "up to 4 tokens"


def test_shifts_are_lost_without_positions_even_at_cls():
    assert decide("mod-7", readout=read_cls, label=no_label)
    with pytest.raises(Refuted, match=r"x1: .* at shift 0, .* at shift 1"):
        decide("mod-7", readout=read_cls, label=offset)


def test_the_symbolic_encoder_is_the_rational_one():
    states = [Fraction(2), Fraction(-3)]
    exact = encode(RATIONAL, states, [0, 4], offset)
    names = sp.symbols("a b")
    expression = encode(SYMBOLIC, names, [0, 4], offset)[1]
    for layer in (0, 1):
        expression = expression.replace(
            sp.Function(f"w{layer}"),
            lambda query, key, label, layer=layer: 1 + (query + 2 * key + layer) ** 2 + 1 / (1 + label**2),
        )
        expression = expression.replace(sp.Function(f"v{layer}"), lambda key, layer=layer: 3 * key - layer)
        expression = expression.replace(sp.Function(f"f{layer}"), lambda state, attended: state + attended**2)
    value = expression.subs(dict(zip(names, (2, -3), strict=True)))
    assert sp.Rational(exact[1].numerator, exact[1].denominator) == sp.nsimplify(value)


@pytest.mark.parametrize(
    ("logits", "differs"),
    [
        ([(3, 1, 2), (9, 0, 1)], 0),
        ([(3, 1, 2), (0, 1, 9)], 1),
        ([(1, 2, 0), (5, 6, 4), (0, 2, 3)], 1),
    ],
)
def test_disagreement_is_that_of_the_largest_logits(logits, differs):
    assert disagreement([tuple(map(sp.Integer, row)) for row in logits]) == differs


def test_the_squared_difference_is_a_mean_over_pairs_and_classes():
    logits = [tuple(map(sp.Integer, row)) for row in ((1, 2, 3), (1, 2, 6), (1, 2, 3))]
    assert squared_difference(logits) == 2
