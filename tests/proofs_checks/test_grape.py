"""GRAPE's claims: why falsifiers fall, the figures that are quoted, and wrong formulas that are refuted."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp

from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.result import Result
from lengthgen.theory.encodings import grape

CLAIMS = {claim.id: claim for claim in registry.select(["grape"])}

PRINTED = {
    "grape-orientation": r"d = 2: B\^T L\(e_1, e_2\) B = J, s = 1, entry 2: 1.00000 != -1.00000 at t = 4",
    "grape-angle": r"E' = omega L E, entry 2: -0.284036 != -1.33309 at .* n = 1, omega = 3",
    "grape-4": r"A J2 A\^T, entry 2: -1.00000 != 1.00000",
    "grape-5": r"entry 2: -0.287903 != 0.287903",
    "grape-6": r"the norm of \[L_1, L_2\] is 1/2",
    "grape-10": r"-3.00000 != 5.00000 at D = 4, c = 1",
    "grape-11": r"-1.30729 != -17.3073",
    "grape-15-last-edge": r"constant edges -m: b\(i \+ 1, i\) = 0, ALiBi has -m",
    "grape-17": r"\(query features\).\(key features\), entry 1: -8.00000 != 0 at i = 4, j = 4",
    "grape-17-lift": r"at u.k = -1 the slope is omega times -1, not 0.313262",
    "grape-18": r"s = 3\*pi: exp\(nL\) = I first at n = 2, not 2/3",
    "grape-20": r"4.00000 != 2.00000",
    "grape-distance": r"m = 3 and 4, together 7, not 5",
}


@pytest.mark.parametrize("claim_id", PRINTED)
def test_a_printed_statement_falls_for_the_reason_of_the_errata(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    assert re.search(f"as printed: .*{PRINTED[claim_id]}", result_of(claim_id).reason)


def test_every_printed_statement_has_its_reason() -> None:
    assert set(PRINTED) == {claim.id for claim in CLAIMS.values() if claim.printed}


@pytest.mark.parametrize(
    ("record", "claim_id"), [("GRAPE", "grape-3"), ("COMMUTING", "grape-6"), ("CONTEXTUAL", "grape-contextual")]
)
def test_an_encoding_that_turns_the_key_back_is_refuted(
    record: str, claim_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(grape, record)

    def rotate(position: sp.Expr, length: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
        on_query, on_key = right.rotate(position, length)
        return on_query, on_key.T

    monkeypatch.setattr(grape, record, replace(right, rotate=rotate))
    with pytest.raises(Refuted, match=r"\d"):
        CLAIMS[claim_id].check(**CLAIMS[claim_id].holds)


@pytest.mark.parametrize(("record", "claim_id"), [("ADDITIVE", "grape-8"), ("GATED", "grape-17"), ("PATH", "grape-15")])
def test_an_encoding_without_its_bias_is_refuted(record: str, claim_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grape, record, replace(getattr(grape, record), bias=None))
    with pytest.raises((Refuted, AttributeError)):
        CLAIMS[claim_id].check(**CLAIMS[claim_id].holds)
