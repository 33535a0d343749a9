"""Copy the record of finished experiments to docs/results: `python tools/record.py OUT PROFILE FOLDER PROTOCOL ...`.

For each protocol, FOLDER/PROTOCOL/ gets its predictions, its trial and `runs.json`: every run by name, added ones too,
with the hash of its content, where and when it was trained, and how long that took.  Files are copied unchanged;
nothing is computed again.  If labels are learned, `relations.json` has those that the first run of each cell learned.
"""

import shutil
import sys
from pathlib import Path

from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial.frozen import FILE, frozen_cells, stored_runs
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import read_sealed_json, write_json
from lengthgen.paper_figs.figures.learned_labels import ENCODINGS, first_relations, write_relations
from lengthgen.paper_figs.sources import RELATIONS, RUNS, Sources
from lengthgen.paper_figs.style import PAGE_WIDTH

COPIED = ("predictions.json", FILE, "conjecture.json")
"""Files that are copied."""
ENVIRONMENT_KEYS = ("revision", "device", "python", "versions", "machine")
"""Parts of the training environment that runs can share."""


def record(out: Path, profile: str, folder: Path, name: str) -> None:
    """Write the record of one protocol to FOLDER/NAME.

    Raises:
        StoreError: a run is missing or broken.
        DamagedFile: the predictions or the trial have changed since they were written.
        OSError: the experiment has no trial yet, or the folder cannot be written.
    """
    store, protocol = RunStore(out / "runs"), load_protocol(name, profile)
    planned = stored_runs(protocol, out)
    frozen = frozen_cells(protocol, out, planned)
    groups = [frozen[key].with_added(group, store) if key in frozen else group for key, group in planned.items()]
    runs = [run for group in groups for run in group]
    environments = {run.id: store.environment(run) for run in runs}
    common = [{key: environment[key] for key in ENVIRONMENT_KEYS} for environment in environments.values()]
    content = {
        "protocol": protocol.name,
        "profile": profile,
        "trained_with": [part for at, part in enumerate(common) if part not in common[:at]],
        "seconds": round(sum(environment["seconds"] for environment in environments.values())),
        "runs": {
            run.id: {"sha256": store.digest(run)}
            | {key: environments[run.id][key] for key in ("time", "seconds", "trained_together")}
            for run in runs
        },
    }
    (folder / protocol.name).mkdir(parents=True, exist_ok=True)
    for file_name in COPIED:
        read_sealed_json(out / protocol.name / file_name)
        shutil.copyfile(out / protocol.name / file_name, folder / protocol.name / file_name)
    write_json(folder / protocol.name / RUNS, content)
    if any(cell.encoding in ENCODINGS for cell in protocol.cells):
        relations = first_relations(Sources(out=out, profile=profile, width=PAGE_WIDTH), name)
        write_relations(folder / protocol.name / RELATIONS, relations)


if __name__ == "__main__":
    try:
        for protocol_name in sys.argv[4:]:
            record(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), protocol_name)
    except (LengthgenError, OSError, IndexError) as error:
        sys.exit(f"error: {error}")
