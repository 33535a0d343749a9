"""Stored runs on the page: what every run reached at each of its checkpoints and scales, and what is broken."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from empirical.runs.run import Run
from empirical.runs.store import FILES, RunStore, StoreError
from empirical.trial.outcomes import by_checkpoint
from paper_figs.report.plain import rounded, text
from paper_figs.stored import is_shown_run
from theory.system.digests import file_digest


@dataclass(frozen=True, kw_only=True)
class RunsData:
    """Stored runs as the page holds them.

    Attributes:
        content: groups (runs that differ in their seed alone), environments, and the runs, which name both by number.
        broken: name -> what is wrong.
        read: hash of what a finished run's folder holds -> what was read there, of those that could be read.
    """

    content: dict[str, Any]
    broken: dict[str, str]
    read: dict[str, Any]


def runs_data(store: RunStore, known: Mapping[str, Any]) -> RunsData:
    """Everything in a store.

    Args:
        store: looked at whole.
        known: `RunsData.read` of an earlier time: these runs are not read again, which takes longest.
    """
    contents = store.contents()
    broken = {one.name: str(one.broken) for one in contents if one.run is None}
    finished = {one.name: one.run for one in contents if one.run is not None and one.done is None}
    hashes = {name: file_digest(store.root / name / FILES) for name in finished}
    believed = {digest: one for digest, one in known.items() if is_shown_run(one)}
    read = {name: believed.get(hashes[name]) or _read(store, run) for name, run in finished.items()}
    broken |= {name: one["broken"] for name, one in read.items() if "broken" in one}
    groups: dict[Run, int] = {}
    environments: dict[str, int] = {}
    runs = []
    for one in contents:
        if one.run is None or one.name in broken:
            continue
        group = groups.setdefault(replace(one.run, seed=0), len(groups))
        shown: dict[str, Any] = {"name": one.name, "group": group, "seed": one.run.seed}
        if one.done is None:
            known = dict(read[one.name])
            machine = json.dumps(known.pop("environment"), sort_keys=True)
            shown |= known | {"environment": environments.setdefault(machine, len(environments))}
            shown["hash"] = hashes[one.name]
        else:
            shown["done"] = one.done
        runs.append(shown)
    content = {
        "groups": [_group(one) for one in groups],
        "environments": [json.loads(one) for one in environments],
        "runs": runs,
    }
    return RunsData(
        content=content,
        broken=dict(sorted(broken.items())),
        read={hashes[name]: what for name, what in read.items() if "broken" not in what},
    )


def _group(run: Run) -> dict[str, Any]:
    training, evaluation = run.training, run.evaluation
    return {
        "task": text(run.task.words),
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


def _read(store: RunStore, run: Run) -> dict[str, Any]:
    """Checkpoints, the loss at each, exact match at each and every test scale, and the environment."""
    try:
        return _shown(store, run)
    except StoreError as error:
        return {"broken": str(error)}
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        return {"broken": f"{store.folder(run)} holds no run that can be shown ({error}): remove it"}


def _shown(store: RunStore, run: Run) -> dict[str, Any]:
    """As `_read`. Raises several errors where values are not of the types that are stored."""
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
            "versions": {text(key): text(str(of_it)) for key, of_it in environment.get("versions", {}).items()},
        },
    }
