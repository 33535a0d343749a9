"""The claims on randomized positions: why falsifiers fall, the figures they quote, and wrong formulas."""

import re
from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Any

import pytest
import sympy as sp

from proofs_checks.claim import Refuted
from proofs_checks.papers.randomized import CLAIMS
from proofs_checks.runner import Result
from theory.encodings import randomized

COUNTEREXAMPLES = {
    "rpe-1": {
        "drawn with replacement": r"n = 2, M = 2: \(0, 0\) is drawn",
        "not sorted": r"n = 2, M = 2: \(1, 0\) is drawn",
    },
    "rpe-2": {
        "1/M": r"n = 2, M = 2: position 0 is used with probability 1",
        "as with replacement": r"n = 2, M = 2: position 0 is used with probability 1",
    },
    "rpe-3": {
        "k M/n": r"n = 2, M = 3: tokens 0, 1 are 4/3 apart, not 3/2",
        "token k at (k + 1) M/n - 1": r"n = 1, M = 2: token 0 is at 1/2 on average, not at 1",
    },
    "rpe-4": {
        "one token more": r"M = 1, training on 1: 2 distinct positions need position 1, of probability 0 in training",
        "twice the range": r"M = 1, training on 1: 2 distinct positions need position 1, of probability 0 in training",
    },
    "rpe-5": {
        "one law of gaps at all lengths": r"M = 3: .* with probability 2/3 at n = 2, 1 at N = 3; mean gaps 4/3, 1",
        "one law from length 3 on": r"M = 4: .* with probability 3/4 at n = 3, 1 at N = 4; mean gaps 5/4, 1",
    },
    "rpe-6": {
        "+1 and +5 have codes of their own": r"M = 6 rows: offsets \+1 and \+5 read rows 5 and 5",
        "only offsets from 0 share": r"M = 6 rows: offsets -1 and \+0 read rows 5 and 5",
        "one row fewer is enough": r"M = 6, 11 rows: offsets \+4 and \+5 read row 10",
    },
}

FIGURES = [
    ("rpe-2", r"M = 9, n = 4: 0.4444"),
    ("rpe-3", r"\(n \+ 1\) mean step = M \+ 1"),
    ("rpe-6", r"M rows: offsets -1, 0, 1, .. read row M - 1"),
]


def _with_replacement(*, length: int, longest: int) -> list[tuple[int, ...]]:
    return [tuple(sorted(drawn)) for drawn in product(range(longest), repeat=length)]


WRONG: list[tuple[ModuleType, str, Any, str]] = [
    (randomized, "draws", _with_replacement, "rpe-1"),
    (randomized, "draws", _with_replacement, "rpe-2"),
    (randomized, "draws", _with_replacement, "rpe-3"),
    (randomized, "draws", _with_replacement, "rpe-5"),
    (randomized, "coverage", lambda *, length, longest: (length - 1) / sp.sympify(longest), "rpe-2"),
    (randomized, "coverage", lambda *, length, longest: (length - 1) / sp.sympify(longest), "rpe-4"),
    (randomized, "expected_gap", lambda *, length, longest: sp.sympify(longest) / (length + 1), "rpe-3"),
    (randomized, "expected_gap", lambda *, length, longest: sp.sympify(longest) / (length + 1), "rpe-5"),
    (
        randomized,
        "expected_position",
        lambda rank, *, length, longest: rank * sp.Rational(1) * (longest + 1) / (length + 1),
        "rpe-3",
    ),
    (randomized, "gap_probability", lambda gap, *, length, longest: sp.Rational(1, longest), "rpe-5"),
    (randomized, "row", lambda offset, *, longest, rows: offset + longest, "rpe-6"),
    (randomized, "row", lambda offset, *, longest, rows: sp.Min(offset + longest, rows - 2), "rpe-6"),
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
