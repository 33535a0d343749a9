"""Recorded trials: their cells with predictions and counts of runs, wherever trials are stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthgen.empirical.experiment.judge import Evidence, e_process, near_half
from lengthgen.empirical.trial.conjecture import FEWEST
from lengthgen.empirical.trial.record import read_record, record_folders
from lengthgen.infrastructure.files import DamagedFile, read_json
from lengthgen.infrastructure.shapes import COUNT, FLAG, TEXT, WrongShape, list_of, or_none, record

FILE = "conjecture.json"
_CELL = record(
    **dict.fromkeys(("task", "format", "encoding", "size"), TEXT),
    predicted=or_none(FLAG),
    generalizes_given_fit=record(successes=COUNT, trials=COUNT),
)
_TRIAL = record(main=record(size=TEXT), cells=list_of(_CELL))


@dataclass(frozen=True, kw_only=True)
class TrialCell:
    """Cell of a recorded trial, of the model size that the trial judges.

    Attributes:
        trial: folder of the trial, below the folder of all.
        task, format, encoding, size: names of the cell, as in `CellKey`.
        predicted: True if it was predicted to generalize; None without a prediction.
        fit, generalize: fitting runs, and those of them that generalize.
    """

    trial: str
    task: str
    format: str
    encoding: str
    size: str
    predicted: bool | None
    fit: int
    generalize: int

    @property
    def asked(self) -> tuple[str, str, str]:
        """Task, format and encoding: what several trials may ask."""
        return self.task, self.format, self.encoding

    @property
    def name(self) -> str:
        """Name of the cell among all trials."""
        return f"{self.trial}: {self.task}/{self.format}/{self.encoding}/{self.size}"

    @property
    def evidence(self) -> Evidence | None:
        """E-values for and against the prediction; None without one, or with fewer than FEWEST fitting runs."""
        return self._for_and_against(e_process(self.generalize, self.fit)) if self._counts else None

    @property
    def near_half(self) -> Evidence | None:
        """The same by the mixture near one half."""
        return self._for_and_against(near_half(self.generalize, self.fit)) if self._counts else None

    @property
    def _counts(self) -> bool:
        return self.predicted is not None and self.fit >= FEWEST

    def _for_and_against(self, evidence: Evidence) -> Evidence:
        """Return the e-value for the prediction as `above`, and the one against it as `below`."""
        return Evidence(above=evidence.that(bool(self.predicted)), below=evidence.that(not self.predicted))


def recorded_trials(root: Path) -> dict[str, list[TrialCell]]:
    """Return trial -> its cells: of every record below `root`, and of every trial that is stored in a folder of it.

    Raises:
        DamagedFile: a record is damaged, or a file holds no trial.
        OSError: a file cannot be read.
    """
    records = {folder.relative_to(root).as_posix(): _of_record(folder, root) for folder in record_folders(root)}
    trials = {path.parent.name: _cells(path, path.parent.name) for path in sorted(root.glob(f"*/{FILE}"))}
    return dict(sorted((records | trials).items()))


def _of_record(folder: Path, root: Path) -> list[TrialCell]:
    """Return the cells of a record, which is checked when it is read."""
    return [
        TrialCell(
            trial=folder.relative_to(root).as_posix(),
            **cell.key._asdict(),
            predicted=cell.predicted,
            fit=cell.outcome.fit,
            generalize=cell.outcome.generalize,
        )
        for cell in read_record(folder).judged()
    ]


def _cells(path: Path, trial: str) -> list[TrialCell]:
    content: Mapping[str, Any] = read_json(path)
    try:
        _TRIAL(content, "trial")
    except WrongShape as error:
        raise DamagedFile(f"{path} holds no trial ({error}): restore it, or make it again") from error
    return [
        TrialCell(
            trial=trial,
            **{key: cell[key] for key in ("task", "format", "encoding", "size", "predicted")},
            fit=cell["generalizes_given_fit"]["trials"],
            generalize=cell["generalizes_given_fit"]["successes"],
        )
        for cell in content["cells"]
        if cell["size"] == content["main"]["size"]
    ]
