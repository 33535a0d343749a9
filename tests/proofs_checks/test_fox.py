"""The claims on FoX: counterexamples, figures, and wrong formulas that they refute."""

import pytest

from lengthgen.proofs_checks import registry
from lengthgen.theory.encodings import paths


def test_a_threshold_that_prunes_less_is_not_called_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """A threshold that prunes less keeps the bound, but is not the formula: the check does not decide."""
    right = paths.fox_pruning_threshold
    monkeypatch.setattr(paths, "fox_pruning_threshold", lambda **law: right(**law) - law["bound"])
    claim = registry.find("fox-9")
    with pytest.raises(Exception, match="no row found that loses more than eps"):
        claim.check(**claim.holds)
