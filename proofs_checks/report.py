"""The ledger of a run: JSON for programs, a table for the terminal, Markdown documents, and certificates as files.

Equal results give the same Markdown, letter by letter.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich import box
from rich.table import Table
from rich.text import Text

from lengthgen.infrastructure.errors import writable
from lengthgen.infrastructure.files import write_json
from lengthgen.proofs_checks.claim import PARTS, Source, Strength
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.reading import decided_at
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
    Strength.FORMAL: "Coq's kernel accepted a theorem that states all of the claim, for all sizes; what is left in "
    "words is how the theorem is read",
    Strength.GENERAL: "symbolic, for every dimension and parameter that the statement leaves open; formal steps are "
    "identities, or theorems of a part, that Coq accepted, and the argument around them is in words",
    Strength.BOUNDED: "symbolic or exact, for each size up to the bound that is named",
    Strength.EXHAUSTIVE: "each case of the finite domain that is named",
    Strength.INTERVAL: "between rigorous bounds, at the parameters that are named",
    Strength.NUMERIC: "floating point with a tolerance, at the parameters that are named: no proof",
    Strength.STATISTICAL: "a test of trained runs, which can refute and not prove",
}
"""Meaning of each mark."""
_HEADINGS = ("claim", "label", "verdict", "reach of the check", "falsifiers", "statement", "decided by", "in Coq")
_LIMITED = (Strength.BOUNDED, Strength.EXHAUSTIVE, Strength.INTERVAL, Strength.NUMERIC)
_LONGEST_LEMMA = 150
"""Characters of a lemma that is shown beside its claim; the evidence shows longer ones."""
_LONGEST_SHOWN = 600
_WRONG_HEADINGS = ("the paper prints", "what is right", "why the printed statement fails", "claim")


def mark(result: Result) -> str:
    """Reach of a claim's check in the reader's words, and its formal steps; a dash if the claim does not hold."""
    return marked(result.strength, result.formal_steps)


def marked(strength: Strength | None, formal_steps: int) -> str:
    """Mark of a strength, with the number of formal steps."""
    if not strength:
        return "-"
    steps = 0 if strength is Strength.FORMAL else formal_steps
    return MARKS[strength] + (f", {steps} step{'' if steps == 1 else 's'} formal" if steps else "")


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    """Return the ledger as plain data; `holds` is true if every claim of the run holds."""
    return {"claims": [_claim_json(result) for result in results], "holds": all(result.holds for result in results)}


def table(results: Sequence[Result]) -> Table:
    """Return the ledger as a table with one row per claim, and the reason below each verdict other than `verified`.

    The claims of each of `PARTS` have a heading, if there are claims of both.
    """
    ledger = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    ledger.add_column("claim", no_wrap=True)
    for heading in ("verdict", "reach"):
        ledger.add_column(heading)
    for heading in ("rejected", "seconds"):
        ledger.add_column(heading, justify="right")
    ledger.add_column("statement", ratio=1)
    for heading, of_part in by_part(results):
        if len(of_part) < len(results):
            ledger.add_row(Text(heading, style="bold"))
        for result in of_part:
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


def by_part(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Group the results under the headings of `PARTS`, with the number of claims; groups are in that order."""
    headings = {**PARTS, "own": "Your own claims"}
    groups = {part: [result for result in results if result.claim.part == part] for part in headings}
    return [(f"{headings[part]}: {counted(len(group))}", group) for part, group in groups.items() if group]


def counted(claims: int) -> str:
    """Return a number of claims in words."""
    return f"{claims} claim{'' if claims == 1 else 's'}"


def by_paper(results: Sequence[Result]) -> list[tuple[Source, list[Result]]]:
    """Group the results by arXiv id, or by paper name where there is no id; groups are in order of first appearance.

    Each group comes with the source of its first result.
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.claim.source.arxiv or result.claim.source.paper, []).append(result)
    return [(of_paper[0].claim.source, of_paper) for of_paper in groups.values()]


def with_formal_steps(results: Iterable[Result]) -> list[str]:
    """Ids of the claims that are not formal and have formal steps."""
    return [
        result.claim.id
        for result in results
        if result.strength and result.strength is not Strength.FORMAL and result.formal_steps
    ]


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
        "formal_steps": result.formal_steps,
        "seconds": result.seconds,
        "falsifiers": [
            {"name": falsifier.name, "rejected": falsifier.rejected, "reason": falsifier.reason}
            for falsifier in result.falsifiers
        ],
        "reason": result.reason,
        "statement": claim.statement,
        "latex": claim.latex,
        "label": claim.label,
        "part": claim.part,
        "on_runs": claim.on_runs,
        "source": {"paper": claim.source.paper, "arxiv": claim.source.arxiv, "place": claim.source.place},
        "facts": list(evidence.facts) if evidence else [],
        "assumptions": list(evidence.assumptions) if evidence else [],
    }


def document(results: Sequence[Result]) -> str:
    """Return the ledger as Markdown: the meaning of the marks, statements that papers print wrongly, and all claims.

    What papers say comes before what we add, and each list is grouped by paper. Links to code begin at the root of the
    repository.
    """
    holding = sum(result.holds for result in results)
    waiting = sum(result.claim.on_runs and result.verdict is Verdict.UNSETTLED for result in results)
    rest = f"; {waiting} on trained runs are unsettled, and say what is missing" if waiting else ""
    wrong = [result for result in results if result.verdict in (Verdict.CORRECTED, Verdict.REFUTED)]
    parts = [
        "# Claims",
        f"{holding} of {len(results)} claims hold{rest}. One check decides a claim's statement, the printed "
        "statement where that is wrong, and the falsifiers: false statements, all of which it must reject. `P`: the "
        "paper says it; `F`: our formalisation. Written by `lengthgen verify --format markdown`.",
        "Reach of a check:",
        "\n".join(f"- **{MARKS[strength]}**: {LEGEND[strength]}" for strength in Strength),
        *_trust(results),
    ]
    if wrong:
        parts += [f"## Corrected and refuted: {len(wrong)} statements that are wrong as printed"]
        for paper, claims_of_paper in by_paper(wrong):
            parts += [f"### {_heading(paper)}", _table(_WRONG_HEADINGS, map(_wrong_row, claims_of_paper))]
    for heading, of_part in by_part(results):
        parts += [f"## {heading}, by paper"]
        for paper, claims_of_paper in by_paper(of_part):
            parts += [f"### {_heading(paper)}", _table(_HEADINGS, map(_row, claims_of_paper))]
    return "\n\n".join(parts) + "\n"


def _trust(results: Sequence[Result]) -> list[str]:
    """Paragraph on what the formal claims rest on; empty if there are none."""
    formal = sum(result.strength is Strength.FORMAL for result in results)
    if not formal:
        return []
    record = recorded.record()
    axioms = ", ".join(f"`{axiom}`" for axiom in record["assumptions"])
    return [
        f"Formal: {formal} claims; {len(with_formal_steps(results))} others have formal steps, as recorded with "
        f"{record['prover']}; `make proofs` replays them. The last column shows a lemma of the claim or a theorem by "
        "hand, and [evidence.md](evidence.md) the other lemmas. What stays trusted: that a theorem says what the "
        "paper's words say, which is the reader's to judge; for a formal step the argument around it, and the parts "
        "that sympy evaluated before an identity was written, which the facts name and which are variables of the "
        f"lemma; Coq's kernel and installed libraries; and its axioms: {axioms}.",
    ]


def evidence(results: Sequence[Result]) -> str:
    """Return the evidence as Markdown: the facts that each check established, and what refutes each falsifier."""
    parts = [
        "# Evidence",
        "For each claim the facts that its check established, and for each falsifier, a false statement, what refutes "
        "it. The claims themselves: [claims.md](claims.md). Written by `lengthgen verify --format evidence`.",
        *(_evidence_section(result) for result in results if result.evidence),
    ]
    return "\n\n".join(parts) + "\n"


def _evidence_section(result: Result) -> str:
    facts = result.evidence.facts if result.evidence else ()
    lines = [f"- {_text(fact)}" for fact in facts]
    lines += [f"- Coq: {_code(lemma.statement)}" for lemma in result.lemmas]
    lines += [
        f"- Coq, by hand, {_code(theorem.name)} ([{theorem.file}.v](/proofs_checks/formal/{theorem.file}.v)): "
        f"{_code(theorem.statement)}"
        for theorem in recorded.theorems_of(result.claim.id)
    ]
    lines += [
        f"- {'false' if falsifier.rejected else 'not refuted'}, *{_text(falsifier.name)}*: {_text(falsifier.reason)}"
        for falsifier in result.falsifiers
    ]
    return "\n".join([f"## {_text(result.claim.id)}", "", *lines])


def _heading(paper: Source) -> str:
    if not paper.arxiv:
        return _text(paper.paper)
    return f"{_text(paper.paper)} (arXiv [{_text(paper.arxiv)}](https://arxiv.org/abs/{_link(paper.arxiv)}))"


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, ("---",) * len(headings), *rows))


def _wrong_row(result: Result) -> tuple[str, ...]:
    """Row of a claim whose printed statement is wrong; a refuted claim has no right statement beside it."""
    claim, place = result.claim, _text(result.claim.source.place)
    if result.verdict is Verdict.REFUTED:
        return f"{place}: {_text(claim.statement)}", "-", _text(result.reason), f"{_text(claim.id)}, refuted"
    right, printed = as_printed(claim.statement)
    why = result.reason.removeprefix("as printed: ")
    return f"{place}: {_text(printed)}" if printed else place, _text(right), _text(why), f"{_text(claim.id)}, corrected"


def as_printed(statement: str) -> tuple[str, str]:
    """Split a corrected statement into the right statement and the printed one.

    The printed one stands in brackets at the end: "(errata F1: ...)" or "(the paper ...)". It is empty if there are no
    such brackets.
    """
    if not statement.endswith(")."):
        return statement, ""
    end = start = len(statement) - 2
    open_brackets = 1
    while open_brackets and start:
        start -= 1
        open_brackets += {")": 1, "(": -1}.get(statement[start], 0)
    inside = statement[start + 1 : end]
    erratum = re.match(r"errata F\d+(: )?", inside)
    if not erratum and not inside.startswith(("the paper", "the lemma")):
        return statement, ""
    printed = inside[erratum.end() :] if erratum else inside
    return f"{statement[:start].rstrip()}.", printed.removeprefix("the paper prints ")


def _row(result: Result) -> tuple[str, ...]:
    """Row of one claim in the list of all claims."""
    claim, place = result.claim, decided_at(result.claim)
    reason = f"<br>*{_text(result.reason)}*" if result.reason else ""
    return (
        _text(claim.id),
        _text(claim.label),
        result.verdict,
        _reach(result),
        f"{rejected(result)} of {len(result.falsifiers)} rejected",
        _text(claim.statement) + reason,
        f"[{_text(place.rpartition('/')[2])}](/{_link(place)})" if place else "-",
        _in_coq(result),
    )


def _in_coq(result: Result) -> str:
    """Theorem by hand or shortest lemma of a claim, and where the others are; a dash if there is none."""
    theorems = recorded.theorems_of(result.claim.id)
    lemmas = sorted((lemma.statement for lemma in result.lemmas), key=len)
    parts = [f"[{_text(theorem.name)}](/proofs_checks/formal/{theorem.file}.v)" for theorem in theorems]
    shown = [f"`{lemma}`" for lemma in lemmas[:1] if len(lemma) <= _LONGEST_LEMMA and "|" not in lemma]
    parts += shown
    rest = len(lemmas) - len(shown)
    if rest:
        word = "lemma" if rest == 1 else "lemmas"
        parts.append(f"[{rest} {'more ' if shown else ''}{word}](evidence.md#{quote(result.claim.id)})")
    return "<br>".join(parts) or "-"


def _code(text: str) -> str:
    """Text as code, cut off if it is long; `lengthgen verify --formal` writes all of it."""
    return f"`{text[:_LONGEST_SHOWN]}{' ...' if len(text) > _LONGEST_SHOWN else ''}`"


def _reach(result: Result) -> str:
    """Mark of the check, followed by the sizes or parameters that it covers if these are limited."""
    assumptions = result.evidence.assumptions if result.evidence and result.strength in _LIMITED else ()
    return ": ".join(filter(None, (mark(result), _text("; ".join(assumptions)))))


def _link(text: str) -> str:
    """Text as a part of a link."""
    return quote(writable(text), safe="/#")


def _text(text: str) -> str:
    """Text in one line, escaped so that Markdown does not read any character as markup."""
    return re.sub(r"([\\`*_\[\]<>|~$&])", r"\\\1", writable(" ".join(text.split())))
