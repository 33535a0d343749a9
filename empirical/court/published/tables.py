"""Tables of published numbers as measurements: one reader for each table, all accuracies as shares in [0, 1]."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from lengthgen.empirical.court.published.source import PublishedError

BINS = (50, 100, 150)
"""Largest lengths of the three bins of huang2025 and decompiling2026."""
SHARE = re.compile(r"-?[0-9]+(\.[0-9]+)?")
"""Decimal number, as the tables write shares."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Row of a table.

    Attributes:
        task, encoding: as the table writes them.
        run: name of the run.
        accuracy: length -> share of inputs that are answered without any error.
    """

    task: str
    encoding: str
    run: str
    accuracy: Mapping[int, float]


class Row:
    """Row of a CSV file whose entries are checked as they are read.

    Args:
        entries: column -> text.
        place: file and line, for errors.
    """

    def __init__(self, entries: Mapping[str, str], place: str) -> None:
        self._entries, self._place = entries, place

    def text(self, column: str) -> str:
        """Return an entry; raise PublishedError if there is no such column, or the row is too short."""
        entry = self._entries.get(column)
        if entry is None:
            raise PublishedError(f"{self._place}: column '{column}' is missing")
        return entry

    def share(self, column: str, *, full: int = 1) -> float:
        """Return an entry divided by `full`; raise PublishedError if it is no number from 0 to `full`."""
        text = self.text(column)
        if not SHARE.fullmatch(text) or not 0 <= Decimal(text) <= full:
            raise PublishedError(f"{self._place}: {column} = '{text}' is no number from 0 to {full}")
        return abs(float(Decimal(text) / full))  # without the sign of -0.0

    def length(self, column: str) -> int:
        """Return an entry; raise PublishedError if it is no positive whole number."""
        text = self.text(column)
        if not (text.isdecimal() and int(text)):
            raise PublishedError(f"{self._place}: {column} = '{text}' is no length")
        return int(text)

    def truth(self, column: str) -> bool:
        """Return an entry; raise PublishedError if it is neither True nor False."""
        text = self.text(column)
        if text not in ("True", "False"):
            raise PublishedError(f"{self._place}: {column} = '{text}' is neither True nor False")
        return text == "True"


def read_rows(folder: Path, name: str) -> Iterator[Row]:
    """Yield the rows of the table NAME.csv in a folder.

    Raises:
        PublishedError: the file cannot be read, is no text, or a row has more entries than the first line.
    """
    path = folder / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            for entries in reader:
                place = f"{path.name}, line {reader.line_num}"
                if None in entries:
                    raise PublishedError(f"{place}: more entries than columns")
                yield Row(entries, place)
    except (OSError, UnicodeError, csv.Error) as error:
        raise PublishedError(f"{path} cannot be read: {error}") from error


def _huang(row: Row) -> Measurement:
    """Return a row of huang2025: percent in three bins, a mean over runs."""
    shares = [row.share(f"bin{index}", full=100) for index in range(len(BINS))]
    return Measurement(
        task=row.text("task"),
        encoding=row.text("pe"),
        run=f"mean of {row.text('pe')}",
        accuracy=dict(zip(BINS, shares, strict=True)),
    )


def _decompiling(row: Row) -> Measurement:
    """Return a row of decompiling2026, shares in three bins; the model is named TASK-MARK..., mark one of @#%^."""
    model = row.text("model")
    task, _, size = model.partition("-")
    shares = [row.share(f"b{index}") for index in range(len(BINS))]
    return Measurement(task=task, encoding=size[:1], run=model, accuracy=dict(zip(BINS, shares, strict=True)))


def _kazemnejad_lengths(row: Row) -> Measurement:
    """Return a row of kazemnejad2023_lengths: the share at one length, of one seed."""
    return Measurement(
        task=f"{row.text('task')}/{row.text('split')}",
        encoding=row.text("pe"),
        run=f"seed {row.text('seed')}",
        accuracy={row.length("length"): row.share("exact_match")},
    )


def _kazemnejad_math(row: Row) -> Measurement:
    """Return a row of kazemnejad2023_math: the share at one length, a mean of three seeds."""
    return Measurement(
        task=row.text("panel"),
        encoding=row.text("pe"),
        run="mean of 3 seeds",
        accuracy={row.length("length"): row.share("accuracy")},
    )


READERS: Mapping[str, Callable[[Row], Measurement]] = {
    "huang2025": _huang,
    "decompiling2026": _decompiling,
    "kazemnejad2023_lengths": _kazemnejad_lengths,
    "kazemnejad2023_math": _kazemnejad_math,
}
"""Table -> reader of a row."""
