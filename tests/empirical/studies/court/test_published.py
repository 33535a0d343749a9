"""Published results: what is loaded is what the tables say, read here with the csv module alone."""

import csv
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from lengthgen.circuits.encoding_spec import ENCODINGS, parse_encoding
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.studies.court.published import load
from lengthgen.empirical.studies.court.published.load import (
    huang_predictions,
    published_cells,
    sources,
    unusable_runs,
)

FOLDER = Path(load.__file__).parent


def rows(name):
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_has_its_number_of_cells_and_runs():
    counts = {name: [0, 0, 0] for name in sources()}
    for cell in published_cells():
        counts[cell.evidence][0] += 1
        counts[cell.evidence][1] += len(cell.runs)
    for run in unusable_runs():
        counts[run.evidence][2] += 1
    assert counts == {
        "huang2025": [64, 96, 0],
        "decompiling2026": [28, 37, 11],
        "kazemnejad2023_lengths": [60, 180, 0],
        "kazemnejad2023_math": [35, 35, 0],
    }


@pytest.mark.parametrize(("name", "columns", "full"), [
    ("huang2025", ("bin0", "bin1", "bin2"), 100),
    ("decompiling2026", ("b0", "b1", "b2"), 1),
    ("kazemnejad2023_lengths", ("exact_match",), 1),
    ("kazemnejad2023_math", ("accuracy",), 1),
])  # fmt: skip
def test_the_numbers_of_a_table_are_those_of_its_cells_and_unusable_rows(name, columns, full):
    unused = {run.name for run in unusable_runs()}
    written = Counter(
        round(float(row[column]) / full, 9) + 0.0
        for row in rows(name)
        if row.get("model") not in unused
        for column in columns
    )
    cells = [cell for cell in published_cells() if cell.evidence == name]
    assert written == Counter(round(share, 9) for cell in cells for run in cell.runs.values() for share in run.values())


@pytest.mark.parametrize("encoding", sorted({cell.question.encoding for cell in published_cells()}))
def test_the_encoding_of_a_cell_is_registered(encoding):
    if encoding == "offset-ape" and encoding not in ENCODINGS:
        pytest.skip("offset-ape is not registered")
    assert str(parse_encoding(encoding)) == encoding


def test_predictions_of_huang_are_those_of_the_rows_without_regulariser():
    predicted = huang_predictions()
    assert len(predicted) == 64
    assert predicted.keys() == {
        (cell.question.subject.name, cell.question.encoding)
        for cell in published_cells()
        if cell.evidence == "huang2025"
    }
    assert predicted["tomita4", "offset-ape"] and not predicted["tomita4", "nope"]
    assert predicted["anbn", "nope"] and not predicted["parity", "offset-ape"]
    pes = ("ape", "ape_reg", "nope")
    by_encoding = {pe: {row["task"]: row["predicted"] for row in rows("huang2025") if row["pe"] == pe} for pe in pes}
    assert by_encoding["ape_reg"] == by_encoding["nope"] != by_encoding["ape"], "the rows of ape_reg could be used"


def test_every_name_of_the_description_is_in_use():
    """A remark or a length of training with a misspelt key would be lost."""
    tables = tomllib.loads((FOLDER / "sources.toml").read_text(encoding="utf-8"))
    for name, table in tables.items():
        cells = [cell for cell in published_cells() if cell.evidence == name]
        tasks = {cell.question.subject.name for cell in cells}
        encodings = {cell.question.encoding for cell in cells}
        both = {f"{cell.question.subject.name}/{cell.question.encoding}" for cell in cells}
        assert set(table["remarks"]) <= tasks | encodings | both
        assert set(table["train_of"]) <= tasks
        assert set(table["names"].values()) <= tasks <= SUBJECTS.keys()
        assert set(table["encodings"].values()) == encodings
