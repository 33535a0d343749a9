"""Copy the record of finished experiments to docs/results: `python tools/record.py OUT PROFILE FOLDER PROTOCOL ...`.

For each protocol, FOLDER/PROTOCOL/ gets what was frozen and the table of its runs, added ones too
(`lengthgen.empirical.trial.record`); nothing is computed again.  A cell that lacks a planned run is left out, and
named.  A record that is there already keeps its runs and grows by those of OUT, which need not have the old ones.  If
labels are learned, `relations.json` has those that the first run of each cell learned, and `agreement.parquet` how far
those of every run agree with the ideal ones.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from lengthgen.circuits.prediction_record import Prediction
from lengthgen.empirical.experiment.protocol import Cell, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore, StoreError
from lengthgen.empirical.trial.frozen import FILE, Modes, frozen_cells, read_predictions, stored_runs
from lengthgen.empirical.trial.record import RecordedRun, is_record, read_record, write_record
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs.figures.learned_labels import (
    AGREEMENT,
    ENCODINGS,
    first_relations,
    write_agreement,
    write_relations,
)
from lengthgen.paper_figs.sources import RELATIONS

ENVIRONMENT_KEYS = ("revision", "device", "python", "versions", "machine")
"""Parts of a run's environment that are recorded."""


def record(out: Path, profile: str, folder: Path, name: str) -> None:
    """Write the record of one protocol to FOLDER/NAME.

    Raises:
        StoreError: a run is broken, or no cell has all its runs.
        DamagedFile: the record, the predictions or what was frozen have changed since they were written.
        OSError: the experiment has no predictions yet, or the folder cannot be written.
    """
    store, protocol = RunStore(out / "runs"), load_protocol(name, profile)
    target = folder / protocol.name
    recorded = read_record(target).runs if is_record(target) else ()
    kept = {each.run.id: each for each in recorded}
    fixed = out if (out / protocol.name / FILE).is_file() or not recorded else folder

    def known(run: Run) -> bool:
        return run.id in kept or store.finished(run)

    planned = {}
    for (cell, model), group in stored_runs(protocol, fixed).items():
        if all(map(known, group)):
            planned[cell, model] = group
            continue
        own = [run for run in group if run.id in kept]
        what = "recorded with the runs it has" if own else "left out"
        print(f"{what}, as not all its runs are finished: {cell}, {model}", file=sys.stderr)
        if own:
            planned[cell, model] = own
    if not planned:
        raise StoreError(f"no cell of {name} has all its runs in {store.root}: train them first")
    frozen = frozen_cells(protocol, fixed, planned)
    predictions = {key: kept[group[0].id].predictions for key, group in planned.items() if group[0].id in kept}
    if len(predictions) < len(planned):
        stored = _stored_predictions(out / protocol.name)
        predictions = {key: stored[key[0]] for key in planned} | predictions
    runs = [
        kept.get(run.id) or _recorded(store, run, predictions[key])
        for key, group in planned.items()
        for run in (frozen[key].with_added(group, known) if key in frozen else group)
    ]
    write_record(target, runs, fixed / protocol.name / FILE)
    if learned := [each.run for each in runs if each.run.encoding in ENCODINGS]:
        firsts = {key[0]: group[0] for key, group in planned.items() if key[0].encoding in ENCODINGS}
        write_relations(target / RELATIONS, first_relations(firsts, store))
        write_agreement(target / AGREEMENT, learned, store)


def _stored_predictions(folder: Path) -> dict[Cell, dict[str, Prediction | None]]:
    """Return the predictions of an experiment by cell and operator mode."""
    predictions: dict[Cell, dict[str, Prediction | None]] = defaultdict(dict)
    for entry in read_predictions(folder / "predictions.json", "make it again with  lengthgen conjecture"):
        content = entry["prediction"]
        predictions[Cell.from_json(entry["cell"])][entry["mode"]] = content and Prediction.from_json(content)
    return predictions


def _recorded(store: RunStore, run: Run, predictions: Modes) -> RecordedRun:
    """Return a stored run as it is recorded."""
    environment = store.environment(run)
    provenance = {name: environment.get(name) for name in ("time", "seconds", "trained_together")}
    parts = {name: environment.get(name) for name in ENVIRONMENT_KEYS}
    provenance |= {"environment": json.dumps(parts, sort_keys=True), "sha256": store.digest(run)[:16]}
    return RecordedRun(run=run, predictions=predictions, rows=store.metrics(run), provenance=provenance)


if __name__ == "__main__":
    try:
        for protocol_name in sys.argv[4:]:
            record(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), protocol_name)
    except (LengthgenError, OSError, IndexError) as error:
        sys.exit(f"error: {error}")
