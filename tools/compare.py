"""Compare two records in docs/results of the same runs: `python tools/compare.py FOLDER OTHER PROTOCOL ...`.

One line per protocol with counts: its runs; those that fit in only one record; those that fit in both; of these, those
that solve every test scale in only one; its cells; the cells with a different observed outcome.  In the last line, a
cell that several protocols share counts once.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from lengthgen.empirical.trial.record import read_record
from lengthgen.infrastructure.errors import LengthgenError

COUNTED = ("runs", "fit in one", "fit in both", "solve in one", "cells", "observed otherwise")
"""Counts in the order in which they are printed."""


def cell_counts(cell: dict[str, Any], other_cell: dict[str, Any]) -> Counter[str]:
    """Counts for one cell, given its entry in both records."""
    pairs = list(zip(cell["outcomes"], other_cell["outcomes"], strict=True))
    fit = [(first, second) for first, second in pairs if first["fits"] and second["fits"]]
    return Counter(
        {
            "runs": len(pairs),
            "fit in one": sum(first["fits"] != second["fits"] for first, second in pairs),
            "fit in both": len(fit),
            "solve in one": sum(first["generalizes"] != second["generalizes"] for first, second in fit),
            "cells": 1,
            "observed otherwise": int(cell["observed"] != other_cell["observed"]),
        }
    )


def compare(folder: Path, other: Path, protocols: list[str]) -> dict[str, Counter[str]]:
    """Counts by protocol, and for all cells under the key "all".

    Raises:
        RecordError, ValueError, KeyError: a record cannot be read, or the records are of different runs.
    """
    by_protocol: dict[str, Counter[str]] = {}
    by_cell: dict[str, Counter[str]] = {}
    for name in protocols:
        records = [read_record(record / name).trial["cells"] for record in (folder, other)]
        by_protocol[name] = Counter()
        for cell, other_cell in zip(*records, strict=True):
            key = json.dumps([cell[part] for part in ("task", "format", "encoding", "size", "outcomes")])
            by_cell[key] = cell_counts(cell, other_cell)
            by_protocol[name] += by_cell[key]
    return by_protocol | {"all": sum(by_cell.values(), Counter())}


if __name__ == "__main__":
    try:
        answer = compare(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    except (LengthgenError, ValueError, KeyError, IndexError) as error:
        sys.exit(f"error: {error}")
    for name, counts in answer.items():
        print(f"{name}: " + ", ".join(f"{counts[label]} {label}" for label in COUNTED))
