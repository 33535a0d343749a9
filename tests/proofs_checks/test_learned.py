"""The claims on learned codes: why falsifiers fall, the figures they quote, and wrong formulas."""

import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers.learned import CLAIMS
from proofs_checks.runner import Result
from theory.encodings import learned

COUNTEREXAMPLES = {
    "ape-1": {
        "rows beyond the training length move": r"sequences of 1: .* has slope 0 in P\[1, 0\]",
        "the last trained row stays": r"sequences of 1: .* has slope 18 in P\[0, 0\]",
    },
    "ape-2": {
        "a random table": r"random table .*: scores at \(1, 0\) and \(2, 1\), entry 1: 47.0+ != 28.0+",
        "equal steps between rows": r"linear table .*: scores at \(1, 0\) and \(2, 1\), entry 1: 47.0+ != 110.0+",
        "no table at all": r"constant table .*: the score at distance 1 is .* \+ 13 everywhere",
    },
    "ape-3": {
        "beyond the table": r"a table of 1 rows has none for position 1, code \[0.841471, 0.540302\]",
        "at twice the rows": r"a table of 1 rows has none for position 1, code \[0.841471, 0.540302\]",
    },
}

FIGURES = [
    ("ape-1", r"every row: a gradient iff r < n"),
    ("ape-2", r"tables of 4 rows decided: constant, random, linear"),
    ("ape-3", r"it has a row for p < L and no other"),
]

WRONG: list[tuple[ModuleType, str, Any, str]] = [
    (learned, "code", lambda position: sp.Matrix([learned.TABLE[position + 1, c] for c in (0, 1)]), "ape-1"),
    (learned, "code", lambda position: sp.Matrix([learned.TABLE[0, c] for c in (0, 1)]), "ape-1"),
    (learned, "ENCODING", replace(learned.ENCODING, embed=lambda position: sp.zeros(2, 1)), "ape-2"),
    (
        learned,
        "ENCODING",
        replace(learned.ENCODING, embed=lambda position: sp.Matrix([learned.TABLE[position, c] for c in (1, 0)])),
        "ape-3",
    ),
    (learned, "ENCODING", replace(learned.ENCODING, limit=learned.ROWS - 1), "ape-3"),
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
