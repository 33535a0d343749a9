"""What each claim is to come out as, why its falsifiers fall, the figures it quotes, and formulas that it refutes."""

from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.claim import Strength
from proofs_checks.runner import Verdict
from theory.encodings import t5
from theory.relation import Relation, relative, t5_buckets

EXPECTED = {
    "t5-1": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-1-bidirectional": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-2": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-3": (Verdict.VERIFIED, Strength.GENERAL),
    "t5-4": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
    "t5-5": (Verdict.VERIFIED, Strength.EXHAUSTIVE),
}

COUNTEREXAMPLES = {
    "t5-1": {
        "numbered from the far end": r"distances 0 and 1 have buckets 31 and 30: it falls",
        "half of the buckets": r"16 buckets are used, 0 to 15, not 32",
        "the last bucket never used": r"31 buckets are used, 0 to 30, not 32",
        "buckets begin a distance early": r"bucket 17 begins at distance 19, not 18",
    },
    "t5-1-bidirectional": {
        "the offset 0 counts as after": r"the buckets without an offset are \[0\]",
        "the causal buckets": r"a key 1 before the query and one 1 after have buckets 1 and 0",
        "sides exchanged": r"a key 1 before the query and one 1 after have buckets 17 and 1",
    },
    "t5-2": {
        "the rule for distances up to 64": r"distance 59 has bucket 31, though saturation is said to begin at 113",
        "the rule of 31 buckets": r"distance 128 \+ k has bucket 30, not 31",
    },
    "t5-3": {
        "the query's own position bucketed": r"= -w\[0\] \+ w\[1\] at i = 0, D = 0, s = 1, not 0 for every table",
        "so in the bidirectional form": r"bidirectional, .* = -w\[0\] \+ w\[1\] at i = 0, D = 0, s = 1",
    },
    "t5-4": {
        "the rule for distances up to 64": r"distance 112 has bucket 31 too",
        "the rule of 34 buckets": r"distance 113 has bucket 32, distance 128 bucket 33: with w_32 = 1 and w_",
    },
    "t5-5": {
        "the rule of 64 buckets": r"T = 18: all 18 distances have buckets of their own too",
        "the bidirectional form": r"T = 17: distances 8 and 9 share bucket 8, and ALiBi's biases there diffe",
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


WRONG: list[tuple[str, Any, str, str]] = [
    ("theory.encodings.t5.t5_buckets", _late, "t5-1", "distance 1 has bucket 0"),
    (
        "theory.encodings.t5.t5_buckets",
        lambda buckets, longest: relative(),
        "t5-1",
        r"129 buckets are used, 0 to 128, not 32",
    ),
    ("theory.encodings.t5.LONGEST", 64, "t5-1", "bucket 17 begins at distance 18, not 19"),
    ("theory.encodings.t5.LONGEST", 64, "t5-2", "distance 59 has bucket 31, though saturation is said to begin at 113"),
    ("theory.encodings.t5.BUCKETS", 64, "t5-1", "64 buckets are used, 0 to 63, not 32"),
    ("theory.encodings.t5.BUCKETS", 64, "t5-5", "T = 18: all 18 distances have buckets of their own too"),
    (
        "theory.encodings.t5.bucket",
        lambda offset: t5.Bucket(sp.Max(-offset, 0), 32, 128),
        "t5-5",
        "distances 0 and 1 share bucket 0",
    ),
    (
        "theory.encodings.t5.bidirectional_bucket",
        lambda offset: t5.Bucket(abs(offset), 16, 128),
        "t5-1-bidirectional",
        "1 and 1",
    ),
    (
        "theory.encodings.t5.bidirectional_bucket",
        lambda offset: t5.Bucket(sp.Max(offset, 0), 32, 128),
        "t5-1-bidirectional",
        "1 and 0",
    ),
]
