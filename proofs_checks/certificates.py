"""Certificates of the identities of claims, for a reader who trusts neither engine: `tests/replay_certificates.py`."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from lengthgen.theory.zero.identity_certificate import NotCertified, certificate
from lengthgen.theory.zero.two_engines import Identity

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
