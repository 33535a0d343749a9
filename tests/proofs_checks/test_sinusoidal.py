"""The sinusoidal claims: why falsifiers fall, the figures they quote, and wrong formulas."""

import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers.sinusoidal import CLAIMS
from proofs_checks.runner import Result
from theory.encodings import rotary, sinusoidal

COUNTEREXAMPLES = {
    "sin-1": {
        "M_k transposed": r"M_k PE\(p\) = PE\(p \+ k\), entry 1: 0.53\d* != 0.91\d* at k = 4",
        "cosine first with the same M_k": r"entry 1: 0.84\d* != 0.40\d* at k = 4",
        "twice the shift": r"entry 1: -0.99\d* != 0.91\d* at k = 4",
    },
    "sin-2": {
        "monotone decreasing": r"width 16: .* 5.54310 at 3, 5.55968 at 4: it rises at 4, not at None",
        "it tells the direction": r"-0.957\d* != -1.245\d* at D = 4",
        "sum of sines": r"-0.957\d* != -0.287\d* at D = 4",
    },
    "sin-3": {
        "squared norm D": r"sum over D/2 planes, entry 1: 2.0+ != 4.0+ at D = 4",
        "sines alone, whose norm varies": r"entry 1: 0.082\d* != 1.0+ at omega = 4, p = 4",
    },
    "sin-4": {
        "real positions": r"width 2: positions 0 and 2\*pi share a code",
        "all frequencies in 2 pi Q": r"width 2: positions 0 and 3 share a code",
    },
    "sin-5": {
        "relative for every W": r"W = \[\[1, 0\], \[0, 1\]\]: logits .*: 31.18\d* != 36.00\d* at D = 4, i = 4, s = 1",
        "relative for W = I": r"W = \[\[1, 0\], \[0, 1\]\]: logits .*: 31.18\d* != 36.00\d* at D = 4, i = 4, s = 1",
        "not even for W = 0": r"W = \[\[0, 0\], \[0, 0\]\]: the logit is 0 at every shift",
    },
}

FIGURES = [
    ("sin-2", r"5.54310 at 3, 5.55968 at 4: it is not monotone"),
    ("sin-4", r"width 4: real positions 200\*pi apart share a code"),
    ("sin-4", r"width 16: the codes of all real positions differ"),
]

RIGHT = sinusoidal.code


def _slower_cosine(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    return sp.Matrix([sp.sin(position * frequency), sp.cos(position * frequency / 2)])


def _twice(position: sp.Expr, *, frequency: sp.Expr) -> sp.Matrix:
    return 2 * RIGHT(position, frequency=frequency)


WRONG: list[tuple[ModuleType, str, Any, str]] = [
    (sinusoidal, "code", _slower_cosine, "sin-1"),
    (sinusoidal, "code", _twice, "sin-2"),
    (sinusoidal, "code", _twice, "sin-3"),
    (sinusoidal, "code", _slower_cosine, "sin-4"),
    (sinusoidal, "shift", lambda offset, *, frequency: rotary.rotation(offset * frequency), "sin-1"),
    (sinusoidal, "shift", lambda offset, *, frequency: sp.eye(2), "sin-1"),
    (rotary, "frequency", lambda plane, *, head_dim, base=10000: 2 * sp.pi / (plane + 1), "sin-4"),
    (rotary, "frequency", lambda plane, *, head_dim, base=10000: sp.Rational(1, 2), "sin-2"),
    (sinusoidal, "ENCODING", replace(sinusoidal.ENCODING, embed=lambda position: sp.Matrix([1, 1])), "sin-5"),
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
