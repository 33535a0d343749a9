"""The claims on position interpolation: counterexamples, figures, and wrong formulas that they refute."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers import interpolation as claims
from proofs_checks.runner import Result
from theory.encodings import interpolation

COUNTEREXAMPLES = {
    "pi-1": {
        "base times s": r"d = 2: .* entry 1: 1.00000 != 0.250000 at s = 4",
        "frequencies times s": r"d = 2: .* entry 1: 4.00000 != 0.250000 at s = 4",
    },
    "pi-2": {
        "half of it": r"d = 128: error 0.4939 > 0.2499; d = 2: error 0.1224 > 0.0625",
        "every plane as fast as the fastest": r"2 planes: .* 1.00000 != 5.00000 at theta1 = 1, theta2 = 3",
    },
    "pi-3": {
        "the printed constant": r"d = 128, c = 10000: 1.737 is less than the least constant 1.999",
        "planes without end": r"d = 128, c = 10000: the sum is 3.998308025, not 3.998308065",
        "half the exponent": r"d = 128, c = 10000: the sum is 3.998308025, not 7.4607",
    },
    "pi-4": {
        "1 at d = 128": r"d = 128: the ratio is 0.8689565269, not above 1",
        "limit 1": r"limit .* 1.00000 != 1.00034",
        "never a bound": r"d = 999999999998: the ratio is 1.00000001, not below 1",
    },
    "pi-5": {
        "600 times": r"d = 128, s = 3643: the bounds are 571.587 times apart, not 600",
        "571 times at d = 64 too": r"d = 64, s = 3901: the bounds are 281.574 times apart, not 571",
    },
    "pi-6": {
        "whatever s": r"0.408082 != 0.283662 at i = 3, theta = 5, u = 4",
        "s^2 times less": r"0.408082 != -0.110387 at i = 3, theta = 5, u = 4",
    },
}

FIGURES = [
    ("pi-2", r"as printed: .*d = 128: error 0\.4939 > 0\.4343; d = 2: error 0\.1224 > 0\.00679?"),
    ("pi-2", r"d = 128: error 0\.4939 <= 0\.4998; d = 2: error 0\.1224 <= 0\.125"),
    ("pi-4", r"0\.869 at d = 128, 0\.965 at d = 512; below 1 up to d = 1842068062, above from d = 1842068064"),
    ("pi-5", r"the least B\(s\)/d is 1\.116, at s = 3643"),
    ("pi-5", r"571\.6 times apart, by the printed constant 657\.8"),
]

RIGHT_CONSTANT, RIGHT_SUM = interpolation.error_constant, interpolation.square_sum

WRONG: list[tuple[str, Callable[..., Any], str]] = [
    ("position", lambda index, *, scale: index / scale**2, "pi-1"),
    ("position", lambda index, *, scale: index, "pi-6"),
    ("frequencies", lambda head_dim, base, *, scale: [scale] * (head_dim // 2), "pi-1"),
    ("linear", lambda at, *, ends, values: (values[0] + values[1]) / 2, "pi-2"),
    ("linear", lambda at, *, ends, values: values[0], "pi-2"),
    ("error_constant", lambda frequencies: 2 * RIGHT_CONSTANT(frequencies), "pi-2"),
    ("error_constant", lambda frequencies: sp.Add(*frequencies) / 2, "pi-2"),
    ("error_constant", lambda frequencies: 2 * RIGHT_CONSTANT(frequencies), "pi-5"),
    ("printed_error_constant", lambda *, head_dim, base: head_dim / (4 * sp.log(base)), "pi-4"),
    (
        "closed_error_constant",
        lambda *, head_dim, base: 1 / (2 * (1 - sp.sympify(base) ** (sp.Integer(-2) / head_dim))),
        "pi-3",
    ),
    ("square_sum", lambda *, head_dim, base: 1 / (1 - sp.sympify(base) ** (sp.Integer(-4) / head_dim)), "pi-3"),
    ("square_sum", lambda *, head_dim, base: 2 * RIGHT_SUM(head_dim=head_dim, base=base), "pi-4"),
]


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    falsifiers = {falsifier.name: falsifier for falsifier in result_of(claim_id).falsifiers}
    assert set(falsifiers) == set(COUNTEREXAMPLES[claim_id])
    for name, reason in COUNTEREXAMPLES[claim_id].items():
        assert falsifiers[name].rejected
        assert re.search(reason, falsifiers[name].reason), falsifiers[name].reason


@pytest.mark.parametrize(("claim_id", "figure"), FIGURES)
def test_the_facts_quote_the_figures(claim_id: str, figure: str, result_of: Callable[[str], Result]) -> None:
    result = result_of(claim_id)
    assert result.evidence is not None
    assert any(re.search(figure, text) for text in (*result.evidence.facts, result.reason)), result.evidence.facts


@pytest.mark.parametrize(("name", "wrong", "claim_id"), WRONG, ids=[f"{row[0]}-{row[2]}" for row in WRONG])
def test_a_wrong_formula_is_refuted(
    name: str, wrong: Callable[..., Any], claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpolation, name, wrong)
    claim = next(claim for claim in claims.CLAIMS if claim.id == claim_id)
    with pytest.raises(Refuted, match=r"\d"):
        claim.check(**claim.holds)
