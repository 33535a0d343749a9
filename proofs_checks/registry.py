"""All claims, gathered by name, and their selection by id or by family."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from proofs_checks.claim import Claim
from proofs_checks.papers import fox, grape, hope, plaa, pola, rope, sequential
from theory.errors import LengthgenError


class UnknownClaim(LengthgenError):
    """No claim has this id, and no family this name."""


def gather(*groups: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims of all groups in order.  Raises `ValueError` where two claims have one id."""
    claims: dict[str, Claim] = {}
    for claim in (claim for group in groups for claim in group):
        if claim.id in claims:
            raise ValueError(f"two claims have the id {claim.id!r}")
        claims[claim.id] = claim
    return tuple(claims.values())


CLAIMS = gather(rope.CLAIMS, grape.CLAIMS, fox.CLAIMS, hope.CLAIMS, pola.CLAIMS, plaa.CLAIMS, sequential.CLAIMS)


def select(names: Iterable[str]) -> tuple[Claim, ...]:
    """The claims named by an id (`grape-1`) or by its beginning (`grape`, `hope-6`, `pola-1` for 1a, 1b, ...).

    No name at all selects every claim.  Raises `UnknownClaim`, in one line and with the closest names.
    """
    wanted = list(names)
    for name in wanted:
        if not any(_belongs(claim, name) for claim in CLAIMS):
            raise UnknownClaim(_unknown(name))
    return tuple(claim for claim in CLAIMS if not wanted or any(_belongs(claim, name) for name in wanted))


def _belongs(claim: Claim, name: str) -> bool:
    part = name[-1:].isdigit() and re.match(rf"{re.escape(name)}[a-z]", claim.id)
    return claim.id == name or claim.id.startswith(f"{name}-") or bool(part)


def _unknown(name: str) -> str:
    families = {claim.id.rsplit("-", 1)[0] for claim in CLAIMS}
    close = get_close_matches(name, sorted(families | {claim.id for claim in CLAIMS}))
    hint = f"did you mean {' or '.join(close)}?" if close else f"the families are {', '.join(sorted(families))}"
    return f"no claim or family is named {name!r}; {hint}"
