"""Claims settled in this process, for tests of what is then answered: a worker takes a second to start."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lengthgen.proofs_checks import ledger, own_claims
from lengthgen.proofs_checks.claim import Claim
from lengthgen.proofs_checks.result import Result


def settled_here(
    claims: Sequence[Claim],
    selection: ledger.Selection,
    entries: Mapping[str, Any],
    time_limit: float,
    record: Callable[[Result], None],
) -> None:
    """Stand-in for `lengthgen.proofs_checks.ledger._run_in_parallel`."""
    own_claims._loaded.cache_clear()  # a worker has loaded no file yet
    for claim in claims:
        plain = ledger._settle(selection.find, claim.id, selection.home(claim), entries.get(claim.id))
        record(Result.from_plain(claim, plain))
