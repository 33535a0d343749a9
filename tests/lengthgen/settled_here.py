"""Claims settled in this process, for tests of what is then answered: a worker takes a second to start."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lengthgen.proofs_checks import ledger, own_claims
from lengthgen.proofs_checks.claim import Claim
from lengthgen.proofs_checks.result import Result


def settled_here(
    claims: Sequence[Claim], tasks: Mapping[str, Any], time_limit: float, record: Callable[[Result], None]
) -> None:
    """Stand-in for `lengthgen.proofs_checks.ledger._run_in_parallel`."""
    own_claims._loaded.cache_clear()  # a worker has loaded no file yet
    for claim in claims:
        record(Result.from_plain(claim, ledger._settle(tasks[claim.id])))
