"""Every stored run: its id and seed, derived anew, and how the code judges its cell.

Each record has counts in words, and a digest of the sorted names, seeds and judgements, of which there are thousands.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from lengthgen.empirical.trial.record import read_record, record_folders
from tests.golden import readers
from tests.golden.answers import STORED, digest

FILE = STORED / "stored-runs.json"
REGISTERED = ("random-tasks", "random-languages", "swapped-arguments")
MOST = 120
"""Most runs of a cell of a recorded trial."""
TRIALS = sorted(folder.relative_to(readers.RESULTS).as_posix() for folder in record_folders(readers.RESULTS))
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


def trial(name: str) -> dict[str, Any]:
    """Return what is recorded of the runs of a trial: those whose ids the code derives anew, and every judgement."""
    record = read_record(readers.RESULTS / name)
    stored = {each.run.id for each in record.runs}
    derived = sorted((run.id, run.seed) for run in readers.planned(record, MOST) if run.id in stored)
    return {
        "stored": len(stored),
        "derived anew": len(derived),
        "names and seeds": digest(derived),
        "judged": judged_cells(readers.trial_cells(record), "predicted", "observed", "verdict"),
    }


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
