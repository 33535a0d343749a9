"""Checked claims and laws of a user's encodings as a screen: verdicts first, then what does not hold as printed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lengthgen.proofs_checks.claim import Strength
from lengthgen.proofs_checks.report import MARKS, mark, rejected, table
from lengthgen.proofs_checks.result import Result, Verdict
from lengthgen.tables.encodings import declared_lines, encodings_table, without_formulas
from lengthgen.tables.layout import LINES, Fitted, Screen, columns, more


def ledger_screen(results: Sequence[Result]) -> Screen:
    """Return each claim with its statement; or if this is longer than a screen a line each, or numbers and names.

    Numbers are those of claims by verdict and reach, names those of claims that are refuted, corrected or unsettled.
    """
    sentence = Text(_sentence(results), style="bold")
    few = []
    if len(results) < LINES:
        few = [Group(sentence, _rows(results, wrapped=True))]
        few += [Group(sentence, _rows(results, wrapped=False), Text("whole statements and reasons: --details"))]
    longest = max(map(len, _not_verified(results).values()), default=0)
    counts = (Group(sentence, _counts(results), *_names(results, shown)) for shown in range(longest, -1, -1))
    return Screen(chain(few, counts))


def _rows(results: Sequence[Result], *, wrapped: bool) -> RenderableType:
    """Return a row for each claim: its statement and why it is not verified, or as much of both as a line holds."""
    rows = columns("claim", "verdict", "reach")
    for column in rows.columns:
        column.no_wrap = True
    rows.add_column("statement", no_wrap=not wrapped, overflow="ellipsis", ratio=1)
    rows.expand = True
    for result in results:
        text = result.claim.statement + (f"{chr(10) if wrapped else ' '}{result.reason}" if result.reason else "")
        rows.add_row(Text(f"{result.claim.id} [{result.claim.label}]"), result.verdict, mark(result), Text(text))
    return rows


def own_table(results: Sequence[Result], declared: Mapping[str, Any]) -> Group:
    """Return the verdict on each law of a user's encodings, the claims of the file, and the encodings' properties."""
    claims = [Fitted(table(results))] if results else []
    return Group(*map(Text, declared_lines(declared)), *claims, encodings_table(declared))


def own_screen(results: Sequence[Result], declared: Mapping[str, Any]) -> Screen:
    """Return the same, or if it is longer than a screen what was decided of laws, failures first."""
    lines = [*without_formulas(declared), *declared_lines(declared)]
    sentence = [_sentence(results)] if results else []

    def cut(shown: int) -> Group:
        left = [*more(len(lines), shown), "properties of these encodings: --details"]
        return Group(*map(Text, [*sentence, *lines[:shown], *left]))

    return Screen(chain([own_table(results, declared)], (cut(shown) for shown in range(len(lines), -1, -1))))


def _sentence(results: Sequence[Result]) -> str:
    """Return how many claims hold, how many falsifiers of settled claims were rejected, and which claims need runs."""
    settled = [result for result in results if result.verdict is not Verdict.UNSETTLED]
    falsifiers = sum(len(result.falsifiers) for result in settled)
    waiting = sum(result.verdict is Verdict.UNSETTLED and result.claim.on_runs for result in results)
    return (
        f"{sum(result.holds for result in results):,} of {len(results):,} claims hold"
        + (f"; {sum(map(rejected, settled)):,} of {falsifiers:,} falsifiers are rejected" if settled else "")
        + (f"; {waiting:,} need trained runs (--runs)" if waiting else "")
    )


def _counts(results: Sequence[Result]) -> RenderableType:
    """Return the number of claims by verdict in rows and by reach in columns."""
    counts = Counter((result.verdict, result.strength) for result in results)
    reaches = [reach for reach in (*Strength, None) if any(of == reach for _, of in counts)]
    shown = columns("verdict", *("not decided" if reach is None else MARKS[reach] for reach in reaches), "claims")
    for verdict in (verdict for verdict in Verdict if any(of is verdict for of, _ in counts)):
        numbers = [counts[verdict, reach] for reach in reaches]
        shown.add_row(verdict, *(str(number or "-") for number in numbers), str(sum(numbers)))
    return Fitted(shown)


def _not_verified(results: Sequence[Result]) -> dict[Verdict, list[str]]:
    """Return the claims with each verdict other than `verified`, by name."""
    names: dict[Verdict, list[str]] = {}
    for verdict in (Verdict.REFUTED, Verdict.CORRECTED, Verdict.UNSETTLED):
        if of := [result.claim.id for result in results if result.verdict is verdict]:
            names[verdict] = of
    return names


def _names(results: Sequence[Result], shown: int) -> list[Text]:
    """Return a line for each verdict other than `verified`, with so many names, and where to find the rest."""
    lines = [
        f"{verdict}: {', '.join([*names[:shown], *more(len(names), shown)])}"
        for verdict, names in _not_verified(results).items()
    ]
    return [Text(line) for line in [*lines, "a claim whole: lengthgen claims ID; all of them: --details"]]
