"""The claims on NTK-aware scaling: counterexamples, figures, and wrong formulas that they refute."""

from dataclasses import replace

import pytest

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.theory.encodings import rotary
from lengthgen.theory.relation import from_function


def test_a_relation_that_forgets_the_length_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    for law in (lambda key, query, _: query - key, lambda key, query, length: query + length * length):
        relation = from_function(law, name="wrong", scale_hint=True)
        with monkeypatch.context() as patch:
            patch.setattr(rotary, "DYNAMIC_NTK", replace(rotary.DYNAMIC_NTK, relation=relation))
            claim = registry.find("dntk-2")
            with pytest.raises(Refuted, match=r"\d+ pairs of distance and length have|have the labels"):
                claim.check(**claim.holds)
