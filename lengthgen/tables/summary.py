"""The one screen at the end of `reproduce`."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.trials import conjecture_table

NAMES = 60
"""Characters of the names of figures that are not drawn."""


def summary(answers: Mapping[str, Any], out: Path) -> Group:
    """The one screen at the end of `reproduce`."""
    claims = answers["claims"]["claims"]
    rejected = [falsifier["rejected"] for claim in claims for falsifier in claim["falsifiers"]]
    patterns = [f"{one['name']} {' -> '.join(map(str, one['lrc'].values()))}" for one in answers["lrc"]]
    tasks = [
        f"{one['task']} {', '.join(map(str, one['src'].values()))} (arity {one['arity']})" for one in answers["src"]
    ]
    return Group(
        Text(f"LRC from scale 4 to 8:  {'; '.join(patterns)}"),
        Text(f"SRC at scales 1-6:      {'; '.join(tasks)}"),
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
    """How many figures are not there; the reasons, a line each, are on stderr."""
    if not missing:
        return []
    names = shorten(", ".join(missing), NAMES, placeholder="...")
    return [Text(f"Not drawn: {len(missing)}, for {len(set(missing.values()))} reasons (on stderr): {names}")]
