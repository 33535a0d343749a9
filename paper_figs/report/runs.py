"""Data of the runs view of the report page: exact match and loss of each stored run, and broken runs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.outcome import by_checkpoint
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import FILES, RunStore, StoreError
from lengthgen.infrastructure.digests import file_digest
from lengthgen.paper_figs.report.plain import rounded, task_name, text


@dataclass(frozen=True, kw_only=True)
class RunsData:
    """Page data of the stored runs.

    Attributes:
        content: groups (runs that differ only in their seed), environments, and runs, which refer to both by index.
        broken: map from the name of a broken run to the reason.
        read: map from the hash of the files of a finished run to the data read from them, without broken runs.
        tasks: tasks of the runs, each in its format, without repetition.
    """

    content: dict[str, Any]
    broken: dict[str, str]
    read: dict[str, Any]
    tasks: list[TaskSpec]


def runs_data(store: RunStore, earlier: Mapping[str, Any]) -> RunsData:
    """Read all runs of a store.

    Runs in `earlier`, `RunsData.read` of an earlier call, are not read again, because reading takes longest.
    """
    contents = store.contents()
    broken = {stored_run.name: str(stored_run.broken) for stored_run in contents if stored_run.run is None}
    finished = {
        stored_run.name: stored_run.run
        for stored_run in contents
        if stored_run.run is not None and stored_run.done is None
    }
    hashes = {name: file_digest(store.root / name / FILES) for name in finished}
    read = {name: earlier.get(hashes[name]) or _read_run(store, run) for name, run in finished.items()}
    broken |= {name: data["broken"] for name, data in read.items() if "broken" in data}
    groups: dict[Run, int] = {}
    environments: dict[str, int] = {}
    runs = []
    for stored_run in contents:
        if stored_run.run is None or stored_run.name in broken:
            continue
        group = groups.setdefault(replace(stored_run.run, seed=0), len(groups))
        page_run: dict[str, Any] = {"name": stored_run.name, "group": group, "seed": stored_run.run.seed}
        if stored_run.done is None:
            run_data = dict(read[stored_run.name])
            machine = json.dumps(run_data.pop("environment"), sort_keys=True)
            page_run |= run_data | {"environment": environments.setdefault(machine, len(environments))}
            page_run["hash"] = hashes[stored_run.name]
        else:
            page_run["done"] = stored_run.done
        runs.append(page_run)
    content = {
        "groups": [_group_data(group_run) for group_run in groups],
        "environments": [json.loads(environment) for environment in environments],
        "runs": runs,
    }
    return RunsData(
        content=content,
        broken=dict(sorted(broken.items())),
        read={hashes[name]: data for name, data in read.items() if "broken" not in data},
        tasks=list(dict.fromkeys(group_run.task for group_run in groups)),
    )


def _group_data(run: Run) -> dict[str, Any]:
    training, evaluation = run.training, run.evaluation
    return {
        "task": task_name(run.task.words),
        "format": text(run.task.format),
        "encoding": text(run.encoding),
        "size": text(str(run.model)),
        "train": list(run.train),
        "test": list(run.test),
        "threshold": evaluation.threshold,
        "epochs": training.epochs,
        "setting": f"scales {run.train[0]}-{run.train[-1]} trained, {run.test[0]}-{run.test[-1]} tested; "
        f"{training.epochs} epochs of {training.samples} samples, {evaluation.samples} test samples a scale",
        "digest": run.group.rpartition("-")[2],
    }


def _read_run(store: RunStore, run: Run) -> dict[str, Any]:
    """Read epochs of checkpoints, losses, exact match by checkpoint and scale, and environment; or the error."""
    try:
        return _run_data(store, run)
    except StoreError as error:
        return {"broken": str(error)}
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        return {"broken": f"{store.folder(run)} holds no run that can be shown ({error}): remove it"}


def _run_data(store: RunStore, run: Run) -> dict[str, Any]:
    """Read a run as `_read_run` does; raises several types of errors if values do not have the stored types."""
    checkpoints = by_checkpoint(store.metrics(run))
    environment = store.environment(run)
    if not (checkpoints and run.train and run.test):
        raise StoreError(f"run {run.id} has no metrics or no scales: remove its folder, and it is trained again")
    return {
        "epochs": list(checkpoints),
        "loss": [rounded(next(iter(rows.values())).training_loss) for rows in checkpoints.values()],
        "exact": [
            [rounded(rows[scale].exact_match) if scale in rows else None for scale in run.test]
            for rows in checkpoints.values()
        ],
        "seconds": rounded(environment.get("seconds")),
        "peak_memory_mib": rounded(environment.get("peak_memory_mib")),
        "time": text(str(environment.get("time", ""))),
        "environment": {
            **{key: text(str(environment.get(key, ""))) for key in ("device", "machine", "python", "revision")},
            "versions": {text(key): text(str(version)) for key, version in environment.get("versions", {}).items()},
        },
    }
