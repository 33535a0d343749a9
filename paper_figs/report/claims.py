"""The ledger on the page: every claim, with what is settled of it. Nothing is run for the page but claims on runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paper_figs.report import mathematics
from paper_figs.report.plain import rounded, text, texts
from paper_figs.stored import read_claims
from proofs_checks import ledger
from proofs_checks.claim import Claim
from proofs_checks.ledger import Selection
from proofs_checks.report import MARKS, as_json
from proofs_checks.runner import Result, run_claim

NOT_RUN = "not run"
"""In place of the verdict of a claim that nothing is known of."""

CACHE, STORED, RUNS = "cache", "stored", "runs"
"""Origin of a result: settled by the code as it is, written by `reproduce` with whatever code, or decided now."""


def claims_data(selection: Selection, cache: Path, stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every claim of the selection, in its order.

    Args:
        selection: the claims, those on runs with the runs that decide them.
        cache: where the ledger keeps what it settled.
        stored: id -> a claim of claims.json, which stands for one that the cache does not hold, if it says the same.
    """
    settled = ledger.settled(selection, cache)
    found = []
    for claim in selection.claims:
        result, was = settled.get(claim.id), stored.get(claim.id)
        if claim.on_runs:
            # Its milliseconds differ each time, and the same runs give the same page.
            found.append(shown(_plain(run_claim(claim)) | {"seconds": None}, RUNS))
        elif result is not None:
            found.append(shown(_plain(result), CACHE))
        elif was is not None and _same(claim, was):
            found.append(shown(was, STORED))
        else:
            nothing = _plain(Result.cut_short(claim, "", 0.0))
            found.append(shown(nothing | {"verdict": NOT_RUN, "falsifiers": [], "seconds": None}, ""))
    return found


def stored_claims(path: Path, again: str) -> dict[str, Any]:
    """The claims of a claims.json by id; none where there is no such file. Raises as `paper_figs.stored.read_claims`.

    Args:
        path: the file.
        again: the command that makes it again.
    """
    if not path.exists():
        return {}
    return {claim["id"]: claim for claim in read_claims(path, again)}


def shown(claim: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """A claim as the page holds it, from one as `proofs_checks.report.as_json` has it."""
    source = claim["source"]
    return {
        **{key: text(claim[key]) for key in ("id", "verdict", "statement", "latex", "label", "reason")},
        **{key: text(source[key]) for key in ("paper", "arxiv", "place")},
        "strength": text(claim["strength"] or ""),
        "mark": text(MARKS.get(claim["strength"], claim["strength"] or "")),
        "seconds": rounded(None if claim["seconds"] is None else float(claim["seconds"])),
        "facts": texts(claim["facts"]),
        "assumptions": texts(claim["assumptions"]),
        "falsifiers": [[text(one["name"]), one["rejected"], text(one["reason"])] for one in claim["falsifiers"]],
        "math": mathematics.tree(text(claim["latex"])),
        "origin": origin,
    }


def _plain(result: Result) -> dict[str, Any]:
    claim: dict[str, Any] = as_json([result])["claims"][0]
    return claim


def _same(claim: Claim, was: Mapping[str, Any]) -> bool:
    """Whether a stored claim says what the claim says, and was put to the same falsifiers."""
    return (was["statement"], was["latex"]) == (claim.statement, claim.latex) and {
        one["name"] for one in was["falsifiers"]
    } == set(claim.falsifiers)
