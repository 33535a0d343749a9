"""How two records in docs/results of the same runs differ: `python tools/compare.py FOLDER OTHER PROTOCOL ...`.

A line a protocol: its runs; those that fit in one record only; those that fit in both; of these, those that solve
every test scale in one only; its cells; those that are observed otherwise. In the last line a cell counts once that
several protocols have.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

COUNTED = ("runs", "fit in one", "fit in both", "solve in one", "cells", "observed otherwise")


def of_cell(cell: dict[str, Any], again: dict[str, Any]) -> Counter[str]:
    """What is counted of one cell, as both records have it."""
    pairs = list(zip(cell["outcomes"], again["outcomes"], strict=True))
    fit = [(one, other) for one, other in pairs if one["fits"] and other["fits"]]
    return Counter(
        {
            "runs": len(pairs),
            "fit in one": sum(one["fits"] != other["fits"] for one, other in pairs),
            "fit in both": len(fit),
            "solve in one": sum(one["generalizes"] != other["generalizes"] for one, other in fit),
            "cells": 1,
            "observed otherwise": int(cell["observed"] != again["observed"]),
        }
    )


def compare(folder: Path, other: Path, protocols: list[str]) -> dict[str, Counter[str]]:
    """By protocol, and of all.

    Raises:
        OSError, ValueError, KeyError: a record cannot be read, or is of other runs.
    """
    found: dict[str, Counter[str]] = {}
    once: dict[str, Counter[str]] = {}
    for name in protocols:
        paths = [one / name / "conjecture.json" for one in (folder, other)]
        both = [json.loads(path.read_text(encoding="utf-8"))["cells"] for path in paths]
        found[name] = Counter()
        for cell, again in zip(*both, strict=True):
            key = json.dumps([cell[part] for part in ("task", "format", "encoding", "size", "outcomes")])
            once[key] = of_cell(cell, again)
            found[name] += once[key]
    return found | {"all": sum(once.values(), Counter())}


if __name__ == "__main__":
    try:
        answer = compare(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
    except (OSError, ValueError, KeyError, IndexError) as error:
        sys.exit(f"error: {error}")
    for name, counts in answer.items():
        print(f"{name}: " + ", ".join(f"{counts[what]} {what}" for what in COUNTED))
