"""Published results: what is loaded is what the tables say, read here with the csv module alone."""

import csv
import math
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from lengthgen.circuits.encoding_spec import ENCODINGS, parse_encoding
from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from lengthgen.empirical.studies.court.published import load
from lengthgen.empirical.studies.court.published.load import (
    UNSEEN_FIT,
    huang_predictions,
    published_cells,
    sources,
    unusable_runs,
)

FOLDER = Path(load.__file__).parent
CELLS = {cell.name: cell for cell in published_cells()}


def rows(name):
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def accuracies(name):
    """Run -> length -> share of the cell of this name."""
    return {run: dict(accuracy) for run, accuracy in CELLS[name].runs.items()}


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


@pytest.mark.parametrize("name", ["huang2025", "decompiling2026"])
def test_every_row_of_three_bins_is_one_run_or_unusable(name):
    runs = sum(len(cell.runs) for cell in published_cells() if cell.evidence == name)
    assert runs + sum(run.evidence == name for run in unusable_runs()) == len(rows(name))


@pytest.mark.parametrize("name", ["kazemnejad2023_lengths", "kazemnejad2023_math"])
def test_every_row_of_one_length_is_one_number_of_a_run(name):
    cells = [cell for cell in published_cells() if cell.evidence == name]
    assert sum(len(accuracy) for cell in cells for accuracy in cell.runs.values()) == len(rows(name))


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


def test_chosen_numbers_are_those_of_the_rows():
    """The rows are chosen by hand; each is read from its line."""
    lines = (FOLDER / "huang2025.csv").read_text(encoding="utf-8").splitlines()
    assert "tomita4,Star Free,nope,False,100.0,16.45,0" in lines
    assert accuracies("huang2025/tomita4/nope/50-150") == {"mean of nope": {50: 1.0, 100: 0.1645, 150: 0.0}}
    assert accuracies("huang2025/012/offset-ape/50-150") == {
        "mean of ape": {50: 0.997, 100: 0.244, 150: 0.012},
        "mean of ape_reg": {50: 0.996, 100: 0.256, 150: 0.021},
    }
    assert accuracies("decompiling2026/d-12/offset-ape/50-150") == {
        "bce_D12-@4l2h256d3lr00drop": {50: 1.0, 100: 1.0, 150: 0.974}
    }
    assert accuracies("decompiling2026/count/offset-ape/50-150") == {
        "count-#1l4h256d3lr01drop": {50: 1.0, 100: 0.24, 150: 0.0},
        "count-%2l4h256d4lr01drop": {50: 1.0, 100: 1.0, 150: 0.993},
        "count-@1l4h256d4lr01drop": {50: 1.0, 100: 1.0, 150: 0.948},
    }
    copies = accuracies("kazemnejad2023_lengths/copy-rdc/nope/20-40")
    assert {name: shares[40] for name, shares in copies.items()} == {
        "seed 146317": 0.942,
        "seed 234054": 0.884,
        "seed 256788": 0.924,
    }
    assert accuracies("kazemnejad2023_lengths/pcfg-md/sinusoidal/8-35")["seed 146317"][9] == 0.4963
    [addition] = accuracies("kazemnejad2023_math/addition-steps/nope/8-16").values()
    assert (addition[8], addition[9], addition[10]) == (0.927, 0.825, 0.115)
    assert math.copysign(1, addition[16]) == 1, "the sign of -0.0 stays"


def test_every_cell_has_shares_up_to_its_tested_length_and_a_name_of_its_own():
    assert len(CELLS) == len(published_cells())
    for cell in published_cells():
        for accuracy in cell.runs.values():
            assert all(0 <= share <= 1 for share in accuracy.values())
            assert cell.question.train < max(accuracy) == cell.question.test


def test_lengths_of_training_are_those_of_the_splits_names():
    """The splits of copy, reverse and SCAN are named ..._trN_tsM."""
    for cell in published_cells():
        if cell.evidence == "kazemnejad2023_lengths" and not cell.question.subject.name.startswith("pcfg"):
            written = {task: name for name, task in sources()[cell.evidence].names.items()}
            _, train, test = written[cell.question.subject.name].rsplit("_", 2)
            assert (train, test) == (f"tr{cell.question.train}", f"ts{cell.question.test}")


def test_a_remark_says_where_fit_cannot_be_seen():
    unseen = {cell.evidence for cell in published_cells() if UNSEEN_FIT in cell.remark}
    assert unseen == {"kazemnejad2023_lengths"}
    for cell in published_cells():
        lowest = min(length for accuracy in cell.runs.values() for length in accuracy)
        assert (UNSEEN_FIT in cell.remark) == (lowest > cell.question.train)


@pytest.mark.parametrize("encoding", sorted({cell.question.encoding for cell in published_cells()}))
def test_the_encoding_of_a_cell_is_registered(encoding):
    if encoding == "offset-ape" and encoding not in ENCODINGS:
        pytest.skip("offset-ape is not registered")
    assert str(parse_encoding(encoding)) == encoding


def test_the_unusable_runs_are_the_checkpoints_of_trainings():
    assert {run.name for run in unusable_runs()} == {
        row["model"] for row in rows("decompiling2026") if "^" in row["model"]
    }
    ends = {run for cell in published_cells() for run in cell.runs}
    for run in unusable_runs():
        assert run.name.replace("^", "@").rpartition("-")[0] in ends, "no end of this training is listed"
        assert run.why


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


def test_rows_that_are_remarked_as_copies_have_the_same_numbers():
    numbers = {(row["task"], row["pe"]): [row[f"bin{index}"] for index in range(3)] for row in rows("huang2025")}
    assert numbers["adbc", "ape"] == numbers["adbc", "nope"] != ["100.0"] * 3
    assert numbers["shuffle2", "ape_reg"] == numbers["shuffle2", "nope"] != numbers["shuffle2", "ape"]
    assert numbers["bool5", "ape_reg"] == numbers["bool5", "nope"] == numbers["bool5", "ape"] != ["100.0"] * 3
    counters = {row["task"] for row in rows("huang2025") if row["type"] == "Counter"}
    assert len(counters) == 7
    for task in counters:
        assert [float(x) for x in numbers[task, "ape_reg"]] == [float(x) for x in numbers[task, "nope"]]


def test_agreement_of_the_authors_own_prediction_is_as_the_trap_says():
    fitting = [row for row in rows("huang2025") if row["pe"] == "ape" and float(row["bin0"]) >= 99]
    agreeing = {
        threshold: sum((float(row["bin2"]) >= threshold) == (row["predicted"] == "True") for row in fitting)
        for threshold in (75, 90)
    }
    assert (len(fitting), agreeing) == (28, {75: 27, 90: 21})


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
