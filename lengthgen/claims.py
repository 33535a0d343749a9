"""Answers of `lengthgen claims`: the claims that words find, and one claim whole."""

from collections.abc import Sequence
from typing import Any

from lengthgen.infrastructure.files import user_cache
from lengthgen.proofs_checks import ledger, registry, report
from lengthgen.proofs_checks.claim import TIME_LIMIT, Claim
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.paper import title
from lengthgen.proofs_checks.reading import decided_at
from lengthgen.proofs_checks.report import as_printed
from lengthgen.proofs_checks.search import search
from lengthgen.verification import ClaimRunner


def one_claim(words: Sequence[str]) -> str | None:
    """Return the id of the claim that a single word names, in any case; None if the words are a search."""
    ids = {claim.id for claim in registry.CLAIMS}
    return (
        next((word.strip().casefold() for word in words if word.strip().casefold() in ids), None)
        if len(words) == 1
        else None
    )


def found_answer(words: Sequence[str], *, most: int | None) -> dict[str, Any]:
    """Return the claims with the most of the words, best first, each with its stored verdict, if it has one.

    Args:
        words: words as in `lengthgen.proofs_checks.search.search`; none for all claims.
        most: largest number of claims in the answer; None for all that were found.

    Raises:
        Unknown: no claim has any of the words.
    """
    matches = search(words)
    shown = matches.claims[:most]
    settled = ledger.settled(_selection(shown), user_cache("claims"))
    return {
        "claims": [
            _short(claim) | {"verdict": str(settled[claim.id].verdict) if claim.id in settled else None}
            for claim in shown
        ],
        "found": len(matches.claims),
        "missing": matches.missing,
        "unknown": [{"word": word, "nearest": near or None} for word, near in matches.unknown],
    }


def page_answer(claim_id: str) -> dict[str, Any]:
    """Return all that is known of a claim: `verify`'s answer, what the paper prints, and where and how it is proved.

    The claim is run if no result of its present code is stored.
    """
    runner = ClaimRunner(time_limit=TIME_LIMIT, fresh=False)
    [result] = runner.results(_selection([registry.find(claim_id)]))
    claim = result.claim
    answer: dict[str, Any] = report.as_json([result])["claims"][0]
    right, printed = as_printed(claim.statement) if claim.printed else (claim.statement, "")
    return answer | {
        "statement": right,
        "printed": {"statement": printed, "fails": result.reason.removeprefix("as printed: ")}
        if claim.printed
        else None,
        "title": title(claim.source),
        "decided_by": decided_at(claim),
        "lemmas": [lemma.statement for lemma in result.lemmas or ()],
        "theorems": [
            {"name": theorem.name, "statement": theorem.statement} for theorem in recorded.theorems_of(claim.id)
        ],
    }


def _selection(claims: Sequence[Claim]) -> ledger.Selection:
    """Return these claims, and no others whose ids begin as theirs, as the ledger takes them."""
    return ledger.Selection(claims=tuple(claims), find=registry.find, home=registry.home)


def _short(claim: Claim) -> dict[str, Any]:
    """Id, statement and source of a claim."""
    return {"id": claim.id, "statement": claim.statement, "paper": claim.source.paper, "arxiv": claim.source.arxiv}
