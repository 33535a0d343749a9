"""Wrong formulas that the claims refute."""

from typing import Any

import numpy as np
import sympy as sp

from lengthgen.theory.encodings import biases
from lengthgen.theory.relation import Relation, relative, t5_buckets


def _late(buckets: int, longest: int) -> Any:
    """Buckets by rounded logarithms that put a distance at the start of a bucket into the one before."""
    right = t5_buckets(buckets, longest)
    return Relation(name="late", law=lambda key, query, _: right.law(key, np.maximum(query - 1, key), None))


WRONG: list[tuple[Any, ...]] = [
    ("biases.t5_buckets", _late, "t5-1", "distance 1 has bucket 0"),
    ("biases.t5_buckets", lambda buckets, longest: relative(), "t5-1", r"129 buckets are used, 0 to 128, not 32"),
    ("biases.T5_LONGEST", 64, "t5-1", "bucket 17 begins at distance 18, not 19"),
    ("biases.T5_LONGEST", 64, "t5-2", "distance 59 has bucket 31, though saturation is said to begin at 113"),
    ("biases.T5_BUCKETS", 64, "t5-1", "64 buckets are used, 0 to 63, not 32"),
    ("biases.T5_BUCKETS", 64, "t5-5", "T = 18: all 18 distances have buckets of their own too"),
    (
        "biases.t5_bucket",
        lambda offset: biases.Bucket(sp.Max(-offset, 0), 32, 128),
        "t5-5",
        "distances 0 and 1 share bucket 0",
    ),
    (
        "biases.t5_bidirectional_bucket",
        lambda offset: biases.Bucket(abs(offset), 16, 128),
        "t5-1-bidirectional",
        "1 and 1",
    ),
    (
        "biases.t5_bidirectional_bucket",
        lambda offset: biases.Bucket(sp.Max(offset, 0), 32, 128),
        "t5-1-bidirectional",
        "1 and 0",
    ),
]
