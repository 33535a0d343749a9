"""Recorded outcome of Coq: which lemmas and theorems its kernel accepted, each by the hash of its text.

The record is written where Coq is installed (`lengthgen verify --formal`) and read everywhere.  A formula that changes
changes its lemma, whose hash is then not recorded, so that it no longer counts as a formal step of its claim until Coq
has accepted the new one.  The same holds for a theorem: it counts while its file is the one that Coq compiled, and
makes a claim formal while the statement of the claim is the one beside which it was read.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lengthgen.infrastructure import shapes
from lengthgen.infrastructure.shapes import TEXT, list_of, mapping_to
from lengthgen.proofs_checks.claim import Claim
from lengthgen.proofs_checks.formal.lemma import Certificates, Lemma
from lengthgen.proofs_checks.formal.sources import Theorem, theorems
from lengthgen.proofs_checks.formal.terms import NotReal

RECORD = Path(__file__).parent / "recorded.json"
"""Version of the prover, axioms, hashes of lemmas, of theorems by name, and of statements of formal claims by id."""
_MEND = "install lengthgen again, or write it anew where Coq is: lengthgen verify --formal"
_SHAPE = shapes.record(
    prover=TEXT,
    **dict.fromkeys(("assumptions", "lemmas"), list_of(TEXT)),
    **dict.fromkeys(("theorems", "claims"), mapping_to(TEXT)),
)


@cache
def record() -> Mapping[str, Any]:
    """Record of the last complete run of Coq."""
    content: dict[str, Any] = shapes.read_stored(RECORD, _SHAPE, "record of Coq", _MEND, sealed=False)
    return {**content, "lemmas": frozenset(content["lemmas"])}


def lemmas(identities: Certificates) -> list[Lemma]:
    """Lemmas of the identities that Coq accepted, each statement once, without those whose sides are the same term."""
    accepted: dict[str, Lemma] = {}
    for identity in identities:
        if "missing" in identity:
            continue
        lemma = Lemma(identity)
        try:
            if not lemma.is_trivial and lemma.digest in record()["lemmas"]:
                accepted.setdefault(lemma.digest, lemma)
        except NotReal:
            continue
    return list(accepted.values())


def theorems_of(claim_id: str) -> list[Theorem]:
    """Theorems by hand that state a claim or a part of it, as long as their texts are those that Coq compiled."""
    compiled = record()["theorems"]
    return [
        theorem
        for theorem in theorems()
        if claim_id in (*theorem.claims, *theorem.part_of) and compiled.get(theorem.name) == theorem.digest
    ]


def is_stated(claim: Claim) -> bool:
    """True if Coq compiled a theorem that states the whole claim, whose statement has not changed since."""
    stated = any(claim.id in theorem.claims for theorem in theorems_of(claim.id))
    return stated and record()["claims"].get(claim.id) == words(claim)


def words(claim: Claim) -> str:
    """Hash of a claim's statement."""
    return hashlib.sha256(claim.statement.encode()).hexdigest()
