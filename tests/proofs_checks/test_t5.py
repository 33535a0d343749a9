"""The claims on T5's bias: counterexamples, figures, and wrong formulas that they refute."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from proofs_checks.claim import Refuted
from proofs_checks.papers import t5 as claims
from proofs_checks.runner import Result
from theory.encodings import t5
from theory.relation import Relation, relative, t5_buckets

COUNTEREXAMPLES = {
    "t5-1": {
        "rises with every distance": r"distances 16 and 17 have buckets 16 and 16",
        "exact up to 17": r"distance 17 has bucket 16",
        "a bucket is never used": r"32 buckets are used, 0 to 31, not 31",
        "buckets begin a distance early": r"bucket 17 begins at distance 19, not 18",
    },
    "t5-1-bidirectional": {
        "every row is used": r"the buckets without an offset are \[16\]",
        "the causal buckets": r"a key 1 before the query and one 1 after have buckets 1 and 0",
        "sides exchanged": r"a key 1 before the query and one 1 after have buckets 17 and 1",
    },
    "t5-2": {
        "from 128 on": r"distance 113 has bucket 31, though saturation is said to begin at 128",
        "from 112 on": r"distance 112 has bucket 30, though saturation is said to begin at 112",
    },
    "t5-3": {
        "the query's own position bucketed": r"= -w\[0\] \+ w\[1\] at i = 0, D = 0, s = 1, not 0 for every table",
        "so in the bidirectional form": r"bidirectional, .* = -w\[0\] \+ w\[1\] at i = 0, D = 0, s = 1",
    },
    "t5-4": {
        "from distance 64 on": r"distance 64 has bucket 26, distance 128 bucket 31: with w_26 = 1 .* weigh 2.718 to 1",
        "from distance 112 on": r"distance 112 has bucket 30, distance 128 bucket 31",
    },
    "t5-5": {
        "ALiBi for 64 positions": r"T = 64: distances 16 and 17 share bucket 16, and ALiBi's biases there differ by m",
        "only for 16": r"T = 17: all 17 distances have buckets of their own too",
    },
}

FIGURES = {
    "t5-1": [r"takes all 32 values", r"every distance 128 \+ k has bucket 31"],
    "t5-1-bidirectional": [r"no offset has bucket 16"],
    "t5-2": [r"distance 112 has bucket 30, distance 113 bucket 31"],
    "t5-4": [r"distances 113 to 127 have bucket 31"],
    "t5-5": [r"distances 16 and 17 share bucket 16"],
}


def _late(buckets: int, longest: int) -> Any:
    """Buckets by rounded logarithms that put a distance at the start of a bucket into the one before."""
    right = t5_buckets(buckets, longest)
    return Relation(name="late", law=lambda key, query, _: right.law(key, np.maximum(query - 1, key), None))


WRONG = [
    ("t5.t5_buckets", _late, "t5-1", "distance 1 has bucket 0"),
    ("t5.t5_buckets", lambda buckets, longest: relative(), "t5-1", r"129 buckets are used, 0 to 128, not 32"),
    ("t5.LONGEST", 64, "t5-1", "bucket 17 begins at distance 18, not 19"),
    ("t5.LONGEST", 64, "t5-2", "distance 59 has bucket 31, though saturation is said to begin at 113"),
    ("t5.BUCKETS", 64, "t5-1", "64 buckets are used, 0 to 63, not 32"),
    ("t5.BUCKETS", 64, "t5-5", "T = 18: all 18 distances have buckets of their own too"),
    ("t5.bucket", lambda offset: t5.Bucket(sp.Max(-offset, 0), 32, 128), "t5-5", "distances 0 and 1 share bucket 0"),
    ("t5.bidirectional_bucket", lambda offset: t5.Bucket(abs(offset), 16, 128), "t5-1-bidirectional", "1 and 1"),
    ("t5.bidirectional_bucket", lambda offset: t5.Bucket(sp.Max(offset, 0), 32, 128), "t5-1-bidirectional", "1 and 0"),
]


@pytest.fixture(autouse=True)
def forget_evaluated_functions() -> Iterator[None]:
    """Sympy remembers what a function of numbers was, and would not ask a patched formula."""
    clear_cache()
    yield
    clear_cache()


def test_every_claim_has_its_counterexamples_listed() -> None:
    assert {claim.id: set(claim.falsifiers) for claim in claims.CLAIMS} == {
        claim_id: set(reasons) for claim_id, reasons in COUNTEREXAMPLES.items()
    }


@pytest.mark.parametrize("claim_id", COUNTEREXAMPLES)
def test_falsifiers_fall_for_the_reason_that_makes_them_false(
    claim_id: str, result_of: Callable[[str], Result]
) -> None:
    for falsifier in result_of(claim_id).falsifiers:
        assert falsifier.rejected, falsifier.reason
        assert re.search(COUNTEREXAMPLES[claim_id][falsifier.name], falsifier.reason), falsifier.reason


@pytest.mark.parametrize("claim_id", FIGURES)
def test_the_figures_are_computed(claim_id: str, result_of: Callable[[str], Result]) -> None:
    evidence = result_of(claim_id).evidence
    assert evidence is not None
    for figure in FIGURES[claim_id]:
        assert any(re.search(figure, fact) for fact in evidence.facts), (figure, evidence.facts)


@pytest.mark.parametrize(("name", "wrong", "claim_id", "reason"), WRONG)
def test_a_wrong_formula_is_refuted(
    name: str, wrong: Any, claim_id: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"theory.encodings.{name}", wrong)
    claim = next(claim for claim in claims.CLAIMS if claim.id == claim_id)
    with pytest.raises(Refuted, match=reason):
        claim.check(**claim.holds)
