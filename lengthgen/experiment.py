"""Experiment: the cells of a protocol and the folder of their results, by a protocol's name or by a task with options.

OUT/runs/                                          runs of all experiments
OUT/PROTOCOL/predictions.json, conjecture.json     predictions and verdicts of one protocol
OUT/PROTOCOL/circuits.json                         circuits on which the predictions are based, for the report
OUT/PROTOCOL/frozen.json                           answers from which the seeds of its runs derive
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthgen.circuits.encodings import EncodingSpec, parse_encodings
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.tasks.catalogue import TWO_SCALE_TASKS
from lengthgen.circuits.tasks.families import is_of_family
from lengthgen.circuits.tasks.spec import NAMED
from lengthgen.defaults import usual_encodings
from lengthgen.empirical.experiment.protocol import Cell, Protocol, checked_protocol, load_profile, load_protocol
from lengthgen.empirical.experiment.protocol import names as protocol_names
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.infrastructure.errors import in_any_case, nearest
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.infrastructure.userfile import split_file


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Protocol together with the folder of its results."""

    protocol: Protocol
    out: Path

    @property
    def store(self) -> RunStore:
        """Store of the runs."""
        return RunStore(self.out / "runs")

    @property
    def folder(self) -> Path:
        """Folder of this protocol's own results."""
        return self.out / self.protocol.name


def task_experiment(
    task: str,
    pairs: Sequence[tuple[str, EncodingSpec]],
    *,
    base: int | None,
    train: Iterable[int],
    test: Iterable[int],
    profile: str,
    out: Path,
    seeds: int | None = None,
) -> Experiment:
    """Return an experiment on one task, named or in a file, with (format, encoding) pairs.

    Stored under the task's name.

    Raises:
        TaskError: the task does not exist, or does not have this base.
        ProfileError: an option has a wrong value.
    """
    cells = tuple(
        Cell(task=TaskSpec(name=task, base=base, format=format_name), encoding=str(encoding))
        for format_name, encoding in pairs
    )
    cells[0].task.plain()  # a file without this task is reported before anything else
    name = cells[0].task.short_name
    if name.casefold() in protocol_names():
        raise ProfileError(f"task '{task}': the name '{name}' is taken by a protocol of the project: rename the task")
    loaded = load_profile(profile, {} if seeds is None else {"seeds": seeds})
    protocol = checked_protocol(
        name=name,
        cli_name=cells[0].task.name,
        title=f"Encodings on '{name:.200}'",
        source="",
        cells=cells,
        train=tuple(sorted({*train})),
        test=tuple(sorted({*test})),
        profile_name=profile,
        profile=loaded,
    )
    return Experiment(protocol=protocol, out=out)


def chosen(name: str, *, profile: str, out: Path, **options: Any) -> Experiment:
    """Return the experiment of a protocol's name or file, or else of a task with options.

    Raises:
        ProfileError: there is no such protocol or task, or options are given beside a protocol, which has its own.
    """
    if in_any_case(name, protocol_names()) in protocol_names() or name.endswith(".toml"):
        set_options = [key for key, value in options.items() if value is not None]
        if set_options:
            raise ProfileError(
                f"protocol '{name}' sets its own {set_options[0]}: leave that option out, or name a task"
            )
        return Experiment(protocol=load_protocol(name, profile), out=out)
    if split_file(name) is None and not is_of_family(name):
        protocols_and_tasks = [*protocol_names(), *NAMED, *TWO_SCALE_TASKS]
        if in_any_case(name, protocols_and_tasks) not in protocols_and_tasks:
            listed = "`lengthgen protocols` and `lengthgen tasks` list all; your own: path/to/file.toml or .py:name"
            raise ProfileError(
                f"unknown protocol or task '{name:.60}': {nearest(name, protocols_and_tasks, listed=listed)}"
            )
    formats = _or_default(options["formats"], "aligned").split(",")
    pairs = [
        (format_name, spec)
        for format_name in formats
        for spec in parse_encodings(_or_default(options["encodings"], usual_encodings(format_name)))
    ]
    return task_experiment(
        name,
        pairs,
        base=options["base"],
        train=range(1, 6) if options["train"] is None else options["train"],
        test=range(1, 21) if options["test"] is None else options["test"],
        seeds=options["seeds"],
        profile=profile,
        out=out,
    )


def protocols_answer(profile: str) -> dict[str, Any]:
    """Return the protocols of the project under a profile: title, source, tasks, number of cells, scales, runs.

    Raises:
        ProfileError: there is no such profile.
    """
    protocols = [load_protocol(name, profile) for name in protocol_names()]
    return {
        "profile": profile,
        "protocols": [
            {
                "protocol": protocol.name,
                "title": protocol.title,
                "source": protocol.source,
                "tasks": list(dict.fromkeys(cell.task.words for cell in protocol.cells)),
                "cells": len(protocol.cells),
                "train": [protocol.train[0], protocol.train[-1]],
                "test": [protocol.test[0], protocol.test[-1]],
                "runs": len(protocol.cells) * len(protocol.profile.models) * protocol.profile.seeds,
            }
            for protocol in protocols
        ],
    }


def _or_default(option: str | None, usual: str) -> str:
    """Return the value of an option, or its usual value if it is not set."""
    return usual if option is None else option
