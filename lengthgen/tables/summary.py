"""Summary screen at the end of `reproduce`."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.trials import conjecture_table

NAMES = 60
"""Largest number of characters for the names of figures that are not drawn."""


def summary(answers: Mapping[str, Any], out: Path) -> Group:
    """Return the summary screen of `reproduce`."""
    claims = answers["claims"]["claims"]
    rejected = [falsifier["rejected"] for claim in claims for falsifier in claim["falsifiers"]]
    patterns = [f"{row['name']} {' -> '.join(map(str, row['lrc'].values()))}" for row in answers["lrc"]]
    tasks: dict[str, list[str]] = {}
    for row in answers["src"]:
        tasks.setdefault(", ".join(map(str, row["src"].values())), []).append(row["task"])
    complexities = [f"{values} ({', '.join(names)})" for values, names in tasks.items()]
    return Group(
        Text(f"LRC from scale 4 to 8:  {'; '.join(patterns)}"),
        Text(f"SRC at scales 1-6:      {'; '.join(complexities)}"),
        Text(
            f"Claims:                 {sum(claim['holds'] for claim in claims)} of {len(claims)} hold, "
            f"{sum(rejected)} of {len(rejected)} falsifiers rejected"
        ),
        conjecture_table(answers["conjecture"]),
        Text(f"Figures and tables: {len(answers['figures']['drawn'])} in {out / 'figures'}"),
        *_not_drawn(answers["figures"]["missing"]),
        Text(f"To explore it all: {answers['report']['page']}; {out / 'manifest.json'} names every file"),
    )


def _not_drawn(missing: Mapping[str, str]) -> list[Text]:
    """Return a line on the figures that are not drawn; the reasons are on stderr, a line each."""
    if not missing:
        return []
    names = shorten(", ".join(missing), NAMES, placeholder="...")
    return [Text(f"Not drawn: {len(missing)}, for {len(set(missing.values()))} reasons (on stderr): {names}")]
