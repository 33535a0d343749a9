"""Run claims: one check decides the statement, the printed statement where it differs, and every falsifier."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from time import perf_counter
from typing import Any

from proofs_checks.certificates import Certificates, certified
from proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Strength, Unsettled
from proofs_checks.formal import recorded
from proofs_checks.formal.lemma import Lemma
from theory import twice

TIME_LIMIT = 60.0
"""Default time limit of a claim, in seconds."""


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


@dataclass(frozen=True, kw_only=True)
class Result:
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

        A general claim is formal if Coq accepted each of its identities, or a theorem that states it, as recorded.
        """
        if not self.evidence or not self.holds:
            return None
        general = self.evidence.strength is Strength.GENERAL
        formal = general and (self.lemmas is not None or recorded.is_stated(self.claim.id))
        return Strength.FORMAL if formal else self.evidence.strength

    @cached_property
    def lemmas(self) -> list[Lemma] | None:
        """Lemmas of the identities; None if there is none, or not all are lemmas that Coq accepted, as recorded."""
        return recorded.lemmas(self.identities)

    def as_plain(self) -> dict[str, Any]:
        """Return the result without its claim: booleans, numbers, texts, lists and dicts."""
        return {
            "verdict": str(self.verdict),
            "evidence": _plain_evidence(self.evidence) if self.evidence else None,
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
            evidence=_evidence(plain["evidence"]) if plain["evidence"] else None,
            reason=plain["reason"],
            falsifiers=tuple(
                FalsifierResult(**falsifier | {"identities": tuple(falsifier["identities"])})
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


def _plain_evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "strength": str(evidence.strength),
        "facts": [str(fact) for fact in evidence.facts],
        "assumptions": [str(assumption) for assumption in evidence.assumptions],
        "reach": evidence.reach,
    }


def _evidence(plain: Mapping[str, Any]) -> Evidence:
    return Evidence(
        strength=Strength(plain["strength"]),
        facts=tuple(plain["facts"]),
        assumptions=tuple(plain["assumptions"]),
        reach=plain["reach"],
    )


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Outcome of the check on one statement: evidence, a refutation, or neither."""

    evidence: Evidence | None = None
    refuted: bool = False
    reason: str = ""
    identities: tuple[twice.Identity, ...] = ()


def run(claims: Iterable[Claim]) -> tuple[Result, ...]:
    """Run the claims one after the other in this process.

    `proofs_checks.ledger` runs them in parallel, with a time limit.
    """
    return tuple(run_claim(claim) for claim in claims)


def run_claim(claim: Claim) -> Result:
    """Run one claim with its printed statement and its falsifiers."""
    start = perf_counter()
    ours = _decide(claim, claim.holds)
    falsifiers = tuple(_falsify(claim, name, changes) for name, changes in claim.falsifiers.items())
    printed = _decide(claim, claim.mutated(claim.printed)) if claim.printed else None
    verdict, reason = _judge(claim, ours, falsifiers, printed)
    return Result(
        claim=claim,
        verdict=verdict,
        evidence=ours.evidence,
        reason=reason,
        falsifiers=falsifiers,
        seconds=perf_counter() - start,
        identities=certified(identity for identity in ours.identities if identity.zero),
    )


def _judge(
    claim: Claim, ours: _Outcome, falsifiers: tuple[FalsifierResult, ...], printed: _Outcome | None
) -> tuple[Verdict, str]:
    """Verdict on a claim and its reason, from the outcomes of its statement, falsifiers and printed statement."""
    if ours.refuted:
        return Verdict.REFUTED, ours.reason
    if ours.evidence is None:
        return Verdict.UNSETTLED, ours.reason
    reach = ours.evidence.reach
    if ours.evidence.strength in (Strength.BOUNDED, Strength.EXHAUSTIVE) and (
        not reach or reach not in claim.statement
    ):
        return Verdict.UNSETTLED, f"the statement does not name the range that the check went through: {reach or '?'}"
    for falsifier in falsifiers:
        if not falsifier.rejected:
            return Verdict.UNSETTLED, f"falsifier {falsifier.name!r} is not rejected: {falsifier.reason}"
    if printed is None:
        return Verdict.VERIFIED, ""
    if not printed.refuted:
        return Verdict.UNSETTLED, f"the printed statement is not refuted, so nothing is corrected: {printed.reason}"
    return Verdict.CORRECTED, f"as printed: {printed.reason}"


def _falsify(claim: Claim, name: str, changes: Parameters) -> FalsifierResult:
    """Outcome of the check on one falsifier."""
    outcome = _decide(claim, claim.mutated(changes))
    false = certified(identity for identity in outcome.identities if not identity.zero)
    return FalsifierResult(name=name, rejected=outcome.refuted, reason=outcome.reason, identities=false)


def _decide(claim: Claim, parameters: Parameters) -> _Outcome:
    """Outcome of the check on the statement with these parameters, with the identities that it decided."""
    with twice.recorded() as identities:
        outcome = _checked(claim, parameters)
    return replace(outcome, identities=tuple(identities))


def _checked(claim: Claim, parameters: Parameters) -> _Outcome:
    """Outcome of the check on the statement with these parameters."""
    try:
        evidence = claim.check(**parameters)
    except Refuted as counterexample:
        return _Outcome(refuted=True, reason=str(counterexample))
    except Unsettled as reason:
        return _Outcome(reason=str(reason))
    except (Exception, SystemExit) as error:  # a check that crashes decides nothing; the other claims go on
        return _Outcome(reason=f"{type(error).__name__}: {error}")
    if not isinstance(evidence, Evidence):
        return _Outcome(reason=f"the check returned {type(evidence).__name__}, not Evidence")
    return _Outcome(evidence=evidence, reason="the check accepts it")
