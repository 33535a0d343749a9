"""The ledger of a run: as JSON for programs, as a table for the terminal, and its certificates as files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich import box
from rich.table import Table
from rich.text import Text

from lengthgen.infrastructure.files import write_json
from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.result import Result, Verdict

_COLOURS = {
    Verdict.VERIFIED: "green",
    Verdict.CORRECTED: "yellow",
    Verdict.REFUTED: "red",
    Verdict.UNSETTLED: "magenta",
}

MARKS: Mapping[Strength, str] = {
    Strength.FORMAL: "formal",
    Strength.GENERAL: "proved for all",
    Strength.BOUNDED: "proved up to a bound",
    Strength.EXHAUSTIVE: "every case",
    Strength.INTERVAL: "enclosed",
    Strength.NUMERIC: "numeric",
    Strength.STATISTICAL: "trained runs",
}
"""Reach of a check in the reader's words, from strong to weak."""
LEGEND: Mapping[Strength, str] = {
    Strength.FORMAL: "proved for all, and Coq's kernel accepted every identity of the check as a lemma, or a theorem "
    "that states the claim; steps in words stay as the evidence has them",
    Strength.GENERAL: "symbolic, for every dimension and parameter that the statement leaves open",
    Strength.BOUNDED: "symbolic or exact, for each size up to the bound that is named",
    Strength.EXHAUSTIVE: "each case of the finite domain that is named",
    Strength.INTERVAL: "between rigorous bounds, at the parameters that are named",
    Strength.NUMERIC: "floating point with a tolerance, at the parameters that are named: no proof",
    Strength.STATISTICAL: "a test of trained runs, which can refute and not prove",
}
"""Meaning of each mark."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Share of the algebraic claims that are formal.

    Attributes:
        algebraic: claims for all dimensions and parameters whose checks decide identities.
        formal: those of them that are formal.
    """

    algebraic: tuple[str, ...]
    formal: tuple[str, ...]


def mark(result: Result) -> str:
    """Reach of a claim's check in the reader's words; a dash if the claim does not hold."""
    return MARKS[result.strength] if result.strength else "-"


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """Return the ledger as plain data; `holds` is true if every claim of the run holds."""
    return {"claims": [_claim_json(result) for result in results], "holds": all(result.holds for result in results)}


def table(results: Sequence[Result]) -> Table:
    """Return the ledger as a table with one row per claim, and the reason below each verdict other than `verified`."""
    ledger = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    ledger.add_column("claim", no_wrap=True)
    for heading in ("verdict", "reach"):
        ledger.add_column(heading)
    for heading in ("rejected", "seconds"):
        ledger.add_column(heading, justify="right")
    ledger.add_column("statement", ratio=1)
    for result in results:
        statement = Text(result.claim.statement)
        if result.reason:
            statement.append(f"\n{result.reason}", style="dim")
        ledger.add_row(
            Text(f"{result.claim.id} [{result.claim.label}]"),
            Text(result.verdict, style=_COLOURS[result.verdict]),
            mark(result),
            f"{rejected(result)}/{len(result.falsifiers)}",
            f"{result.seconds:.2f}",
            statement,
        )
    used = [strength for strength in Strength if any(result.strength is strength for result in results)]
    ledger.caption = "\n".join(f"{MARKS[strength]}: {LEGEND[strength]}" for strength in used) or None
    ledger.caption_justify = "left"
    return ledger


def rejected(result: Result) -> int:
    """Number of falsifiers that the check rejected."""
    return sum(falsifier.rejected for falsifier in result.falsifiers)


def by_paper(results: Sequence[Result]) -> list[tuple[Source, list[Result]]]:
    """Group the results by arXiv id, or by paper name where there is no id; groups are in order of first appearance.

    Each group comes with the source of its first result.
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.claim.source.arxiv or result.claim.source.paper, []).append(result)
    return [(of_paper[0].claim.source, of_paper) for of_paper in groups.values()]


def coverage(results: Iterable[Result]) -> Coverage:
    """General claims whose checks decide identities, and those of them that are formal."""
    general = (Strength.GENERAL, Strength.FORMAL)
    algebraic = [result for result in results if result.identities and result.strength in general]
    formal_claims = tuple(result.claim.id for result in algebraic if result.strength is Strength.FORMAL)
    return Coverage(algebraic=tuple(result.claim.id for result in algebraic), formal=formal_claims)


def write_certificates(results: Sequence[Result], folder: Path) -> dict[str, Any]:
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
        "on_runs": claim.on_runs,
        "source": {"paper": claim.source.paper, "arxiv": claim.source.arxiv, "place": claim.source.place},
        "facts": list(evidence.facts) if evidence else [],
        "assumptions": list(evidence.assumptions) if evidence else [],
    }
