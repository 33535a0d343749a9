"""`lengthgen claims`: the claims that words find, a line each, and the page of one claim."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lengthgen.infrastructure.files import user_cache
from lengthgen.proofs_checks.claim import PARTS, TIME_LIMIT, Strength
from lengthgen.proofs_checks.reading import decided_at
from lengthgen.questions.verify import claim_results
from lengthgen.terminal.answers import show
from lengthgen.terminal.layout import LINES, Screen, cut_to_screen
from lengthgen.terminal.options import Details, Json


def claims(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Words of a statement, a paper or an encoding, or an arXiv id. One claim id shows the claim whole.",
            show_default="all claims",
        ),
    ] = None,
    details: Details = False,
    as_json: Json = False,
) -> None:
    """Find claims by words, or show one claim whole: statement, what the paper prints, proof, falsifiers, TeX."""
    if claim_id := _one_claim(words or []):
        answer = page_answer(claim_id)
        show(answer, claim_page(answer), as_json)
    else:
        answer = found_answer(words or [], most=None if details or as_json else LINES)
        count = len(answer["claims"])
        all_claims = Screen([_listed(answer, count)])
        show(answer, all_claims if details else cut_to_screen(count, lambda shown: _listed(answer, shown)), as_json)


def _one_claim(words: Sequence[str]) -> str | None:
    """Return the id of the claim that a single word names, in any case; None if the words are a search."""
    from lengthgen.proofs_checks.registry import CLAIMS

    named = words[0].strip().casefold() if len(words) == 1 else None
    return named if any(claim.id == named for claim in CLAIMS) else None


def found_answer(words: Sequence[str], *, most: int | None) -> dict[str, Any]:
    """Return the claims with the most of the words, best first, each with its stored verdict, if it has one.

    Args:
        words: words as in `lengthgen.proofs_checks.search.search`; none for all claims.
        most: largest number of claims in the answer; None for all that were found.

    Raises:
        Unknown: no claim has any of the words.
    """
    from lengthgen.proofs_checks import ledger, registry
    from lengthgen.proofs_checks.search import search

    matches = search(words)
    shown, counts = matches.claims[:most], Counter(claim.part for claim in matches.claims)
    # These claims, and no others whose ids begin as theirs
    selection = ledger.Selection(claims=tuple(shown), find=registry.find, home=registry.home)
    settled = ledger.settled(selection, user_cache("claims"))
    return {
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "paper": claim.source.paper,
                "arxiv": claim.source.arxiv,
                "part": claim.part,
                "verdict": str(settled[claim.id].verdict) if claim.id in settled else None,
            }
            for claim in shown
        ],
        "found": len(matches.claims),
        "parts": {part: counts[part] for part in PARTS if counts[part]},
        "missing": matches.missing,
        "unknown": [{"word": word, "nearest": near or None} for word, near in matches.unknown],
    }


def page_answer(claim_id: str) -> dict[str, Any]:
    """Return all that is known of a claim: `verify`'s answer, what the paper prints, and where and how it is proved.

    The claim is run if no result of its present code is stored.
    """
    from lengthgen.proofs_checks import ledger, registry, report
    from lengthgen.proofs_checks.formal import recorded
    from lengthgen.proofs_checks.paper import title
    from lengthgen.proofs_checks.report import as_printed

    claim = registry.find(claim_id)
    alone = ledger.Selection(claims=(claim,), find=registry.find, home=registry.home)
    [result] = claim_results(alone, time_limit=TIME_LIMIT)
    answer: dict[str, Any] = report.as_json([result])["claims"][0]
    right, printed = as_printed(claim.statement) if claim.printed else (claim.statement, "")
    why_false = {"statement": printed, "fails": result.reason.removeprefix("as printed: ")}
    return answer | {
        "statement": right,
        "printed": why_false if claim.printed else None,
        "title": title(claim.source),
        "decided_by": decided_at(claim),
        "lemmas": [lemma.statement for lemma in result.lemmas],
        "theorems": [
            {
                "name": theorem.name,
                "file": theorem.file,
                "says": theorem.says,
                "statement": theorem.statement,
                "definitions": list(theorem.definitions),
            }
            for theorem in recorded.theorems_of(claim.id)
        ],
    }


_LABELS = {"P": "the paper says it", "F": "our formalisation"}


def _listed(answer: Mapping[str, Any], shown: int) -> RenderableType:
    """Return a line for each of the first claims: id, verdict if one is stored, and the beginning of the statement."""
    total, claims = answer["found"], answer["claims"][:shown]
    groups = {part: [claim for claim in claims if claim["part"] == part] for part in PARTS}
    listed: list[RenderableType] = []
    for part, of_part in groups.items():
        if len(answer["parts"]) > 1 and of_part:
            listed.append(Text(f"{PARTS[part]}: {answer['parts'][part]}", style="bold"))
        listed.append(_lines(of_part, settled=any(claim["verdict"] for claim in claims)))
    notes = [
        f"no claim has {note['word'][:60]!r}" + (f": did you mean {note['nearest']}?" if note["nearest"] else "")
        for note in answer["unknown"]
    ]
    if answer["missing"]:
        notes.append(f"no claim has all the words; {'these lack' if total > 1 else 'this lacks'} {answer['missing']}")
    if shown < total:
        notes.append(f"{total - shown} more: add words, or --details")
    notes.append("`lengthgen claims ID` shows one whole; `lengthgen verify ID ...` checks them")
    title = f"{total} claim{'' if total == 1 else 's'}"
    return Group(Text(title, style="bold"), *listed, *map(Text, notes))


def _lines(claims: Sequence[Mapping[str, Any]], *, settled: bool) -> Table:
    """Return a line for each claim; with its verdict, or a dash, if some are `settled`."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True)
    if settled:
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for claim in claims:
        verdict = [Text(claim["verdict"] or "-")] if settled else []
        table.add_row(Text(claim["id"]), *verdict, Text(" ".join(claim["statement"].split())))
    return table


def claim_page(answer: Mapping[str, Any]) -> Screen:
    """Return a claim whole: statement, what the paper prints, proof, falsifiers, TeX, source."""
    from lengthgen.proofs_checks.report import LEGEND, marked

    source, printed = answer["source"], answer["printed"]
    strength = answer["strength"] and Strength(answer["strength"])
    page = Table.grid(padding=(0, 2))
    page.add_column(no_wrap=True)
    page.add_column()
    for heading, lines in (
        (
            "paper",
            [
                ": ".join(filter(None, (source["paper"], source["place"]))),
                "" if answer["title"] == source["paper"] else answer["title"],
                f"https://arxiv.org/abs/{source['arxiv']}" if source["arxiv"] else "",
            ],
        ),
        ("label", [f"{answer['label']}: {_LABELS[answer['label']]}"]),
        (
            "the paper prints",
            [printed["statement"], f"false: {printed['fails']}"] if printed else [],
        ),
        ("verdict", [": ".join(filter(None, (answer["verdict"], "" if printed else answer["reason"])))]),
        ("proof", [f"{marked(strength, answer['formal_steps'])}: {LEGEND[strength]}"] if strength else []),
        ("facts", answer["facts"]),
        ("assumptions", answer["assumptions"]),
        (
            "theorems in Coq",
            [
                line
                for its in answer["theorems"]
                for line in (
                    its["says"],
                    f"{its['name']}: {its['statement']}",
                    *its["definitions"],
                    f"proofs_checks/formal/{its['file']}.v",
                )
            ],
        ),
        ("steps in Coq", answer["lemmas"]),
        ("decided by", [answer["decided_by"]]),
        (
            "falsifiers",
            [
                f"{wrong['name']}: {'false' if wrong['rejected'] else 'not refuted'}, {wrong['reason']}"
                for wrong in answer["falsifiers"]
            ],
        ),
        ("TeX", [answer["latex"]]),
    ):
        for at, line in enumerate(filter(None, lines)):
            page.add_row(Text("" if at else heading, style="bold"), Text(" ".join(line.split())))
    statement = Text(" ".join(answer["statement"].split()))
    return Screen([Group(Text(answer["id"], style="bold"), statement, Text(), page)])
