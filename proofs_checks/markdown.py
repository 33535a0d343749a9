"""The ledger as a Markdown document; equal results give the same text, letter by letter."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from lengthgen.infrastructure.errors import writable
from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.formal import recorded
from lengthgen.proofs_checks.reading import decided_at
from lengthgen.proofs_checks.report import LEGEND, MARKS, by_paper, coverage, mark, rejected
from lengthgen.proofs_checks.result import Result, Verdict

_HEADINGS = ("claim", "label", "verdict", "reach of the check", "falsifiers", "statement", "decided by", "in Coq")
_LIMITED = (Strength.BOUNDED, Strength.EXHAUSTIVE, Strength.INTERVAL, Strength.NUMERIC)
_LONGEST_LEMMA = 150
"""Characters of a lemma that is shown beside its claim; the evidence shows longer ones."""
_LONGEST_SHOWN = 600
_WRONG_HEADINGS = ("the paper prints", "what is right", "why the printed statement fails", "claim")


def document(results: Sequence[Result]) -> str:
    """Return the ledger as Markdown: the meaning of the marks, statements that papers print wrongly, and all claims.

    Both lists are grouped by paper. Links to code begin at the root of the repository.
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
    parts += ["## All claims, by paper"]
    for paper, claims_of_paper in by_paper(results):
        parts += [f"### {_heading(paper)}", _table(_HEADINGS, map(_row, claims_of_paper))]
    return "\n\n".join(parts) + "\n"


def _trust(results: Sequence[Result]) -> list[str]:
    """Paragraph on what the formal claims rest on; empty if there are none."""
    record, covered = recorded.record(), coverage(results)
    if not covered.formal:
        return []
    axioms = ", ".join(f"`{axiom}`" for axiom in record["assumptions"])
    return [
        f"Formal: {len(covered.formal)} of the {len(covered.algebraic)} claims for all dimensions and parameters whose "
        f"checks decide identities, as recorded with {record['prover']}; `make proofs` replays them. The last column "
        "shows a lemma of the claim or a theorem by hand, and [evidence.md](evidence.md) the other lemmas. What stays "
        "trusted: the step from the paper's words to the lemma, which is the reader's to judge; the steps in words "
        "between identities; the parts that sympy evaluated before an identity was written, which the facts name and "
        f"which are variables of the lemma; Coq's kernel and installed libraries; and its axioms: {axioms}.",
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
    lines += [f"- Coq: {_code(lemma.statement)}" for lemma in result.lemmas or ()]
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
    return f"{statement[:start].rstrip()}.", inside[erratum.end() :] if erratum else inside


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
    lemmas = sorted((lemma.statement for lemma in result.lemmas or ()), key=len)
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
