"""The claims on text-based modular addition: counterexamples, the split of the released script, the exact encoder."""

import random

import pytest
import sympy as sp

from lengthgen.empirical.studies.modular_addition import texts
from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.consequences import modular_encoder
from lengthgen.proofs_checks.papers import modular


def decide(claim_id, **changes):
    claim = registry.find(claim_id)
    return claim.check(**{**claim.holds, **changes})


def test_a_label_that_is_not_the_sum_has_another_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "label", lambda pair, modulus: pair[0])
    with pytest.raises(Refuted, match=r"not 36\.70 %"):
        decide("mod-2")


@pytest.mark.parametrize("seed", modular.SEEDS)
def test_the_split_is_that_of_python_s_random_with_the_seed(seed: int) -> None:
    shuffled = [(a, b) for a in range(97) for b in range(97)]
    random.seed(seed)
    random.shuffle(shuffled)
    assert texts.ordered_split(seed) == (shuffled[:4704], shuffled[4704:])


def test_the_mean_loses_the_order_too():
    assert decide("mod-1", readout=modular_encoder.read_mean).reach == "up to 4 tokens"


def test_shifts_are_lost_without_positions_even_at_cls():
    at_cls = {"readout": modular_encoder.read_cls}
    assert decide("mod-7", label=lambda query, key: 0, **at_cls)
    with pytest.raises(Refuted, match=r"x1: .* at shift 0, .* at shift 1"):
        decide("mod-7", **at_cls)


def test_the_example_of_an_encoder_of_one_token_is_what_its_functions_give():
    """x1 is 4; layer 0: v = 3 * 4, state 4 + 12^2 = 148; layer 1: v = 3 * 148 - 1, state 148 + 443^2."""
    [state] = modular_encoder.encode([sp.Symbol("x1")], [1], lambda query, key: key - query)
    assert modular_encoder.in_example(state) == 148 + 443**2


@pytest.mark.parametrize(
    ("term", "logits", "value"),
    [
        ("disagreement", [(3, 1, 2), (9, 0, 1)], 0),
        ("disagreement", [(3, 1, 2), (0, 1, 9)], 1),
        ("disagreement", [(1, 2, 0), (5, 6, 4), (0, 2, 3)], 1),
        ("squared_difference", [(1, 2, 3), (1, 2, 6), (1, 2, 3)], 2),
        ("expected_disagreement", [(0, 0, 0), (0, 0, 0)], sp.Rational(2, 3)),
    ],
)
def test_terms_of_the_loss(term, logits, value):
    assert getattr(modular_encoder, term)([tuple(map(sp.Integer, row)) for row in logits]) == value
