"""Circuits of the tasks that were predicted in a folder of results, as `conjecture` and `sweep` store them.

    OUT/TRIAL/circuits.json    what `relations.explored` returns for each task and format of a trial, with pooled labels

The report shows the circuit of a user's own task from here, and so never runs the user's file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthgen.infrastructure.digests import file_digest
from lengthgen.infrastructure.errors import LengthgenError, in_words
from lengthgen.paper_figs.report.relations import unpooled
from lengthgen.paper_figs.report.views import ViewData
from lengthgen.paper_figs.stored import read_circuits

CIRCUITS = "circuits.json"
"""File of the circuits in the folder of a trial."""


def trial_circuits(out: Path, trials: Mapping[str, str]) -> ViewData:
    """Read the circuits of trials: explorations (`relations.explored`), in the order of the trials.

    `trials` maps each name, in the order of the page, to the command that makes its circuits.
    """
    explorations: list[dict[str, Any]] = []
    data = ViewData(content={"explorations": explorations})
    for trial, command in trials.items():
        path, name = out / trial / CIRCUITS, f"{trial}/{CIRCUITS}"
        if not path.exists():
            continue
        try:
            stored = read_circuits(path, command)
            explorations.extend(unpooled(stored["explorations"], stored["pool"]))
            data.hashes[name] = file_digest(path)
        except (LengthgenError, OSError) as error:
            data.broken[name] = in_words(error)
    return data
