"""The claims on HoPE: counterexamples, figures, and wrong formulas that they refute."""

import numpy as np

from lengthgen.theory.encodings import hope


def test_the_share_of_gaussian_content_is_met_by_drawing() -> None:
    """The standard error of the share among 10^6 pairs is 0.00044."""
    query, key = np.random.default_rng(0).normal(size=(2, 2, 10**6))
    margins = hope.falling_margins(query, key, rate=1.0, damping=1.1)
    assert abs(((margins[0] >= 0) & (margins[1] >= 0)).mean() - 0.269526) < 4 * 0.00044
