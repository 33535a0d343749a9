"""Results shared by tests of claims: a claim runs only if a test needs it and nothing settled it in this test run."""

from collections.abc import Callable
from functools import cache

import pytest

from lengthgen.infrastructure.files import user_cache
from lengthgen.proofs_checks import registry
from lengthgen.proofs_checks.ledger import settled
from lengthgen.proofs_checks.result import Result
from lengthgen.proofs_checks.runner import run_claim


@pytest.fixture(scope="session")
def result_of() -> Callable[[str], Result]:
    claims = {claim.id: claim for claim in registry.CLAIMS}
    results = settled(registry.selection(), user_cache("claims"))
    return cache(lambda claim_id: results.get(claim_id) or run_claim(claims[claim_id]))
