"""Scores of theories as a table for people."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import Screen, columns, cut_to_screen, more, titled

KINDS = {"theories": "", "references": "base rate", "controls": "control"}
"""Part of the answer -> mark of its rows."""


def court_screen(answer: Mapping[str, Any]) -> Screen:
    """Return the verdicts in a sentence, and the scores of each theory and base rate."""
    named: dict[str, list[str]] = {"supported": [], "refuted": []}
    for name, row in answer["theories"].items():
        named.setdefault(row["verdict"], []).append(name)
    verdicts = "; ".join(f"{verdict}: {', '.join(names)}" for verdict, names in named.items() if names)
    rows = [(name, row) for part in ("theories", "references") for name, row in answer[part].items()]

    def form(shown: int) -> Group:
        table = columns("theory", "answers", "right", "wrong yes", "wrong no", "Brier", "verdict")
        for name, row in rows[:shown]:
            mark = " (post hoc)" if row.get("post_hoc") else ""
            table.add_row(Text(f"{name}{mark}"), *_numbers(row)[:5], row["verdict"])
        return titled(
            verdicts,
            table,
            *more(len(rows), shown),
            f"{len(answer['cells'])} {answer['evidence']} cells, {len(answer['did_not_fit'])} of them without fit; "
            f"solved from {answer['threshold']:.0%} on. Supported, refuted: Brier score below, above that of the base "
            "rate over the cells that it answers (95 % interval over tasks). An abstention counts as probability 1/2",
        )

    return cut_to_screen(len(rows), form)


def court_table(answer: Mapping[str, Any]) -> Group:
    """Return a row for each theory, base rate and control, and below it the cells on which theories disagree."""
    table = columns(
        "theory", "", "answers", "right", "wrong yes", "wrong no", "Brier", "log", "to base rate", "verdict"
    )
    for part, kind in KINDS.items():
        for name, row in answer[part].items():
            mark = "post hoc" if row.get("post_hoc") else kind
            table.add_row(Text(name), mark, *_numbers(row), row["verdict"])
    cells, missing = answer["cells"], answer["not_expressible"]
    not_measured = sum(not cell["fit_measured"] for cell in cells)
    notes = [
        f"{len(cells)} cells; {len(answer['did_not_fit'])} did not fit and are not scored; in {not_measured} no length "
        "of training was measured, and all their runs count as fitting",
        "right: answered cells that are as predicted. An abstention is scored as probability 1/2 (Brier 0.25).",
        "to base rate: difference of the Brier score to that of the base rate over answered cells, with a 95 % "
        "interval over tasks; supported if below 0, refuted if above",
        "verdicts at thresholds " + ", ".join(f"{threshold:g}" for threshold in answer["thresholds"]) + ":",
        *(f"  {name}: {_verdicts(row)}" for name, row in answer["theories"].items()),
        f"predictions frozen before any outcome was read: {answer['frozen']}",
        *(f"not expressible: {', '.join(tasks)}: {why}" for why, tasks in _by_reason(missing).items()),
    ]
    title = f"Theories of length generalization judged by {answer['evidence']} results, solved from "
    return Group(titled(f"{title}{answer['threshold']:.0%} on", table, *notes), _disagreements(answer))


def _numbers(row: Mapping[str, Any]) -> list[str]:
    """Return the entries of one row between its name and its verdict."""
    if "brier" not in row:
        return ["-"] * 7
    against = row["against_base"]
    change = f"{against['value']:+.3f} [{against['low']:+.3f}, {against['high']:+.3f}]" if against else "-"
    return [
        f"{row['answered']} of {row['answered'] + row['abstained']}",
        str(row["right_yes"] + row["right_no"]),
        str(row["wrong_yes"]),
        str(row["wrong_no"]),
        f"{row['brier']:.3f}",
        f"{row['log']:.3f}",
        change,
    ]


def _verdicts(row: Mapping[str, Any]) -> str:
    """Return the verdicts over thresholds in words."""
    verdicts = [entry["verdict"] for entry in row.get("by_threshold", {}).values()]
    counts = Counter(verdicts)
    return f"{next(iter(counts))} at all" if len(counts) == 1 else ", ".join(verdicts) or "-"


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Return reason -> tasks."""
    tasks: dict[str, list[str]] = {}
    for task, why in reasons.items():
        tasks.setdefault(why, []).append(task)
    return tasks


def _disagreements(answer: Mapping[str, Any]) -> Group:
    """Return the cells on which theories disagree, each with the answers and their reasons."""
    cells = {cell["name"]: cell for cell in answer["cells"]}
    lines = []
    for case in answer["disagreements"]:
        observed = {True: "generalizes", False: "fails", None: "tie"}[case["observed"]]
        lines.append(Text(f"{case['cell']}: {observed}", style="bold"))
        for verdict in ("yes", "no"):
            lines += [
                Text(f"  {verdict}: {name}: {cells[case['cell']]['guesses'][name]['reason']}") for name in case[verdict]
            ]
    return Group(Text(f"{len(answer['disagreements'])} cells on which theories disagree", style="bold"), *lines)
