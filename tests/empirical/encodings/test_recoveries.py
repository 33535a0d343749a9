"""The torch sides of exact recoveries agree, and would not if a parameter were another."""

from dataclasses import replace

import pytest

from lengthgen.empirical.encodings import recoveries
from lengthgen.empirical.encodings.rotary import Rotary
from lengthgen.theory.encodings.catalogue import with_formulas


@pytest.mark.parametrize(("by", "of"), recoveries.RECOVERIES)
def test_the_logits_agree_and_those_of_another_special_encoding_do_not(by, of, monkeypatch):
    assert recoveries.difference(by, of) < recoveries.TOLERANCE
    general, _ = recoveries.modules_of(by, of)
    other = Rotary(head_dim=recoveries.HEAD_DIM, base=50.0)
    monkeypatch.setattr(recoveries, "modules_of", lambda *_: (general, other))
    assert recoveries.difference(by, of) > 1e-3


def test_each_pair_is_declared_by_its_symbolic_side():
    declared = {(encoding.name, recovery.of) for encoding in with_formulas() for recovery in encoding.recovers}
    assert set(recoveries.RECOVERIES) <= declared
    assert recoveries.WIDTH == recoveries.HEADS * recoveries.HEAD_DIM


def test_a_parameter_off_by_a_millionth_is_seen(monkeypatch):
    exact = recoveries.RECOVERIES["fox", "alibi"]
    off = replace(exact, parameters={**exact.parameters, "offset": exact.parameters["offset"] + 1e-6})
    monkeypatch.setitem(recoveries.RECOVERIES, ("fox", "alibi"), off)
    assert recoveries.difference("fox", "alibi") > recoveries.TOLERANCE
