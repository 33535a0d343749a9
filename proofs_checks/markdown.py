"""The ledger as a Markdown document, the same letter by letter for the same results."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from proofs_checks.claim import Source, Strength
from proofs_checks.reading import decided_at
from proofs_checks.report import LEGEND, MARKS, by_paper, mark, rejected
from proofs_checks.runner import Result, Verdict

_HEADINGS = ("claim", "label", "verdict", "reach of the check", "falsifiers", "statement", "decided by")
_OF_SOME = (Strength.BOUNDED, Strength.EXHAUSTIVE, Strength.INTERVAL, Strength.NUMERIC)
_WRONG = ("the paper prints", "what is right", "why the printed statement fails", "claim")


def document(results: Sequence[Result]) -> str:
    """Ledger as Markdown: the meaning of the marks, what papers print wrongly, and all claims; each by paper.

    Links to code begin at the root of the repository.
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
        "How far a check reaches:",
        "\n".join(f"- **{MARKS[strength]}**: {LEGEND[strength]}" for strength in Strength),
    ]
    if wrong:
        parts += [f"## Corrected and refuted: {len(wrong)} statements that are wrong as printed"]
        for paper, of_paper in by_paper(wrong):
            parts += [f"### {_heading(paper)}", _table(_WRONG, map(_wrong_row, of_paper))]
    parts += ["## All claims, by paper"]
    for paper, of_paper in by_paper(results):
        parts += [f"### {_heading(paper)}", _table(_HEADINGS, map(_row, of_paper))]
    return "\n\n".join(parts) + "\n"


def _heading(paper: Source) -> str:
    if not paper.arxiv:
        return _text(paper.paper)
    return f"{_text(paper.paper)} (arXiv [{_text(paper.arxiv)}](https://arxiv.org/abs/{quote(paper.arxiv)}))"


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, ("---",) * len(headings), *rows))


def _wrong_row(result: Result) -> tuple[str, ...]:
    """A corrected statement beside the printed one; a refuted statement has none that is right beside it."""
    claim, place = result.claim, _text(result.claim.source.place)
    if result.verdict is Verdict.REFUTED:
        return f"{place}: {_text(claim.statement)}", "-", _text(result.reason), f"{_text(claim.id)}, refuted"
    right, printed = as_printed(claim.statement)
    why = result.reason.removeprefix("as printed: ")
    return f"{place}: {_text(printed)}" if printed else place, _text(right), _text(why), f"{_text(claim.id)}, corrected"


def as_printed(statement: str) -> tuple[str, str]:
    """Right statement and printed one, from the brackets that a corrected statement ends with; else empty."""
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
    claim, place = result.claim, decided_at(result.claim)
    reason = f"<br>*{_text(result.reason)}*" if result.reason else ""
    return (
        _text(claim.id),
        _text(claim.label),
        result.verdict,
        _reach(result),
        f"{rejected(result)} of {len(result.falsifiers)} rejected",
        _text(claim.statement) + reason,
        f"[{_text(place.rpartition('/')[2])}](/{quote(place, safe='/#')})" if place else "-",
    )


def _reach(result: Result) -> str:
    """The mark, and where the check is of some sizes or parameters only, of which."""
    assumptions = result.evidence.assumptions if result.evidence and result.strength in _OF_SOME else ()
    return ": ".join(filter(None, (mark(result), _text("; ".join(assumptions)))))


def _text(text: str) -> str:
    """Text as it is: in one line, with nothing that Markdown would read as its own."""
    return re.sub(r"([\\`*_\[\]<>|~$&])", r"\\\1", " ".join(text.split()))
