"""Records: what is stored gives the trial that was judged, and any change of it is noticed in one line."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lengthgen.empirical.experiment.tables import TableError, read_rows, write_rows
from lengthgen.empirical.trial.frozen import FILE
from lengthgen.empirical.trial.record import TABLE, RecordError, read_record, record_folders, table_start, write_record
from lengthgen.infrastructure.files import read_sealed_json, write_sealed_json

RESULTS = Path(__file__).parents[3] / "docs" / "results"
RECORDS = record_folders(RESULTS)
SMALL = RESULTS / "padding-sink" / "decimal"
UNTIL = RESULTS / "quick" / "until-decided" / "fig2"
PLAIN = RESULTS / "quick" / "fig3"
Rows = list[dict[str, Any]]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy of a small record."""
    folder = tmp_path / "decimal"
    shutil.copytree(SMALL, folder)
    return folder


def forge(folder: Path, change: Callable[[Rows], Any]) -> None:
    """Change the rows of a record and write them with a hash that fits."""
    rows = read_rows(folder / TABLE)
    change(rows)
    write_rows(folder / TABLE, rows)


def another(predictions: str) -> str:
    """Return predictions that break at scale 6 where they generalized."""
    return predictions.replace('"breaks_at":null', '"breaks_at":6')


def refused(folder: Path) -> str:
    """Return the message with which a record is refused."""
    with pytest.raises(RecordError) as error:
        read_record(folder)
    assert "\n" not in str(error.value) and str(folder) in str(error.value)
    return str(error.value)


def test_every_record_says_which_start_its_tables_had() -> None:
    starts: dict[str, set[float | None]] = {}
    for folder in RECORDS:
        for row in read_rows(folder / TABLE):
            name, _, options = row["encoding"].rpartition(":")[2].partition("[")
            if "start=" not in options:
                starts.setdefault(name, set()).add(row["table_start"])
    assert len(RECORDS) >= 48
    of_labels = "ape clipped ipe ipe-sh lbpe lbpe-sh offset-ape random-ape random-rpe rpe rpe-square t5 "
    of_labels += "first middle second second_last first_and_last"  # relations of the user's
    expected = {name: {0.02} if name in ("t5", "rpe-square") else {1.0} for name in of_labels.split()}
    assert {name: its for name, its in starts.items() if its != {None}} == expected
    assert {"alibi", "nope", "prism", "rope", "sinusoidal"} <= starts.keys()


def test_the_start_that_an_encoding_names_is_in_plain_numbers() -> None:
    names = ("rpe[start=0.02]", "ipe[start=0]", "rpe", "t5", "alibi", "nope")
    assert [*map(table_start, names)] == [0.02, 0.0, 1.0, 0.02, None, None]


def test_a_record_is_written_as_it_is_read(tmp_path: Path) -> None:
    record = read_record(SMALL)
    write_record(tmp_path, record.runs, SMALL / FILE)
    assert (tmp_path / TABLE).read_bytes() == (SMALL / TABLE).read_bytes()
    assert (tmp_path / FILE).read_bytes() == (SMALL / FILE).read_bytes()
    assert read_sealed_json(SMALL / FILE)["frozen"][-1]["hash"] == record.frozen == record.trial["frozen"]


def test_numbers_that_were_not_kept_are_no_numbers_and_said_to_be_missing() -> None:
    record = read_record(SMALL)
    assert all(math.isnan(row.token_accuracy) for each in record.runs for row in each.rows)
    [cell] = record.trial["cells"]
    assert [finding["kind"] for finding in cell["diagnosis"]] == ["not kept"]
    assert cell["best_on_test"] is None
    assert not {its["setting"]["checkpoint"] for its in record.trial["sensitivity"]} - {"last"}


def test_causes_that_exact_match_shows_are_named_without_the_other_numbers() -> None:
    cells = {(its["task"], its["format"], its["encoding"]): its for its in read_record(UNTIL).trial["cells"]}
    kinds = {key: [finding["kind"] for finding in cell["diagnosis"]] for key, cell in cells.items()}
    assert kinds["parity", "aligned", "rpe"] == ["optimisation", "unseen distractors", "not kept"]
    assert kinds["addition base 4", "aligned", "nope"] == ["not fitted", "not kept"]
    assert kinds["copy", "aligned", "ipe"] == []
    assert "NaN" not in json.dumps([*cells.values()])


def test_numbers_of_seen_steps_are_those_of_all_where_all_were_seen() -> None:
    folder = RESULTS / "dose" / "share-0"
    assert all(row.get("token_accuracy_seen") is None for row in read_rows(folder / TABLE))
    for each in (its for run in read_record(folder).runs for its in run.rows):
        assert (each.seen_steps, each.token_accuracy_seen, each.exact_match_seen) == (
            1.0, each.token_accuracy, each.exact_match,
        )  # fmt: skip


def test_a_record_with_all_checkpoints_judges_each_of_them() -> None:
    record = read_record(RESULTS / "published-budget" / "ten-parity")
    assert all(each.complete and len({row.epoch for row in each.rows}) == 10 for each in record.runs)
    trial = record.trial
    assert {its["setting"]["checkpoint"] for its in trial["sensitivity"]} > {"last"}
    assert all(cell["best_on_test"] for cell in trial["cells"])


def test_a_flipped_bit_of_the_table_is_noticed_or_changes_no_number(copied: Path) -> None:
    content, rows, noticed = (copied / TABLE).read_bytes(), read_rows(copied / TABLE), 0
    for place in range(0, len(content), len(content) // 100):
        flipped = bytearray(content)
        flipped[place] ^= 1
        (copied / TABLE).write_bytes(flipped)
        try:
            assert read_rows(copied / TABLE) == rows
        except TableError:
            refused(copied)
            noticed += 1
    assert noticed > 50


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[1].update(seed=rows[1]["seed"] + 1), "is not the name of the run"),
        (lambda rows: rows[1].update(run=rows[0]["run"]), "is not the name of the run"),
        (lambda rows: rows[1].update(config=rows[1]["config"].replace('"epochs":', '"epochs":1')), "is not the name"),
        (lambda rows: rows[1].update(config="{"), "holds no runs"),
        (lambda rows: rows[1].update(scale=rows[1]["scale"][1:]), "holds no runs"),
        (lambda rows: rows.reverse(), "do not derive from what"),
        (lambda rows: rows.pop(2), "do not derive from what"),
        (lambda rows: rows.append(rows[0]), "do not derive from what"),
        (lambda rows: rows.clear(), "holds no runs"),
        (lambda rows: [row.pop("predictions") for row in rows], "holds no runs"),
        (lambda rows: [row.update(predictions=another(row["predictions"])) for row in rows], "another answer of"),
    ],
)  # fmt: skip
def test_a_forged_row_is_noticed(copied: Path, change: Callable[[Rows], Any], says: str) -> None:
    read_record(copied)
    forge(copied, change)
    assert says in refused(copied)


def test_a_run_of_other_settings_has_a_name_of_its_own_and_no_frozen_seed(copied: Path) -> None:
    other = read_record(RESULTS / "padding-sink" / "base-four").runs[:6]
    write_record(copied, other, SMALL / FILE)
    assert "do not derive from what" in refused(copied)


def test_a_run_of_a_cell_has_the_settings_and_predictions_of_the_others(copied: Path) -> None:
    runs = [*read_record(copied).runs]
    training = replace(runs[1].run.training, epochs=299)
    for other in (replace(runs[1], run=replace(runs[1].run, training=training)), replace(runs[1], predictions={})):
        write_record(copied, [runs[0], other, *runs[2:]], SMALL / FILE)
        assert "differs from other runs of" in refused(copied)


@pytest.mark.parametrize("sealed", [True, False])
def test_an_answer_that_was_frozen_cannot_be_changed(copied: Path, sealed: bool) -> None:
    content = read_sealed_json(copied / FILE)
    rules = content["frozen"][0]["cells"][0]["rules"]
    rules["free/coverage"]["generalizes"] = not rules["free/coverage"]["generalizes"]
    if sealed:
        write_sealed_json(copied / FILE, content)
    else:
        (copied / FILE).write_text(json.dumps(content | {"seal": "0"}))
    assert ("holds other answers than its hash" if sealed else "its seal is broken") in refused(copied)


def test_without_what_was_frozen_derived_seeds_are_refused_and_plain_ones_are_no_prediction(copied: Path) -> None:
    (copied / FILE).unlink()
    assert "have not the seeds 0, 1, ..." in refused(copied)
    record = read_record(PLAIN)
    assert record.frozen is None and not any(cell["predicted_before_training"] for cell in record.trial["cells"])


def test_a_folder_without_a_table_is_one_line(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path)
