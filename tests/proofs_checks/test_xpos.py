"""xPos's claims: why falsifiers fall, the figures they quote, and wrong formulas."""

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers.xpos import CLAIMS
from proofs_checks.runner import Result
from theory.encodings import hope, rotary, xpos

COUNTEREXAMPLES = {
    "xpos-1": {
        "the key scaled like the query": r"entry 1: 5.18\d*e-6 != 0.0154\d* at D = 4, i = 4, lambda = 1",
        "the key not scaled": r"entry 1: 0.00028\d* != 0.0154\d* at D = 4, i = 4, lambda = 1",
    },
    "xpos-2": {
        "bounded in both directions": r"plane 0: the size is 3.500 at D = -512, 1.834E\+106 at D = -100000",
        "zeta inverted": r"plane 0: the size is 3.500 at D = 512, 1.834E\+106 at D = 100000",
        "one plane more": r"plane 31: the size is 1.000 at D = 512",
    },
    "xpos-3": {
        "finite up to 100000": r"position 100001 is 1.838E\+106; float32 ends at 3.403E\+38, .* at 36261",
        "one position earlier": r"position 36260 is 3.397E\+38; float32 ends at 3.403E\+38, .* at 36261",
    },
    "xpos-4": {
        "with a rotation": r"diag of xPos at the rates .*, entry 1: 0.00033\d* != -0.00032\d* at D = 4, omega = 4",
    },
}

FIGURES = [
    ("xpos-2", r"zeta is in \[2/7, 1\) = \[0.2857, 1\)"),
    ("xpos-3", r"\(7/2\)\^36260 < .* <= \(7/2\)\^36261"),
    ("xpos-3", r"in float16 from 4533; positions centred at 0 reach 72521 in all"),
    ("xpos-4", r"any rates a, b"),
]

RIGHT_KERNEL, RIGHT_ACTIONS, RIGHT_FIRST = xpos.kernel, xpos.actions, xpos.first_infinite_key


def _plain_actions(position: sp.Expr, *, frequency: sp.Expr, rate: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    return rotary.rotation(position * frequency), rotary.rotation(position * frequency)


WRONG: list[tuple[ModuleType, str, Any, str]] = [
    (xpos, "actions", lambda position, **law: RIGHT_ACTIONS(position, **law)[::-1], "xpos-1"),
    (xpos, "actions", _plain_actions, "xpos-1"),
    (xpos, "kernel", lambda offset, **law: RIGHT_KERNEL(-offset, **law), "xpos-1"),
    (xpos, "kernel", lambda offset, **law: RIGHT_KERNEL(2 * offset, **law), "xpos-2"),
    (xpos, "kernel", lambda offset, **law: RIGHT_KERNEL(2 * offset, **law), "xpos-4"),
    (xpos, "zeta", lambda plane, *, head_dim: 2 * plane / head_dim + sp.Rational(2, 5), "xpos-2"),
    (xpos, "zeta", lambda plane, *, head_dim: (sp.sympify(plane) / head_dim + 1) / 2, "xpos-2"),
    (xpos, "rate", lambda plane, *, head_dim: -sp.log(xpos.zeta(plane, head_dim=head_dim)) / 256, "xpos-2"),
    (xpos, "first_infinite_key", lambda plane, **format: RIGHT_FIRST(plane, **format) + 1, "xpos-3"),
    (hope, "kernel", lambda offset, *, rate, damping: sp.exp(-offset * damping) * sp.eye(2), "xpos-4"),
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
def test_the_facts_quote_the_figure(claim_id: str, figure: str, result_of: Callable[[str], Result]) -> None:
    evidence = result_of(claim_id).evidence
    assert evidence is not None
    assert any(re.search(figure, fact) for fact in evidence.facts), evidence.facts


@pytest.mark.parametrize(
    ("module", "name", "wrong", "claim_id"), WRONG, ids=[f"{row[1]}-{row[3]}-{n}" for n, row in enumerate(WRONG)]
)
def test_wrong_formula_is_refuted(
    module: ModuleType, name: str, wrong: Any, claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = next(claim for claim in CLAIMS if claim.id == claim_id)
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(Refuted, match=r"\d"):
        claim.check(**claim.holds)
