"""The claims on YaRN: counterexamples, figures, and wrong formulas that they refute."""

import pytest
import sympy as sp

from lengthgen.theory.encodings import rotary


def test_a_range_without_extent_is_refused() -> None:
    law = {"alpha": sp.Integer(1), "beta": sp.Integer(32)}
    with pytest.raises(ValueError, match="no ramp: it would fall from plane 0 to plane 0"):
        rotary.yarn_index_range(8, trained_length=sp.Integer(4), base=10000, **law)
    with pytest.raises(ValueError, match="no ramp: it would fall from plane 10 to plane 7"):
        rotary.yarn_index_range(8, trained_length=sp.Integer(4096), base=3, **law)
