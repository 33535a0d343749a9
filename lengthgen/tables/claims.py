"""Claims for people: the list that words find, one line a claim, and the page of one claim."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.report import LEGEND, MARKS
from lengthgen.tables.layout import Screen, cut_to_screen

_LABELS = {"P": "the paper says it", "F": "our formalisation"}


def claims_screen(answer: Mapping[str, Any]) -> Screen:
    """Return as many of the claims as fit a screen, a line each."""
    return cut_to_screen(len(answer["claims"]), lambda shown: _listed(answer, shown))


def claims_table(answer: Mapping[str, Any]) -> Screen:
    """Return all claims of the answer, a line each."""
    return Screen([_listed(answer, len(answer["claims"]))])


def _listed(answer: Mapping[str, Any], shown: int) -> RenderableType:
    """Return a line for each of the first claims: id, verdict if one is stored, and the beginning of the statement."""
    total, claims = answer["found"], answer["claims"][:shown]
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True)
    if settled := any(claim["verdict"] for claim in claims):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for claim in claims:
        verdict = [Text(claim["verdict"] or "-")] if settled else []
        table.add_row(Text(claim["id"]), *verdict, Text(" ".join(claim["statement"].split())))
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
    return Group(Text(title, style="bold"), table, *map(Text, notes))


def claim_page(answer: Mapping[str, Any]) -> Screen:
    """Return a claim whole: statement, what the paper prints, proof, falsifiers, TeX, source."""
    source, strength = answer["source"], answer["strength"]
    page = Table.grid(padding=(0, 2))
    page.add_column(no_wrap=True)
    page.add_column()
    for heading, lines in (
        ("paper", _source_lines(source, answer["title"])),
        ("label", [f"{answer['label']}: {_LABELS[answer['label']]}"]),
        ("the paper prints", _printed_lines(answer["printed"])),
        ("verdict", [": ".join(filter(None, (answer["verdict"], "" if answer["printed"] else answer["reason"])))]),
        ("proof", [f"{MARKS[strength]}: {LEGEND[strength]}"] if (strength := strength and Strength(strength)) else []),
        ("facts", answer["facts"]),
        ("assumptions", answer["assumptions"]),
        ("lemmas in Coq", answer["lemmas"]),
        ("theorems in Coq", [f"{theorem['name']}: {theorem['statement']}" for theorem in answer["theorems"]]),
        ("decided by", [answer["decided_by"]]),
        ("falsifiers", [_falsifier_line(falsifier) for falsifier in answer["falsifiers"]]),
        ("TeX", [answer["latex"]]),
    ):
        for at, line in enumerate(filter(None, lines)):
            page.add_row(Text("" if at else heading, style="bold"), Text(" ".join(line.split())))
    statement = Text(" ".join(answer["statement"].split()))
    return Screen([Group(Text(answer["id"], style="bold"), statement, Text(), page)])


def _source_lines(source: Mapping[str, str], title: str) -> list[str]:
    address = f"https://arxiv.org/abs/{source['arxiv']}" if source["arxiv"] else ""
    other_title = "" if title == source["paper"] else title
    return [": ".join(filter(None, (source["paper"], source["place"]))), other_title, address]


def _printed_lines(printed: Mapping[str, str] | None) -> list[str]:
    """Lines of the printed statement, if its words are known, and of why it is false."""
    return [printed["statement"], f"false: {printed['fails']}"] if printed else []


def _falsifier_line(falsifier: Mapping[str, Any]) -> str:
    return f"{falsifier['name']}: {'false' if falsifier['rejected'] else 'not refuted'}, {falsifier['reason']}"
