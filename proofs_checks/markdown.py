"""The ledger as a Markdown document, the same letter by letter for the same results."""

import re
from collections.abc import Sequence
from urllib.parse import quote

from proofs_checks.reading import decided_at
from proofs_checks.report import by_paper, rejected
from proofs_checks.runner import Result, Verdict

_HEADINGS = ("claim", "label", "verdict", "strength", "falsifiers", "statement", "decided by")


def document(results: Sequence[Result]) -> str:
    """A heading and a table for each paper; links to code begin at the root of the repository."""
    holding = sum(result.holds for result in results)
    waiting = sum(result.claim.on_runs and result.verdict is Verdict.UNSETTLED for result in results)
    rest = f"; {waiting} on trained runs are unsettled, and say what is missing" if waiting else ""
    parts = [
        "# Claims",
        f"{holding} of {len(results)} claims hold{rest}. One check decides a claim's statement, the printed "
        "statement where that is wrong, and the falsifiers: false statements, all of which it must reject. `P`: the "
        "paper says it; `F`: our formalisation. Written by `lengthgen verify --format markdown`.",
    ]
    for paper, of_paper in by_paper(results):
        heading = f"## {_text(paper.paper)} (arXiv [{_text(paper.arxiv)}](https://arxiv.org/abs/{quote(paper.arxiv)}))"
        rows = [_HEADINGS, ("---",) * len(_HEADINGS), *map(_row, of_paper)]
        parts += [heading, "\n".join(f"| {' | '.join(row)} |" for row in rows)]
    return "\n\n".join(parts) + "\n"


def _row(result: Result) -> tuple[str, ...]:
    claim, place = result.claim, decided_at(result.claim)
    reason = f"<br>*{_text(result.reason)}*" if result.reason else ""
    return (
        _text(claim.id),
        _text(claim.label),
        result.verdict,
        result.strength or "-",
        f"{rejected(result)} of {len(result.falsifiers)} rejected",
        _text(claim.statement) + reason,
        f"[{_text(place.rpartition('/')[2])}](/{quote(place, safe='/#')})" if place else "-",
    )


def _text(text: str) -> str:
    """Text as it is: in one line, with nothing that Markdown would read as its own."""
    return re.sub(r"([\\`*_\[\]<>|~$&])", r"\\\1", " ".join(text.split()))
