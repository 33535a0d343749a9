"""Frozen predictions: what was fixed of each cell before training, and the seeds of its runs, which derive from it.

    OUT/PROTOCOL/frozen.json    what was frozen, one record for each time that something new was; the last one counts

Frozen are the protocol without its texts and its number of runs, and for each cell and model size the answers of all
rules that have one ([F]). Explanations and versions of the code are left out, so that only a changed answer changes
seeds. A rule without a frozen answer is post hoc: what it says of these runs is no prediction.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from lengthgen.circuits.prediction_record import PREDICTION, RULES, Prediction
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.experiment.freeze import SeededCell, frozen_digest
from lengthgen.empirical.experiment.protocol import Cell, Model, Protocol
from lengthgen.empirical.experiment.run import Run, plan
from lengthgen.infrastructure.files import DamagedFile, write_sealed_json
from lengthgen.infrastructure.shapes import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    both,
    if_given,
    list_of,
    mapping_to,
    one_of,
    or_none,
    read_stored,
    reads,
    record,
)

FILE = "frozen.json"
Modes = Mapping[str, Prediction | None]
"""Predictions of one cell by operator mode."""
CellOfSize = tuple[Cell, Model]
STORED_PREDICTION = record(cell=reads(Cell.from_json), mode=one_of(Mode), prediction=or_none(PREDICTION))
"""Shape of a prediction as predictions.json, beside FILE, holds it."""
_PREDICTIONS = record(answer=list_of(STORED_PREDICTION))
_CELL = record(base=or_none(COUNT), **dict.fromkeys(("task", "format", "encoding"), TEXT))
_ANSWER = both(record(generalizes=FLAG, breaks_at=or_none(NUMBER)), if_given(share=NUMBER))
_FROZEN = record(
    frozen=list_of(
        record(
            protocol=record(train=list_of(COUNT), test=list_of(COUNT), cells=list_of(_CELL)),
            cells=list_of(record(cell=_CELL, rules=mapping_to(_ANSWER))),
        )
    )
)


@dataclass(frozen=True, kw_only=True)
class FrozenCell(SeededCell):
    """Cell of one model size with everything that its seeds derive from.

    Attributes:
        preregistration: the protocol, as `preregistration` gives it.
        cell: cell and model size, and the hash of what its task generates.
        rules: rule, as `rule_name` writes it -> its answer.
    """

    preregistration: Mapping[str, Any]
    cell: Mapping[str, Any]
    rules: Mapping[str, Any]

    @property
    def content(self) -> dict[str, Any]:
        """All the above."""
        return {"protocol": self.preregistration, "cell": self.cell, "rules": self.rules}

    @property
    def name(self) -> str:
        """Task, base, format, encoding and model."""
        return "/".join(str(self.cell[key]) for key in ("task", "base", "format", "encoding", "model"))

    @property
    def answered(self) -> frozenset[tuple[str, str]]:
        """Rules with a frozen answer, as (mode, rule)."""
        return frozenset((mode, rule) for mode in Mode for rule in RULES if rule_name(mode, rule) in self.rules)

    def runs(self, any_run: Run, count: int) -> list[Run]:
        """Return the first runs of the cell, given any run of it."""
        return [replace(any_run, seed=self.seed(index)) for index in range(count)]

    def with_added(self, planned: Sequence[Run], finished: Callable[[Run], bool]) -> list[Run]:
        """Return the planned runs of the cell with the finished ones that were added to them."""
        count = len(planned)
        while finished(self.runs(planned[0], count + 1)[-1]):
            count += 1
        return self.runs(planned[0], count)


@dataclass(frozen=True, kw_only=True)
class FrozenRecord:
    """Cells that were frozen at one time, as a file holds them."""

    cells: Sequence[FrozenCell]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything frozen: published before training, it binds whoever published it."""
        return frozen_digest([cell.digest for cell in self.cells])


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """Frozen cells of a protocol."""

    protocol: Protocol
    cells: Mapping[CellOfSize, FrozenCell]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything frozen: published before training, it binds whoever published it."""
        return FrozenRecord(cells=[*self.cells.values()]).digest

    def runs(self) -> dict[CellOfSize, list[Run]]:
        """Plan the runs of each cell, as many as the profile says, with their derived seeds."""
        return {
            key: self.cells[key].runs(first, self.protocol.profile.seeds)
            for key, [first] in plan(self.protocol, count=1).items()
        }

    def as_json(self) -> dict[str, Any]:
        """Return what is stored: the protocol once, and each cell with its rules."""
        return {
            "hash": self.digest,
            "protocol": preregistration(self.protocol),
            "cells": [{"cell": dict(cell.cell), "rules": dict(cell.rules)} for cell in self.cells.values()],
        }

    @classmethod
    def of(cls, protocol: Protocol, predictions: Mapping[Cell, Modes], path: Path) -> Self:
        """Freeze the predictions in a file; what the file holds already stays as it is.

        A cell whose stored answers are all given today too keeps exactly these rules, whatever rules were added since.
        Any other cell is frozen anew, with all rules, and so gets other seeds.
        """
        records = _records(path)
        stored, fixed, cells = _stored_rules(records, protocol), preregistration(protocol), {}
        for key, [run] in plan(protocol, count=1).items():
            present, description = answers(predictions[key[0]]), _description(*key, run)
            rules = stored.get(frozen_digest(description), {})
            kept = rules if rules and rules.items() <= present.items() else present
            cells[key] = FrozenCell(preregistration=fixed, cell=description, rules=kept)
        frozen = cls(protocol=protocol, cells=cells)
        if frozen.as_json() not in records[-1:]:
            write_sealed_json(path, {"frozen": [*records, frozen.as_json()]})
        return frozen


def preregistration(protocol: Protocol) -> dict[str, Any]:
    """Return the parts of a protocol that decide what is trained and how it is judged, as JSON."""
    content: dict[str, Any] = json.loads(
        json.dumps(
            {
                "train": protocol.train,
                "test": protocol.test,
                "cells": [cell.as_json() for cell in protocol.cells],
                "models": [str(model) for model in protocol.profile.models],
                "training": protocol.profile.training.as_json(),
                "evaluation": asdict(protocol.profile.evaluation),
            }
        )
    )
    return content


def answers(predictions: Modes) -> dict[str, Any]:
    """Return the answer of every rule that has one: does the cell generalize, and at which scale does it break?"""
    return {
        rule_name(mode, rule): _answer(prediction, rule)
        for mode, prediction in sorted(predictions.items())
        for rule in RULES
        if prediction is not None and prediction.says(rule) is not None
    }


def _answer(prediction: Prediction, rule: str) -> dict[str, Any]:
    """Answer of a rule as it is frozen; that of the forecast has its share too."""
    answer = {"generalizes": prediction.says(rule), "breaks_at": prediction.expects_failure_at(rule)}
    return answer | ({"share": prediction.forecast.share} if rule == "forecast" and prediction.forecast else {})


def read_predictions(path: Path, mend: str) -> list[dict[str, Any]]:
    """Read the stored predictions of an experiment, by cell and operator mode."""
    predictions: list[dict[str, Any]] = read_stored(path, _PREDICTIONS, "predictions", mend)["answer"]
    return predictions


def rule_name(mode: str, rule: str) -> str:
    """Name of a rule under an operator mode."""
    return f"{mode}/{rule}"


def stored_runs(
    protocol: Protocol, out: Path | None, cells: Sequence[Cell] | None = None
) -> dict[CellOfSize, list[Run]]:
    """Plan the runs of a protocol as they are stored in a folder of results.

    Runs of cells that were frozen there have the derived seeds. Runs stored before predictions were frozen, and those
    of an experiment that was not begun, have the seeds 0, 1, ...

    Args:
        protocol: the whole protocol.
        out: folder of results; None if there is none.
        cells: cells to plan; without it, all.
    """
    runs = plan(protocol, cells=cells)
    frozen = frozen_cells(protocol, out, runs)
    return {
        key: frozen[key].runs(cell_runs[0], len(cell_runs)) if key in frozen else cell_runs
        for key, cell_runs in runs.items()
    }


def frozen_cells(
    protocol: Protocol, out: Path | None, runs: Mapping[CellOfSize, Sequence[Run]]
) -> dict[CellOfSize, FrozenCell]:
    """Return the cells that are frozen in a folder of results, of those to which `runs` has any run."""
    stored = {} if out is None else _stored_rules(_records(out / protocol.name / FILE), protocol)
    fixed, frozen = preregistration(protocol), {}
    for key, [first, *_] in runs.items():
        description = _description(*key, first)
        if rules := stored.get(frozen_digest(description)):
            frozen[key] = FrozenCell(preregistration=fixed, cell=description, rules=rules)
    return frozen


def _description(cell: Cell, model: Model, run: Run) -> dict[str, Any]:
    """Describe a cell of one model size as JSON."""
    return cell.as_json() | {"model": str(model), "digest": run.digest}


def frozen_tasks(path: Path) -> list[str]:
    """Names of the tasks in the last record of what was frozen in a file, without repetition; none if nothing was."""
    return list(dict.fromkeys(cell["task"] for record in _records(path)[-1:] for cell in record["protocol"]["cells"]))


def frozen_protocol(path: Path) -> dict[str, Any]:
    """Return the last protocol that was frozen in a file, as `preregistration` gives it."""
    protocol: dict[str, Any] = _records(path)[-1]["protocol"]
    return protocol


def frozen_records(path: Path) -> list[FrozenRecord]:
    """Return all that was frozen in a file, the oldest first; none if nothing was.

    Raises:
        DamagedFile: the file has changed since it was written, or a record has not the hash that it names.
    """
    frozen = []
    for stored in _records(path):
        fixed = stored["protocol"]
        cells = [FrozenCell(preregistration=fixed, cell=its["cell"], rules=its["rules"]) for its in stored["cells"]]
        each = FrozenRecord(cells=cells)
        if each.digest != stored.get("hash"):
            raise DamagedFile(f"{path} holds other answers than its hash says")
        frozen.append(each)
    return frozen


def _records(path: Path) -> list[dict[str, Any]]:
    """Records of what was frozen, the oldest first; none if nothing was."""
    mend = "restore it from a copy, or remove it to freeze today's answers"
    try:
        records: list[dict[str, Any]] = read_stored(path, _FROZEN, "frozen answers", mend)["frozen"]
    except FileNotFoundError:
        return []
    return records


def _stored_rules(records: Sequence[Mapping[str, Any]], protocol: Protocol) -> dict[str, dict[str, Any]]:
    """Hash of a cell's description -> the rules in the last record of this protocol that has the cell."""
    fixed = preregistration(protocol)
    return {
        frozen_digest(entry["cell"]): dict(entry["rules"])
        for record in records
        if record["protocol"] == fixed
        for entry in record["cells"]
    }
