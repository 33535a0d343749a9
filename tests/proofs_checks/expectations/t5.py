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
