"""Summary screen at the end of `reproduce`."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from rich.console import Group
from rich.text import Text

from lengthgen.tables.layout import yes_no
from lengthgen.tables.trials import verdicts_table

NAMES = 60
"""Largest number of characters for the names of figures that are not drawn."""
SHOWN = (("ipe", "aligned"), ("ape", "aligned"), ("rpe", "aligned"), ("rpe", "filled"))
"""Encodings and formats whose verdicts end the summary: ideal, absolute, and relative in two formats."""


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
        verdicts_table(answers["conjecture"]),
        Text(f"Figures and tables: {len(answers['figures']['drawn'])} in {out / 'figures'}"),
        *_not_drawn(answers["figures"]["missing"]),
        Text(f"To explore it all: {answers['report']['page']}; {out / 'manifest.json'} names every file"),
        *decisions(answers["conjecture"]),
    )


def decisions(trial: Mapping[str, Any]) -> list[Text]:
    """Return a line on how many predictions are decided, and one on each cell of SHOWN."""
    cells = [cell for cell in trial["cells"] if cell["size"] == trial["main"]["size"] and cell["predicted"] is not None]
    decided = [cell for cell in cells if cell["verdict"] in ("consistent", "refuted")]
    lines = [f"Decided: {len(decided)} of {len(cells)} predictions, frozen as {trial['frozen']}"]
    for cell in cells:
        if (cell["encoding"], cell["format"]) in SHOWN:
            counts = cell["generalizes_given_fit"]
            e_values = [value for value in (cell["e_for"], cell["e_against"]) if value is not None]
            lines.append(
                f"  {cell['task']} {cell['format']} {cell['encoding']}: predicted {yes_no(cell['predicted'])}, seen "
                f"{counts['successes']} of {counts['trials']}, e-value {f'{max(e_values):.3g}' if e_values else '-'}, "
                f"{cell['verdict']}"
            )
    return [Text(line) for line in lines]


def _not_drawn(missing: Mapping[str, str]) -> list[Text]:
    """Return a line on the figures that are not drawn; the reasons are on stderr, a line each."""
    if not missing:
        return []
    names = shorten(", ".join(missing), NAMES, placeholder="...")
    return [Text(f"Not drawn: {len(missing)}, for {len(set(missing.values()))} reasons (on stderr): {names}")]
