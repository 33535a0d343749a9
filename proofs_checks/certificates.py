"""Certificates of the identities of claims, for a reader who trusts neither engine: `tests/replay_certificates.py`."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from theory.certificate import NotCertified, certificate
from theory.system.files import write_json
from theory.twice import Identity

if TYPE_CHECKING:
    from proofs_checks.runner import Result

Certificates: TypeAlias = tuple[Mapping[str, Any], ...]
"""Certificates as plain data; one without a proof has the key "missing", with the reason, and no trees."""


def certified(identities: Iterable[Identity]) -> Certificates:
    """Certificates of identities, each once."""
    return tuple(map(_certificate, dict.fromkeys(identities)))


def _certificate(identity: Identity) -> Mapping[str, Any]:
    try:
        return certificate(identity)
    except NotCertified as reason:
        return {"holds": identity.zero, "missing": str(reason)}


def write(results: Sequence["Result"], folder: Path) -> dict[str, Any]:
    """Write one file for each claim with identities, and return the numbers of identities in all.

    Each file has the certificates of the identities that the claim's check decided, and of the false ones by which it
    rejected its falsifiers.

    Raises:
        OSError: the folder cannot be written.
    """
    counts = {"claims": 0, "proved": 0, "refuted": 0, "missing": 0}
    for result in results:
        rows = [{"of": "statement", **identity} for identity in result.identities]
        for falsifier in result.falsifiers:
            rows += [{"of": f"falsifier: {falsifier.name}", **identity} for identity in falsifier.identities]
        if not rows:
            continue
        complete = [row for row in rows if "missing" not in row]
        counts["claims"] += 1
        counts["missing"] += len(rows) - len(complete)
        for row in complete:
            counts["proved" if row["holds"] else "refuted"] += 1
        content = {"claim": result.claim.id, "statement": result.claim.statement, "identities": complete}
        missing = [row for row in rows if "missing" in row]
        write_json(folder / f"{quote(result.claim.id, safe='')}.json", content | {"missing": missing})
    return counts
