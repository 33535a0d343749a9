"""Sources of figures: stored runs of protocols, their predictions and verdicts, studies, and the ledger of claims.

What a folder of results lacks is read from a record of an experiment in docs/results, if there is one:

    RECORDS/RECORD/PROTOCOL/    what was frozen, and the table of all runs (`lengthgen.empirical.trial.record`)
    RECORDS/STUDY/              answers of a study

The package that is installed from a wheel has no records; a checkout has them.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lengthgen.empirical.experiment.metrics import Measurement
from lengthgen.empirical.experiment.outcome import Checkpoint, outcome
from lengthgen.empirical.experiment.protocol import Cell as Condition
from lengthgen.empirical.experiment.protocol import Model, Protocol, load_protocol
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.trial.frozen import stored_runs
from lengthgen.empirical.trial.record import TABLE, read_record
from lengthgen.infrastructure.digests import file_digest
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.paper_figs.names import distinct_names
from lengthgen.paper_figs.seed_scores import CellScores
from lengthgen.paper_figs.stored import read_claims, read_trial

RECORDS = Path(__file__).resolve().parent.parent / "docs" / "results"
"""Folder of the records of this project; it does not exist where the package is installed from a wheel."""
RELATIONS = "relations.json"
"""File with the relations that the first run of each cell learned, as `tools/record.py` writes it."""


def find_record(records: Path, protocol: Protocol) -> Path | None:
    """Return the folder of the largest record that has every planned run of a protocol; None if there is none.

    Of equally large ones it is the one nearest to `records`: a repetition is in a folder of its own. The name of a run
    holds the hash of all that decides its numbers, so that a record of other settings is not taken.

    Raises:
        RecordError: a record has changed since it was written.
    """
    sizes = {}
    tables = records.glob(f"**/{protocol.name}/{TABLE}")
    for folder in (path.parent for path in sorted(tables, key=lambda path: (len(path.parts), path))):
        recorded = {each.run.id for each in read_record(folder).runs}
        planned = stored_runs(protocol, folder.parent)
        if all(run.id in recorded for runs in planned.values() for run in runs):
            sizes[folder] = len(recorded)
    return max(sizes, key=lambda folder: sizes[folder], default=None)


def scores_by_seed(cells: Iterable[Mapping[str, Any]]) -> dict[int, dict[int, float]]:
    """Return seed -> scale -> exact match, of every run of some cells of a stored trial."""
    return {
        outcome["seed"]: {int(scale): value for scale, value in outcome["exact_match"].items()}
        for cell in cells
        for outcome in cell["outcomes"]
    }


TRIAL = "conjecture.json"
"""File with the predictions, outcomes and verdicts of a protocol, in the folder of the protocol."""
LEDGER = "claims.json"
"""File of the ledger of claims."""


CELL_PARTS = ("task", "format", "encoding", "size")
"""Values by which a trial names a cell."""


T = TypeVar("T")


class Missing(LengthgenError):
    """Error for a missing source; the message names it, and the command that makes it.

    Attributes:
        command: the command.
    """

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what}: make it with  {command}")
        self.command = command


@dataclass(frozen=True, kw_only=True)
class StudyAnswers:
    """Stored answers of a study (`empirical/studies/`) that its figures read.

    Attributes:
        words: what they are, in words.
        require: function that raises Missing where they are not stored.
        digest: function that returns hashes of them, as values that JSON can hold.
        folder: function that returns their folder, in the output folder or a record; None if there are no records.
    """

    words: str
    require: Callable[["Sources"], None]
    digest: Callable[["Sources"], list[Any]]
    folder: Callable[["Sources"], Path] | None = None


def from_records(words: str, folders: Sequence[str], record: str | None = None) -> StudyAnswers:
    """Return answers that records in docs/results hold.

    Args:
        words: what they are.
        folders: patterns of folders, each of which must match a record.
        record: the one folder of all of them, which captions then name.
    """

    def tables(sources: "Sources") -> list[Path]:
        paths: list[Path] = []
        for pattern in folders:
            matching = sorted(sources.records.glob(f"{pattern}/{TABLE}")) if sources.records else []
            if not matching:
                clone = "a clone of the project, as an installed package has no records"
                raise Missing(f"{words} are missing from {sources.records or RECORDS}/{pattern}", clone)
            paths += matching
        return paths

    def require(sources: "Sources") -> None:
        tables(sources)

    def digest(sources: "Sources") -> list[str]:
        return [file_digest(path) for table in tables(sources) for path in sorted(table.parent.iterdir())]

    def folder(sources: "Sources") -> Path:
        return (sources.records or RECORDS) / str(record)

    return StudyAnswers(words=words, require=require, digest=digest, folder=folder if record else None)


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Stored things that a figure reads.

    A figure that needs none of these is the same wherever it is computed.

    Attributes:
        protocols: names or files of the protocols whose runs it reads.
        trial: True if it also reads the trials (conjecture.json) of these protocols.
        record: files of a record that hold all that it reads of these runs; empty if no record holds that much.
        ledger: True if it reads the ledger of claims.
        study: answers of a study that it reads, if any.
        files: files of the user that it depends on.
    """

    protocols: tuple[str, ...] = ()
    trial: bool = False
    record: tuple[str, ...] = (TABLE,)
    ledger: bool = False
    study: StudyAnswers | None = None
    files: tuple[Path, ...] = ()

    def in_words(self) -> str:
        """Return the needs in words."""
        trials = " and their trials" if len(self.protocols) > 1 else " and its trial"
        parts = ["runs of " + ", ".join(self.protocols) + (trials if self.trial else "")] if self.protocols else []
        ledger = ["the ledger of claims"] if self.ledger else []
        study = [self.study.words] if self.study else []
        return ", ".join([*parts, *ledger, *study, *map(str, self.files)]) or "computed"


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Sources that figures read: the folder of stored runs, the profile, and the width of the figures.

    Attributes:
        out: output folder of `lengthgen sweep` and `lengthgen conjecture`.
        profile: profile of the runs.
        width: width of a figure, in inches.
        records: folder of the records that stand in for what `out` lacks; None for none.
        cache: answers that were read already. One object keeps its first answer even if the store changes later.
    """

    out: Path
    profile: str
    width: float
    records: Path | None = None
    cache: dict[tuple[str, str], Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def store(self) -> RunStore:
        """Store of the runs."""
        return RunStore(self.out / "runs")

    def protocol(self, name: str) -> Protocol:
        """Load a protocol under the profile. Raises the errors of `load_protocol`."""
        return self.cached("protocol", name, partial(load_protocol, name, self.profile))

    def runs(self, name: str) -> dict[tuple[Condition, Model], list[Run]]:
        """List the runs of a protocol, or those of its record, by cell and model size. Raises as `stored_runs`."""
        folder = self.record(name)
        return self._planned(name) if folder is None else self._planned(name, folder.parent)

    def record(self, name: str) -> Path | None:
        """Return the folder of the record that stands in for a protocol; None if there is none, or `out` has any run.

        Raises:
            RecordError: a record has changed since it was written.
        """
        if self.records is None or len(self._unfinished(name)) < sum(map(len, self._planned(name).values())):
            return None
        return self.cached("record", name, partial(find_record, self.records, self.protocol(name)))

    def origin(self, needs: Needs) -> str:
        """Return the records that a figure is drawn from, joined by commas; empty if it is drawn from `out`."""
        folders = [self.record(name) for name in needs.protocols]
        folders += [needs.study.folder(self)] if needs.study and needs.study.folder else []
        if self.records is None:
            return ""
        parts = self.records.parts[-2:]
        recorded = [folder for folder in folders if folder is not None and self.records in folder.parents]
        return ", ".join(str(Path(*parts, folder.relative_to(self.records))) for folder in recorded)

    def require(self, needs: Needs) -> None:
        """Check that all needed sources are there.

        Raises:
            Missing: a source is missing; the message names the first one and the command that makes it.
        """
        for name in needs.protocols:
            if self._in_record(name, needs):
                continue
            unfinished = self._unfinished(name)
            if unfinished:
                example = unfinished[0] + (f" and {len(unfinished) - 1} more" if unfinished[1:] else "")
                run_count = sum(map(len, self._planned(name).values()))
                raise Missing(
                    f"{len(unfinished)} of the {run_count} runs of {name} are missing from {self.store.root} "
                    f"({example})",
                    self.command("conjecture", name),
                )
            if needs.trial and not self._trial(name).is_file():
                raise Missing(f"{self._trial(name)} is missing", self.command("conjecture", name))
        if needs.ledger and not (self.out / LEDGER).is_file():
            raise Missing(f"{self.out / LEDGER} is missing", self.command("reproduce"))
        if needs.study:
            needs.study.require(self)

    def digest(self, needs: Needs) -> list[Any]:
        """Return hashes of all needed sources, as values that JSON can hold.

        Raises:
            StoreError: a run is broken.
            OSError: a file cannot be read.
        """
        hashes: list[Any] = []
        for name in needs.protocols:
            if folder := self.record(name):
                hashes += [str(folder), *(file_digest(folder / file) for file in needs.record)]
                continue
            hashes.append(self.cached("digest", name, partial(self._digest, name)))
            if needs.trial:
                hashes.append(file_digest(self._trial(name)))
        hashes += map(file_digest, needs.files)
        if needs.study:
            hashes += needs.study.digest(self)
        return hashes + ([file_digest(self.out / LEDGER)] if needs.ledger else [])

    def models(self, name: str) -> tuple[Model, ...]:
        """Model sizes of a protocol; verdicts and most figures use the first one."""
        return self.protocol(name).profile.models

    def runs_of_size(self, name: str, model: Model | None = None) -> dict[Condition, list[Run]]:
        """List the runs of one model size by cell; of the first size if `model` is None."""
        wanted = model or self.models(name)[0]
        return {cell: runs for (cell, size), runs in self.runs(name).items() if size == wanted}

    def metrics(self, runs: Sequence[Run]) -> list[list[Measurement]]:
        """Read all rows of measurements of each run. Raises StoreError if a run is broken."""
        return [self.store.metrics(run) for run in runs]

    def cells(
        self, name: str, checkpoint: str = Checkpoint.LAST, model: Model | None = None
    ) -> dict[str, list[CellScores]]:
        """Return title of the task -> scores of its cells, each with exact match by scale, for one model size.

        Raises:
            StoreError: a run is broken.
        """
        protocol = self.protocol(name)
        threshold = protocol.profile.evaluation.threshold
        runs_of = self.runs_of_size(name, model)
        titles = distinct_names({condition.task.key: condition.task.title for condition in runs_of})
        cells_of_task: dict[str, list[CellScores]] = {}
        for condition, runs in runs_of.items():
            if self.record(name):  # which may have the last checkpoint alone
                by_seed = scores_by_seed(_cells_of(self.trial(name), condition, str(model or self.models(name)[0])))
                scores = [by_seed[run.seed] for run in runs]
            else:
                pairs = zip(runs, self.metrics(runs), strict=True)
                scores = [
                    outcome(run_and_rows, threshold=threshold, checkpoint=checkpoint).exact_match
                    for run_and_rows in pairs
                ]
            exact_match = {scale: tuple(run_and_rows[scale] for run_and_rows in scores) for scale in protocol.test}
            cell = CellScores(format=condition.task.format, encoding=condition.encoding, exact_match=exact_match)
            cells_of_task.setdefault(titles[condition.task.key], []).append(cell)
        return cells_of_task

    def trial(self, name: str) -> dict[str, Any]:
        """Read the stored trial of a protocol (`lengthgen conjecture`) and check that it judged the stored runs.

        Raises:
            Missing: the trial judged other runs.
            StoreError: a run is broken.
            LengthgenError: the file was changed after it was written.
        """
        if folder := self.record(name):
            return self.cached("trial", name, lambda: read_record(folder).trial)
        stored = read_trial(self._trial(name), self.command("conjecture", name))
        for (condition, model), runs in self.runs(name).items():
            scores = {run.seed: self.store.final_exact_match(run) for run in runs}
            stored_scores = scores_by_seed(_cells_of(stored, condition, str(model)))
            if any(stored_scores.get(seed) != score for seed, score in scores.items()):  # it may hold added runs too
                raise Missing(
                    f"{self._trial(name)} was not made of these runs ({condition})",
                    self.command("conjecture", name),
                )
        return stored

    def ledger(self) -> list[dict[str, Any]]:
        """Read the claims with their verdicts. Raises LengthgenError if the file was changed after it was written."""
        return read_claims(self.out / LEDGER, self.command("reproduce"))

    def found(self, part: Path) -> Path:
        """Return a part of `out`, or that of the records where `out` lacks it and they have it."""
        missing = self.records is not None and not (self.out / part).exists()
        recorded = (self.records or self.out) / part
        return recorded if missing and recorded.exists() else self.out / part

    def _planned(self, name: str, folder: Path | None = None) -> dict[tuple[Condition, Model], list[Run]]:
        """List the runs of a protocol as they are stored in `folder`, or else in `out`."""
        stored_in = folder or self.out
        look = partial(stored_runs, self.protocol(name), stored_in)
        return self.cached(f"runs in {stored_in}", name, look)

    def _unfinished(self, name: str) -> list[str]:
        """List the names of the runs of a protocol that `out` lacks."""

        def look() -> list[str]:
            return [run.id for runs in self._planned(name).values() for run in runs if not self.store.finished(run)]

        return self.cached("lacking", name, look)

    def _in_record(self, name: str, needs: Needs) -> bool:
        """True if a record stands in for a protocol, with all that the figure reads of it."""
        folder = self.record(name) if needs.record else None
        return folder is not None and all((folder / file).is_file() for file in needs.record)

    def _digest(self, name: str) -> list[Any]:
        """Return hashes of the runs of one protocol."""
        protocol = self.protocol(name)
        return [protocol.name, protocol.profile_name] + [
            [str(cell), str(model), [self.store.digest(run) for run in runs]]
            for (cell, model), runs in self.runs(name).items()
        ]

    def cached(self, what: str, name: str, look: Callable[[], T]) -> T:
        if (what, name) not in self.cache:
            self.cache[what, name] = look()
        value: T = self.cache[what, name]
        return value

    def _trial(self, name: str) -> Path:
        return self.out / self.protocol(name).name / TRIAL

    def command(self, *arguments: str) -> str:
        return shlex.join(["lengthgen", *arguments, "--profile", self.profile, "--out", str(self.out)])


def model_sizes(model: Model) -> str:
    """Size of a model in words."""
    return f"width {model.width}, layers {model.layers}, heads {model.heads}"


def _cells_of(trial: Mapping[str, Any], condition: Condition, size: str) -> list[Mapping[str, Any]]:
    """Cells of a trial that judge a condition, for one model size."""
    key = condition.task.key, condition.task.format, condition.encoding, size
    return [cell for cell in trial["cells"] if tuple(cell[part] for part in CELL_PARTS) == key]
