"""Summary screen at the end of `reproduce`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.trial_screen import trial_screen


def summary(answers: Mapping[str, Any], out: Path) -> Group:
    """Return the summary screen of `reproduce`."""
    patterns = [f"{row['name']} {' -> '.join(map(str, row['lrc'].values()))}" for row in answers["lrc"]]
    tasks: dict[str, list[str]] = {}
    for row in answers["src"]:
        tasks.setdefault(", ".join(map(str, row["src"].values())), []).append(row["task"])
    complexities = [f"{values} ({', '.join(names)})" for values, names in tasks.items()]
    return Group(
        Text(f"LRC from scale 4 to 8:  {'; '.join(patterns)}"),
        Text(f"SRC at scales 1-6:      {'; '.join(complexities)}"),
        trial_screen(answers["conjecture"], out / "fig1"),
        *_figures(answers["figures"]),
        Text("Found", style="bold"),
        *(Text(f"  {line}") for line in found_lines(answers)),
        Text(
            f"To explore it all: {answers['report']['page']}; {len(answers['figures']['drawn'])} figures and tables in "
            f"{out / 'figures'}; {out / 'manifest.json'} names every file"
        ),
    )


def found_lines(answers: Mapping[str, Any]) -> list[str]:
    """Return what was found: of papers, patterns, tasks, and theories if they were judged; a line each."""
    claims = answers["claims"]["claims"]
    verdicts = Counter(claim["verdict"] for claim in claims)
    rejected = [falsifier["rejected"] for claim in claims for falsifier in claim["falsifiers"]]
    yes, no = ([row["name"] for row in answers["lrc"] if row["generalizes"] is answer] for answer in (True, False))
    values = [list(row["src"].values()) for row in answers["src"]]
    flat = sum(of_task[-1] == 1 for of_task in values)
    last = [*answers["src"][0]["src"]][-1]
    lines = [
        f"Papers: {sum(claim['holds'] for claim in claims)} of {len(claims)} claims hold ({verdicts['corrected']} as "
        f"corrected here), {verdicts['refuted']} refuted, {verdicts['unsettled']} unsettled; {sum(rejected)} of "
        f"{len(rejected)} falsifiers rejected",
        f"Patterns: some position encoding makes {_listed(yes)} generalize from scale 4 to 8, and none {_listed(no)}",
        f"Tasks: one operator serves every scale up to {last} for {flat} of {len(values)} tasks; the others need more",
    ]
    if "theories" in answers:
        judged = answers["theories"]
        named = {
            kind: [name for name, verdict in judged.items() if verdict == kind] for kind in ("supported", "refuted")
        }
        words = "; ".join(f"{kind} {_listed(names)}" for kind, names in named.items() if names) or "none is decided"
        lines.append(f"Theories, by published results: {words}; {len(judged)} were judged")
    return lines


def _listed(names: Sequence[str]) -> str:
    """Return names as an enumeration."""
    return ", ".join(names) or "nothing"


def _figures(answer: Mapping[str, Any]) -> list[Text]:
    """Return a line on figures that come from records, and one on those not drawn, with the command that lists why."""
    lines = []
    if count := len(answer["recorded"]):
        words = (
            "figure shows" if count == 1 else "figures show",
            "its caption says" if count == 1 else "their captions say",
        )
        lines.append(f"{count} {words[0]} recorded runs, not trained here, as {words[1]}")
    if answer["missing"]:
        lines.append(f"Not drawn: {len(answer['missing'])} (why, and how to make them: {answer['made_by']})")
    return [Text(line) for line in lines]
