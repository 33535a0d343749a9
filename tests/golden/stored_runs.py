"""Every stored run: its id and seed, derived anew, and how the code judges its cell.

Each record has counts in words, and a digest of the sorted names, seeds and judgements, of which there are thousands.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden import readers
from tests.golden.answers import STORED, digest

FILE = STORED / "stored-runs.json"
REGISTERED = ("random-tasks", "random-languages", "swapped-arguments")
MOST = 120
"""Most runs of a cell of a recorded trial."""
TRIALS = sorted(
    path.parent.relative_to(readers.RESULTS).as_posix() for path in readers.RESULTS.rglob("predictions.json")
)
"""Recorded trials."""


def judged_cells(cells: dict[str, dict[str, Any]], *counted: str) -> dict[str, Any]:
    """Return the number of cells, their digest, and how often each value of some of their parts occurs."""
    return {
        "cells": len(cells),
        "digest": digest(sorted(cells.items())),
        **{name: dict(sorted(Counter(str(cell[name]) for cell in cells.values()).items())) for name in counted},
    }


def registered(name: str) -> dict[str, Any]:
    """Return what is recorded of the runs of a preregistration."""
    runs, cells = readers.registered(name)
    return {
        "runs": len(runs),
        "names and seeds": digest(sorted(runs)),
        "ids of some": digest(readers.ids_of_registered(name, 100)),
        "judged": judged_cells(cells, "runs", "fit", "generalize", "breaks at"),
    }


@cache
def names_of_runs(record: str) -> tuple[str, ...]:
    """Return the names of the runs of a recorded trial, as they were stored."""
    path = readers.RESULTS / record / "runs.json"
    if path.is_file():
        return tuple(json.loads(path.read_text(encoding="utf-8"))["runs"])
    gathered = path.parent.parent / "runs.json"  # the runs of several protocols in one file
    if gathered.is_file():
        return tuple(json.loads(gathered.read_text(encoding="utf-8"))[path.parent.name]["runs"])
    return ()


def trial(record: str) -> dict[str, Any]:
    """Return what is recorded of the runs of a trial: those whose ids the code derives anew, and every judgement."""
    folder = readers.RESULTS / record
    stored = {*names_of_runs(record)}
    described = {"protocol": folder.name, "profile": "paper"}  # of the runs that several protocols share
    if (folder / "runs.json").is_file():
        described = json.loads((folder / "runs.json").read_text(encoding="utf-8"))
    protocol = readers.protocol_of(folder, described["protocol"], described["profile"])
    runs = readers.planned(protocol, folder, MOST)
    derived = sorted((run.id, run.seed) for run in runs if run.id in stored)
    content = {"stored": len(stored), "derived anew": len(derived), "names and seeds": digest(derived)}
    if (folder / "conjecture.json").is_file():
        cells = readers.trial_cells(folder, runs[0])
        content["judged"] = judged_cells(cells, "predicted", "observed", "verdict")
    return content


def judged(name: str) -> dict[str, Any]:
    """Return what is recorded under a name: of a preregistration, a trial, or one of the other three."""
    if name in REGISTERED:
        return registered(name)
    if name in TRIALS:
        return trial(name)
    if name == "court":
        return judged_cells(dict(readers.court_cells()), "fit", "generalize", "observed")
    if name == "modular-addition":
        cells = readers.modular_cells()
        return {
            "names": digest(readers.modular_paths(Path("out"))),
            "judged": judged_cells(cells, *next(iter(cells.values()))),
        }
    return {"names": digest(readers.text_paths(Path("out")))}


RECORDS = (*REGISTERED, *TRIALS, "court", "modular-addition", "text")
"""Everything of which runs are stored."""
