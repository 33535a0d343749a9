"""Summary screen at the end of `reproduce`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.trial_screen import trial_screen

NAMES = 60
"""Largest number of characters for the names of figures that are not drawn."""


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
        *_not_drawn(answers["figures"]["missing"]),
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


def _not_drawn(missing: Mapping[str, str]) -> list[Text]:
    """Return a line on the figures that are not drawn; the reasons are on stderr, a line each."""
    if not missing:
        return []
    names = shorten(", ".join(missing), NAMES, placeholder="...")
    return [Text(f"Not drawn: {len(missing)}, for {len(set(missing.values()))} reasons (on stderr): {names}")]
