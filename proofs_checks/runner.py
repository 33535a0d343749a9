"""Run claims: one check decides the statement, the printed statement where it differs, and every falsifier."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter

from lengthgen.proofs_checks.claim import Claim, Evidence, Parameters, Refuted, Strength, Unsettled
from lengthgen.proofs_checks.formal.lemma import certified
from lengthgen.proofs_checks.result import FalsifierResult, Result, Results, Verdict
from lengthgen.theory.zero import two_engines


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Outcome of the check on one statement: evidence, a refutation, or neither."""

    evidence: Evidence | None = None
    refuted: bool = False
    reason: str = ""
    identities: tuple[two_engines.Identity, ...] = ()


def run(claims: Iterable[Claim]) -> Results:
    """Run the claims one after the other in this process.

    `lengthgen.proofs_checks.ledger` runs them in parallel, with a time limit.
    """
    return Results(run_claim(claim) for claim in claims)


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
    with two_engines.recorded() as identities:
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
