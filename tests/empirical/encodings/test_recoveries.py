"""The torch sides of exact recoveries agree, and would not if a parameter were another."""

import pytest
import torch

from lengthgen.empirical.encodings import recoveries
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings.catalogue import with_formulas


@pytest.mark.parametrize(("by", "of"), recoveries.RECOVERIES)
def test_the_logits_agree(by, of):
    assert recoveries.difference(by, of) < recoveries.TOLERANCE


@pytest.mark.parametrize(("by", "of"), recoveries.RECOVERIES)
def test_the_logits_of_another_special_encoding_disagree(by, of, monkeypatch):
    make, other = recoveries.RECOVERIES[by, of], Rotary(head_dim=recoveries.HEAD_DIM, base=50.0)
    monkeypatch.setitem(recoveries.RECOVERIES, (by, of), lambda: (make()[0], other))
    assert recoveries.difference(by, of) > 1e-3


def test_each_pair_is_declared_by_its_symbolic_side():
    declared = {(encoding.name, recovery.of) for encoding in with_formulas() for recovery in encoding.recovers}
    assert set(recoveries.RECOVERIES) <= declared


def test_a_parameter_off_by_a_millionth_is_seen(monkeypatch):
    make = recoveries.RECOVERIES["fox", "alibi"]

    def slightly_off():
        general, special = make()
        with torch.no_grad():
            general.offset += 1e-6
        return general, special

    monkeypatch.setitem(recoveries.RECOVERIES, ("fox", "alibi"), slightly_off)
    assert recoveries.difference("fox", "alibi") > recoveries.TOLERANCE


def test_the_width_is_that_of_all_heads_together():
    assert recoveries.WIDTH == recoveries.HEADS * recoveries.HEAD_DIM
