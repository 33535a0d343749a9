"""The counterexample that corrects our reading of the min-degree bias, worked by hand."""

from collections.abc import Callable

import numpy as np

from lengthgen.proofs_checks.result import Result


def test_the_counterexample_to_independence_alone_holds_by_hand(
    result_of: Callable[[str], Result],
) -> None:
    """U = diag(0,1,0), diag(1,0,0), I on the first two columns: target U_1 is fitted by (1 - s, -s, s), any s."""
    assert "target U_1: descent ends at p = (2/3, -1/3, 1/3)" in result_of("plaa-2").reason
    steps = np.linspace(-1, 1, 2001)
    norms = (1 - steps) ** 2 + steps**2 + steps**2
    assert abs(steps[norms.argmin()] - 1 / 3) < 1e-3
    of_largest_degree = steps**2 + steps**2
    assert abs(steps[of_largest_degree.argmin()]) < 1e-12
