"""What the tests of claims share: every claim runs at most once, and only if a test asks for it."""

from collections.abc import Callable
from functools import cache

import pytest

from proofs_checks import registry
from proofs_checks.runner import Result, run_claim


@pytest.fixture(scope="session")
def result_of() -> Callable[[str], Result]:
    claims = {claim.id: claim for claim in registry.CLAIMS}
    return cache(lambda claim_id: run_claim(claims[claim_id]))
