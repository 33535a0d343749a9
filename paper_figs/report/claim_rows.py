"""Data of the claims view of the report page: every claim with its result, if there is one.

Only claims about stored runs are checked when the page is made. All other results come from the cache or from a stored
claims.json.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthgen.paper_figs.report import mathematics
from lengthgen.paper_figs.report.plain import rounded, text, texts
from lengthgen.paper_figs.stored import read_claims
from lengthgen.proofs_checks import ledger
from lengthgen.proofs_checks.claim import PARTS, Claim
from lengthgen.proofs_checks.ledger import Selection
from lengthgen.proofs_checks.report import MARKS, as_json
from lengthgen.proofs_checks.result import Result
from lengthgen.proofs_checks.runner import run_claim

NOT_RUN = "not run"
"""Verdict that the page shows for a claim without a result."""

CACHE, STORED, RUNS = "cache", "stored", "runs"
"""Origin of a result: settled by the present code, stored by `reproduce` with perhaps older code, or decided now."""


def claims_data(selection: Selection, cache: Path, stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the page data of all claims of the selection, in its order.

    Args:
        selection: the claims; claims on runs come with the runs that decide them.
        cache: folder in which the ledger keeps settled results.
        stored: map from id to a claim of claims.json. It is used for a claim that is not in the cache, if it has the
            same statement and falsifiers.
    """
    settled = ledger.settled(selection, cache)
    rows = []
    for claim in selection.claims:
        result, stored_claim = settled.get(claim.id), stored.get(claim.id)
        if claim.on_runs:
            # The time would differ each time, and the same runs must give the same page.
            row = page_claim(_as_json(run_claim(claim)) | {"seconds": None}, RUNS)
        elif result is not None:
            row = page_claim(_as_json(result), CACHE)
        elif stored_claim is not None and _same_claim(claim, stored_claim):
            row = page_claim(stored_claim, STORED)
        else:
            not_run = _as_json(Result.cut_short(claim, "", 0.0))
            row = page_claim(not_run | {"verdict": NOT_RUN, "falsifiers": [], "seconds": None}, "")
        rows.append(row | {"part": PARTS.get(claim.part, claim.part)})
    return rows


def stored_claims(path: Path, again: str) -> dict[str, Any]:
    """Read the claims of a claims.json by id; empty if there is no file. Raises as `stored.read_claims`."""
    if not path.exists():
        return {}
    return {claim["id"]: claim for claim in read_claims(path, again)}


def page_claim(claim: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Convert a claim of `lengthgen.proofs_checks.report.as_json` to the data of the page."""
    source = claim["source"]
    return {
        **{key: text(claim[key]) for key in ("id", "verdict", "statement", "latex", "label", "reason")},
        **{key: text(source[key]) for key in ("paper", "arxiv", "place")},
        "strength": text(claim["strength"] or ""),
        "mark": text(MARKS.get(claim["strength"], claim["strength"] or "")),
        "seconds": rounded(None if claim["seconds"] is None else float(claim["seconds"])),
        "facts": texts(claim["facts"]),
        "assumptions": texts(claim["assumptions"]),
        "falsifiers": [
            [text(falsifier["name"]), falsifier["rejected"], text(falsifier["reason"])]
            for falsifier in claim["falsifiers"]
        ],
        "math": mathematics.tree(text(claim["latex"])),
        "origin": origin,
    }


def _as_json(result: Result) -> dict[str, Any]:
    claim: dict[str, Any] = as_json([result])["claims"][0]
    return claim


def _same_claim(claim: Claim, stored_claim: Mapping[str, Any]) -> bool:
    """True if the stored claim has the same statement, LaTeX and falsifiers as the claim."""
    return (stored_claim["statement"], stored_claim["latex"]) == (claim.statement, claim.latex) and {
        falsifier["name"] for falsifier in stored_claim["falsifiers"]
    } == set(claim.falsifiers)
