"""Outcome of a claim: its verdict, its evidence, what happened to its falsifiers, and the identities it rests on."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from lengthgen.infrastructure.brief import Brief, Listed
from lengthgen.infrastructure.shapes import FLAG, NUMBER, TEXT, list_of, made_into, one_of, or_none, record
from lengthgen.proofs_checks.claim import Claim, Evidence, Strength
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.formal.lemma import Certificates, Lemma, certificate_shape


class Verdict(StrEnum):
    """Outcome of a claim's run."""

    VERIFIED = "verified"  # the statement holds and every falsifier is rejected
    REFUTED = "refuted"  # the statement fails: the reason is a counterexample
    CORRECTED = "corrected"  # the paper's printed statement fails, ours holds
    UNSETTLED = "unsettled"  # the check did not decide, or cannot tell true from false: see the reason


@dataclass(frozen=True, kw_only=True)
class FalsifierResult:
    """Outcome of the check on one falsifier: rejected or not, with the counterexample or what happened instead.

    `identities` are the certificates of the false identities that the check met.
    """

    name: str
    rejected: bool
    reason: str
    identities: Certificates = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Brief):
    """Outcome of one claim; `evidence` is None if the check found none for our statement.

    `identities` are the certificates of the identities that the check decided for our statement.
    `as_plain` gives everything except the claim in a form that JSON can hold; `from_plain` makes the result again.
    """

    claim: Claim
    verdict: Verdict
    evidence: Evidence | None
    reason: str
    falsifiers: tuple[FalsifierResult, ...]
    seconds: float
    identities: Certificates = ()

    @property
    def holds(self) -> bool:
        """True if the check established the statement and rejected all that it must reject."""
        return self.verdict in (Verdict.VERIFIED, Verdict.CORRECTED)

    @cached_property
    def strength(self) -> Strength | None:
        """Reach of the evidence; None for a claim that does not hold.

        A claim is formal if Coq accepted a theorem that states all of it, as recorded; lemmas are steps of the check.
        """
        if not self.evidence or not self.holds:
            return None
        return Strength.FORMAL if recorded.is_stated(self.claim) else self.evidence.strength

    @cached_property
    def lemmas(self) -> list[Lemma]:
        """Lemmas of the identities that Coq accepted, as recorded."""
        return recorded.lemmas(self.identities)

    @property
    def formal_steps(self) -> int:
        """Number of steps of the check that Coq accepted: its lemmas, and theorems that state a part of the claim."""
        return len(self.lemmas) + sum(
            self.claim.id in theorem.part_of for theorem in recorded.theorems_of(self.claim.id)
        )

    def as_plain(self) -> dict[str, Any]:
        """Return the result without its claim: booleans, numbers, texts, lists and dicts."""
        return {
            "verdict": str(self.verdict),
            "evidence": self.evidence and asdict(self.evidence),
            "reason": self.reason,
            "falsifiers": [asdict(falsifier) for falsifier in self.falsifiers],
            "seconds": self.seconds,
            "identities": list(self.identities),
        }

    @classmethod
    def from_plain(cls, claim: Claim, plain: Mapping[str, Any]) -> "Result":
        """Return the result of `claim` that `as_plain` wrote down."""
        return cls(
            claim=claim,
            verdict=Verdict(plain["verdict"]),
            evidence=plain["evidence"] and _evidence(**plain["evidence"]),
            reason=plain["reason"],
            falsifiers=tuple(
                FalsifierResult(**falsifier | {"identities": tuple(falsifier.get("identities", ()))})
                for falsifier in plain["falsifiers"]
            ),
            seconds=plain["seconds"],
            identities=tuple(plain["identities"]),
        )

    @classmethod
    def cut_short(cls, claim: Claim, reason: str, seconds: float) -> "Result":
        """Return an unsettled result for a claim whose check stopped, or was stopped, before it decided anything."""
        return cls(
            claim=claim,
            verdict=Verdict.UNSETTLED,
            evidence=None,
            reason=reason,
            falsifiers=tuple(FalsifierResult(name=name, rejected=False, reason=reason) for name in claim.falsifiers),
            seconds=seconds,
        )

    def _brief(self) -> str:
        verdict = ", ".join(filter(None, (self.verdict, self.strength)))
        return f"{self.claim.id} {verdict}: {self.reason or self.claim.statement}"

    def _details(self) -> dict[str, str | tuple[str, ...] | list[str]]:
        return {
            "statement": self.claim.statement,
            "facts": self.evidence.facts if self.evidence else (),
            "falsifiers": [
                f"{falsifier.name}: {'false' if falsifier.rejected else 'not rejected'}, {falsifier.reason}"
                for falsifier in self.falsifiers
            ],
        }


class Results(Listed[Result]):
    """Results in the order of their claims; `repr` counts the verdicts and shows the first results."""

    __slots__ = ()

    def _heading(self) -> str:
        verdicts = Counter(result.verdict for result in self)
        counts = [f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict]]
        return ", ".join([f"{len(self)} claim{'' if len(self) == 1 else 's'}", *counts])


def _evidence(strength: str, facts: Iterable[str], assumptions: Iterable[str], reach: str) -> Evidence:
    """Evidence as it was written down."""
    return Evidence(strength=Strength(strength), facts=tuple(facts), assumptions=tuple(assumptions), reach=reach)


_CERTIFICATES = list_of(certificate_shape)
RESULT = record(
    verdict=one_of(Verdict),
    evidence=or_none(
        record(
            strength=one_of(Strength),
            **dict.fromkeys(("facts", "assumptions"), list_of(TEXT)),
            reach=TEXT,
        )
    ),
    falsifiers=list_of(
        made_into(FalsifierResult, **dict.fromkeys(("name", "reason"), TEXT), rejected=FLAG, identities=_CERTIFICATES)
    ),
    reason=TEXT,
    seconds=NUMBER,
    identities=_CERTIFICATES,
)
"""Shape of a result that `Result.as_plain` wrote."""
