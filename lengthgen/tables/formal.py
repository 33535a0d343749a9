"""Table of a run of Coq."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from lengthgen.tables.layout import columns


def formal_table(answer: Mapping[str, Any]) -> Table:
    """Return the outcome of a run of Coq, one line for each thing that it decided."""
    table = columns("Coq", "")
    stale = answer["stale"]
    rows = [
        ("prover", answer["prover"]),
        ("lemmas accepted and replayed", str(answer["lemmas"])),
        ("theorems by hand", str(len(answer["theorems"]))),
        ("false twins refused", str(answer["refused"])),
        ("assumptions", ", ".join(answer["assumptions"])),
        ("identities without a lemma", f"{answer['complex']} with complex numbers, {len(answer['unproved'])} unproved"),
        ("algebraic general claims that are formal", f"{answer['formal']} of {answer['algebraic']}"),
        ("not formal", ", ".join(answer["not_formal"]) or "none"),
        ("sources", answer["sources"]),
    ]
    if not answer["holds"]:
        changes = f"{len(stale['new'])} new lemmas, {stale['lost']} lost, theorems changed: {len(stale['theorems'])}"
        rows.append(("differs from the record", f"{changes}; new record: {answer['sources']}/recorded.json"))
    for row in rows:
        table.add_row(*row)
    return table
