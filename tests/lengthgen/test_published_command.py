"""`lengthgen published`: published results by data set, task and encoding, with their sources."""

import pytest

from lengthgen.circuits.tasks.published.subjects import SUBJECTS
from tests.lengthgen.refusal import refused


def test_the_answer_has_every_cell_with_its_runs_and_its_source(answer):
    got = answer("published")
    assert len(got["cells"]) == 187
    assert {cell["evidence"] for cell in got["cells"]} == set(got["sources"])
    assert {source["arxiv"] for source in got["sources"].values()} == {"2410.02140", "2602.08857", "2305.19466"}
    assert all(source["traps"] and source["licence"] for source in got["sources"].values())
    [cell] = [
        cell for cell in got["cells"]
        if (cell["evidence"], cell["task"], cell["encoding"]) == ("huang2025", "parity", "offset-ape")
    ]  # fmt: skip
    assert (cell["train"], cell["test"]) == (50, 150)
    assert cell["runs"][0] == {"name": "mean of ape", "accuracy": {"50": 1.0, "100": 0.83, "150": 0.621}}
    assert "2 of 7" in cell["remark"]
    assert {run["evidence"] for run in got["unusable"]} == {"decompiling2026"}
    assert len(got["unusable"]) == 11 and all(run["name"] and run["why"] for run in got["unusable"])


def test_a_cell_is_expressible_if_its_subject_has_a_task(answer):
    for cell in answer("published")["cells"]:
        subject = SUBJECTS[cell["task"]]
        assert (cell["expressible"], cell["why_not"]) == (subject.task is not None, subject.why_not)


@pytest.mark.parametrize(("filters", "cells", "unusable", "sources"), [
    (("--evidence", "kazemnejad2023_math"), 35, 0, 1),
    (("--evidence", "decompiling2026", "--task", "copy_unique"), 1, 4, 1),
    (("--task", "copy_unique"), 3, 4, 2),
    (("--task", "lego", "--encoding", "rope"), 1, 0, 1),
    (("--encoding", "nope"), 51, 11, 4),
    (("--task", "lego", "--encoding", "offset-ape"), 0, 0, 0),
])  # fmt: skip
def test_filters_choose_cells_unusable_runs_and_sources(answer, filters, cells, unusable, sources):
    got = answer("published", *filters)
    assert [len(got[key]) for key in ("cells", "unusable", "sources")] == [cells, unusable, sources]


def test_the_table_shows_trained_and_tested_accuracy_of_every_run(run):
    code, table, errors = run("published", "--task", "count")
    assert (code, errors) == (0, "")
    [row] = [line for line in table.splitlines() if line.startswith(" decompiling2026")]
    assert row.split()[:6] == ["decompiling2026", "count", "offset-ape", "50", "150", "3"]
    assert row.split()[6:12] == ["1.00", "1.00", "1.00", "0.00", "0.99", "0.95"]
    code, table, errors = run("published", "--task", "copy-cmc", "--encoding", "nope")
    assert "- - -" in table, "accuracies at trained lengths are shown where none was measured"


def test_the_table_names_the_tasks_that_are_not_expressible_and_counts_what_json_alone_shows(answer, run):
    remarked = sum(cell["remark"] != "" for cell in answer("published")["cells"])
    _, table, _ = run("published")
    words = " ".join(table.split())
    for subject in SUBJECTS.values():
        assert subject.task is not None or subject.why_not in words
    assert f" {remarked} cells have a remark" in words
    assert "11 measured runs are not used" in words


@pytest.mark.parametrize(("option", "name", "says"), [
    ("--evidence", "huang", "did you mean huang2025?"),
    ("--task", "pariti", "did you mean parity?"),
    ("--encoding", "nop", "did you mean nope?"),
    ("--encoding", "", "choose offset-ape"),
    ("--task", "\x1b[31m", "no published result has the task"),
])  # fmt: skip
def test_an_unknown_name_is_refused_with_the_nearest(run, option, name, says):
    refused(run("published", option, name), says, longest=1500)
