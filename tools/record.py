"""What is kept of finished experiments in docs/results: `python tools/record.py OUT PROFILE FOLDER PROTOCOL ...`.

Of each protocol FOLDER/PROTOCOL/ gets its predictions, its trial and `runs.json`: every run by name, with the hash of
its content, where and when it was trained, and how long that took. Copied as they are, never computed anew.
"""

import shutil
import sys
from pathlib import Path

from empirical.runs.protocol import load_protocol
from empirical.runs.run import plan
from empirical.runs.store import RunStore
from theory.system.errors import LengthgenError
from theory.system.files import read_sealed_json, write_json

KEPT = ("predictions.json", "conjecture.json")
OF_EACH_RUN = ("revision", "device", "python", "versions", "machine")


def record(out: Path, profile: str, folder: Path, name: str) -> None:
    """Writes FOLDER/NAME.

    Raises:
        StoreError: a run is missing or broken.
        DamagedFile: the predictions or the trial are not as they were written.
        OSError: the experiment was not judged, or the folder cannot be written.
    """
    store, protocol = RunStore(out / "runs"), load_protocol(name, profile)
    runs = [run for same in plan(protocol).values() for run in same]
    environments = {run.id: store.environment(run) for run in runs}
    common = [{key: one[key] for key in OF_EACH_RUN} for one in environments.values()]
    content = {
        "protocol": protocol.name,
        "profile": profile,
        "trained_with": [one for at, one in enumerate(common) if one not in common[:at]],
        "seconds": round(sum(one["seconds"] for one in environments.values())),
        "runs": {
            run.id: {"sha256": store.digest(run)}
            | {key: environments[run.id][key] for key in ("time", "seconds", "trained_together")}
            for run in runs
        },
    }
    (folder / protocol.name).mkdir(parents=True, exist_ok=True)
    for kept in KEPT:
        read_sealed_json(out / protocol.name / kept)
        shutil.copyfile(out / protocol.name / kept, folder / protocol.name / kept)
    write_json(folder / protocol.name / "runs.json", content)


if __name__ == "__main__":
    try:
        for wanted in sys.argv[4:]:
            record(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), wanted)
    except (LengthgenError, OSError, IndexError) as error:
        sys.exit(f"error: {error}")
