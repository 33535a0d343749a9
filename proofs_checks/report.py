"""The ledger of a run: JSON for programs, a table for people."""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from proofs_checks.runner import Result, Verdict

_COLOURS = {
    Verdict.VERIFIED: "green",
    Verdict.CORRECTED: "yellow",
    Verdict.REFUTED: "red",
    Verdict.UNSETTLED: "magenta",
}


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """The ledger as plain data; `holds` is true when every claim of the run holds."""
    return {"claims": [_claim_json(result) for result in results], "holds": all(result.holds for result in results)}


def table(results: Sequence[Result]) -> Table:
    """The ledger as a table, one claim a row, with the reason of each verdict that has one."""
    ledger = Table(title="Claims", show_lines=True)
    for heading in ("claim", "verdict", "strength", "falsifiers", "seconds", "statement"):
        ledger.add_column(heading, justify="right" if heading == "seconds" else "left")
    for result in results:
        rejected = sum(falsifier.rejected for falsifier in result.falsifiers)
        note = f"\n[dim]{escape(result.reason)}[/dim]" if result.reason else ""
        ledger.add_row(
            f"{result.claim.id} \\[{result.claim.label}]",
            f"[{_COLOURS[result.verdict]}]{result.verdict}[/]",
            result.strength or "-",
            f"{rejected}/{len(result.falsifiers)} rejected",
            f"{result.seconds:.2f}",
            escape(result.claim.statement) + note,
        )
    return ledger


def _claim_json(result: Result) -> dict[str, Any]:
    claim, evidence = result.claim, result.evidence
    return {
        "id": claim.id,
        "verdict": str(result.verdict),
        "holds": result.holds,
        "strength": str(result.strength) if result.strength else None,
        "seconds": result.seconds,
        "falsifiers": [
            {"name": falsifier.name, "rejected": falsifier.rejected, "reason": falsifier.reason}
            for falsifier in result.falsifiers
        ],
        "reason": result.reason,
        "statement": claim.statement,
        "latex": claim.latex,
        "label": claim.label,
        "source": {"paper": claim.source.paper, "arxiv": claim.source.arxiv, "place": claim.source.place},
        "facts": list(evidence.facts) if evidence else [],
        "assumptions": list(evidence.assumptions) if evidence else [],
    }
