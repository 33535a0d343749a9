"""Trained runs as evidence: the cells of a protocol that a claim is about, and their runs, read from the run store."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lengthgen.empirical.experiment.outcome import History
from lengthgen.empirical.experiment.protocol import Cell, Protocol, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore, StoreError
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.proofs_checks.claim import Unsettled


@dataclass(frozen=True, kw_only=True)
class Arm:
    """Cells of a protocol: all of them, or only those of the named encodings, tasks and formats."""

    protocol: str
    encodings: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    def cells(self, protocol: Protocol) -> list[Cell]:
        """Return the cells of the arm, in the order of the named encodings.

        Raises `ValueError` if no cell has a named encoding, task or format.
        """
        of_tasks = [
            cell
            for cell in protocol.cells
            if (not self.tasks or cell.task.name in self.tasks)
            and (not self.formats or cell.task.format in self.formats)
        ]
        encodings = self.encodings or tuple(dict.fromkeys(cell.encoding for cell in of_tasks))
        chosen = [cell for encoding in encodings for cell in of_tasks if cell.encoding == encoding]
        missing = {*encodings, *self.tasks, *self.formats} - {
            part for cell in chosen for part in (cell.encoding, cell.task.name, cell.task.format)
        }
        if missing:
            raise ValueError(f"protocol {self.protocol} has no such cell: {', '.join(sorted(missing))}")
        return chosen


@dataclass(frozen=True, kw_only=True)
class TrainedCell:
    """A cell and its runs of one model size, ordered by seed, each with its metrics."""

    cell: Cell
    histories: tuple[History, ...]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Runs that were read: the cells of each arm, a fact that identifies the runs, and how they were trained."""

    arms: tuple[tuple[TrainedCell, ...], ...]
    fact: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Place of trained runs, and the profile under which they were trained.

    Attributes:
        out: the folder that was `--out` of `lengthgen sweep`; None if no runs are given.
        profile: name of a profile in empirical/profiles. Of several model sizes only the first is read, as for the
            conjecture.
        cache: what was read so far, or why it could not be; one object therefore sees a store as it was when it first
            looked.
    """

    out: Path | None
    profile: str
    cache: dict[tuple[Arm, ...], Reading | Unsettled] = field(default_factory=dict, compare=False, repr=False)

    def read(self, *arms: Arm) -> Reading:
        """Return all runs that the protocols of the arms name.

        Raises:
            Unsettled: runs are missing, or a stored run is damaged.
            ValueError: an arm names an encoding or task that its protocol does not have.
            ProfileError: there is no such protocol or profile.
        """
        if arms not in self.cache:
            try:
                self.cache[arms] = self._read(*arms)
            except Unsettled as reason:
                self.cache[arms] = reason
        reading = self.cache[arms]
        if isinstance(reading, Unsettled):  # for the claim and each of its falsifiers
            raise Unsettled(*reading.args)
        return reading

    def _read(self, *arms: Arm) -> Reading:
        """Read the runs without the cache."""
        protocols = {arm.protocol: load_protocol(arm.protocol, self.profile) for arm in arms}
        planned = [_planned(arm.cells(protocols[arm.protocol]), protocols[arm.protocol], self.out) for arm in arms]
        store = self._store_with(list(zip(arms, planned, strict=True)))
        try:
            return Reading(
                arms=tuple(
                    tuple(
                        TrainedCell(cell=cell, histories=tuple((run, store.metrics(run)) for run in runs))
                        for cell, runs in cells.items()
                    )
                    for cells in planned
                ),
                fact=_identify({run for cells in planned for runs in cells.values() for run in runs}, store),
                conditions=tuple(map(_conditions, protocols.values())),
            )
        except StoreError as damage:
            raise Unsettled(str(damage)) from damage

    def _store_with(self, planned: Sequence[tuple[Arm, Mapping[Cell, Sequence[Run]]]]) -> RunStore:
        """Return the store if every run is in it. Raises `Unsettled` with the commands that train the missing runs."""
        store = None if self.out is None else RunStore(self.out / "runs")
        needed = {(arm.protocol, run) for arm, cells in planned for runs in cells.values() for run in runs}
        total = Counter(protocol for protocol, _ in needed)
        missing = Counter(protocol for protocol, run in needed if store is None or not store.finished(run))
        if store is None or missing:
            raise Unsettled(
                "; ".join(
                    f"{missing[name]} of the {total[name]} runs needed of {name}, profile {self.profile}, are missing: "
                    f"lengthgen sweep {name} --profile {self.profile} --out OUT"
                    for name in sorted(missing)
                )
            )
        return store


NONE = Runs(out=None, profile="quick")
"""Default of claims on runs when the user gives no runs."""


def _planned(cells: Sequence[Cell], protocol: Protocol, out: Path | None) -> dict[Cell, list[Run]]:
    """Planned runs of each cell, of the first model size."""
    first = protocol.profile.models[0]
    return {cell: runs for (cell, model), runs in stored_runs(protocol, out, cells).items() if model == first}


def _identify(runs: Iterable[Run], store: RunStore) -> str:
    """Fact that identifies different runs by the hash of their digests."""
    digests = sorted(map(store.digest, runs))
    combined_hash = hashlib.sha256("".join(digests).encode()).hexdigest()
    return f"{len(digests)} runs; SHA-256 of their sorted digests: {combined_hash}"


def _conditions(protocol: Protocol) -> str:
    """Text on how the runs of a protocol were trained and tested."""
    profile = protocol.profile
    return (
        f"{protocol.name}, profile {protocol.profile_name}: {profile.seeds} runs a cell, model {profile.models[0]}, "
        f"scales {protocol.train[0]}-{protocol.train[-1]} trained and {protocol.test[0]}-{protocol.test[-1]} tested, a "
        f"scale solved from an exact match of {profile.evaluation.threshold:g} on, last checkpoint"
    )
