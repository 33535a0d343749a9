"""Records of experiments in docs/results, which figures read where a folder of results has no runs of a protocol.

    RECORDS/RECORD/PROTOCOL/    predictions, conjecture.json with the scores of every run, runs.json with their names
    RECORDS/verdict/NAME/       frozen answers and runs of a preregistration
    RECORDS/court/              scores of theories by published results

The package that is installed from a wheel has no records; a checkout has them.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.protocol import Protocol
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.infrastructure.shapes import read_stored, record

RECORDS = Path(__file__).resolve().parent.parent / "docs" / "results"
"""Folder of the records of this project; it does not exist where the package is installed from a wheel."""
RUNS = "runs.json"
"""File that names the profile and every run of a record, as `tools/record.py` writes it."""
RELATIONS = "relations.json"
"""File with the relations that the first run of each cell learned, as `tools/record.py` writes it."""

_RUNS = record(runs=record())


def find_record(records: Path, protocol: Protocol) -> Path | None:
    """Return the folder of the largest record that has every planned run of a protocol; None if there is none.

    The name of a run holds the hash of all that decides its numbers, so that a record of other settings is not taken.

    Raises:
        DamagedFile: the file with the names of the runs, or with what was frozen, has changed since it was written.
    """
    sizes = {}
    for path in sorted(records.glob(f"*/{protocol.name}/{RUNS}")):
        recorded = read_stored(path, _RUNS, "names of runs", f"git checkout {path}", sealed=False)["runs"]
        planned = stored_runs(protocol, path.parent.parent)
        if all(run.id in recorded for runs in planned.values() for run in runs):
            sizes[path.parent] = len(recorded)
    return max(sizes, key=lambda folder: sizes[folder], default=None)


def scores_by_seed(cells: Iterable[Mapping[str, Any]]) -> dict[int, dict[int, float]]:
    """Return seed -> scale -> exact match, of every run of some cells of a stored trial."""
    return {
        outcome["seed"]: {int(scale): value for scale, value in outcome["exact_match"].items()}
        for cell in cells
        for outcome in cell["outcomes"]
    }
