"""Seeds that derive from frozen predictions, so that a prediction cannot be changed after its runs ([F]).

The seed of a run is part of the SHA-256 of the digest of everything that was frozen, of the cell, and of the run's
index. Whoever rewrites a prediction after training changes the digest, and with it the seeds that the runs must have.
Versions of the code are no part of it: a refactoring changes no seed.
"""

import hashlib
import json
from typing import Any


def frozen_digest(content: Any) -> str:
    """SHA-256, as 64 hexadecimal digits, of JSON content in canonical form: sorted keys, no spaces, ASCII only.

    Raises:
        TypeError: the content is not JSON.
        ValueError: a number is infinite or NaN, which JSON cannot hold.
    """
    return _sha256(content)


def derived_seed(frozen_digest: str, cell: str, index: int) -> int:
    """Seed of one run: the first 63 bits of the SHA-256 of [digest, cell, index], as an unsigned integer below 2^63.

    Args:
        frozen_digest: digest of everything that was frozen before training.
        cell: name of the cell, the same whenever its predictions are the same.
        index: index of the run in its cell, from 0.
    """
    return int(_sha256([frozen_digest, cell, index])[:16], 16) >> 1


def _sha256(content: Any) -> str:
    """SHA-256 of JSON content in canonical form."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
