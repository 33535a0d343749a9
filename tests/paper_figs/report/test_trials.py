"""Verdicts on the report page equal those of each conjecture.json."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lengthgen.empirical.experiment.protocol import names
from lengthgen.empirical.trial.conjecture import Criteria
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.paper_figs.report.trials import trials_data
from tests.empirical.trial.trials import FAILS, NO, SOLVES, YES, evidence, histories
from tests.proofs_checks import stores


@pytest.fixture(scope="module")
def trial():
    run = next(iter(stores.runs_of("fig4").values()))[0]
    run = replace(run, train=(1, 2), test=(1, 2, 3, 4))
    every = [
        evidence(histories(run, {SOLVES: 10}), YES, "parity/aligned/ipe"),
        evidence(histories(run, {FAILS: 6, SOLVES: 1}), NO, "parity/aligned/ape"),
    ]
    return as_json(every, Criteria(threshold=0.95, size="small"))


def stored(out: Path, name: str, content: dict[str, Any] | str) -> Path:
    path = out / name / "conjecture.json"
    path.parent.mkdir()
    if isinstance(content, str):
        path.write_text(content)
    else:
        write_sealed_json(path, content)
    return path


def test_every_cell_has_its_verdict_shares_and_chances(tmp_path, trial):
    stored(tmp_path, "fig1", trial)
    [shown] = trials_data(tmp_path, "quick").trials
    assert shown["name"] == "fig1" and shown["title"] != "fig1"
    for cell, its in zip(trial["cells"], shown["cells"], strict=True):
        for key in ("task", "format", "encoding", "size", "verdict", "predicted", "literal", "observed"):
            assert its[key] == cell[key]
        for key in ("fit", "generalizes_given_fit", "generalizes"):
            expected = [cell[key][part] for part in ("successes", "trials", "low", "high")]
            assert its[key] == pytest.approx(expected, rel=1e-5)
        for key in ("e_against", "e_for"):
            assert its[key] == pytest.approx(cell[key], rel=1e-5)
        assert its["breaks"] == [cell["prediction"]["breaks_at"], cell["breaking"]["observed"]]
    for rule, its in trial["rules"].items():
        assert {key: its["table"][key] for key in shown["rules"][rule]["table"]} == shown["rules"][rule]["table"]


def test_missing_trials_are_listed_with_the_command_that_makes_them(tmp_path, trial):
    out = tmp_path / "with blank"
    out.mkdir()
    stored(out, "fig1", trial)
    (out / "fig2").mkdir()
    write_sealed_json(out / "fig2" / "predictions.json", {"key": "", "answer": []})
    data = trials_data(out, "smoke")
    assert len(data.missing) == len(names()) - 2, "of the project's own protocols"
    assert data.unjudged == [("fig2", f"lengthgen conjecture fig2 --profile smoke --out '{out}'")]
    assert set(data.hashes) == {"fig1/conjecture.json", "fig2/predictions.json"}


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"main": 1}', {"main": {}, "cells": []}, {"main": 1}, json.dumps, {"cells": [{}]}]
)
def test_a_damaged_file_is_named_with_the_command_that_makes_it_again_and_the_others_stay(tmp_path, trial, content):
    stored(tmp_path, "fig1", trial)
    wrong = content(trial) if callable(content) else content if isinstance(content, str) else trial | content
    stored(tmp_path, "fig3", wrong)
    data = trials_data(tmp_path, "quick")
    assert [entry["name"] for entry in data.trials] == ["fig1"]
    assert list(data.broken) == ["fig3/conjecture.json"]
    again = f"make it again with  lengthgen conjecture fig3 --profile quick --out {tmp_path}"
    assert data.broken["fig3/conjecture.json"].endswith(again)


def test_damaged_predictions_are_named(tmp_path, trial):
    stored(tmp_path, "fig1", trial)
    (tmp_path / "fig1" / "predictions.json").write_text('{"key": "", "answer": []}')
    data = trials_data(tmp_path, "quick")
    assert [entry["name"] for entry in data.trials] == ["fig1"], "the verdicts have a seal of their own"
    assert list(data.broken) == ["fig1/predictions.json"]


@pytest.mark.parametrize("name", ["conjecture.json", "predictions.json"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_path_that_is_no_regular_file_is_named(tmp_path, trial, name, make):
    stored(tmp_path, "fig1", trial)
    (tmp_path / "fig3").mkdir()
    make(tmp_path / "fig3" / name)
    data = trials_data(tmp_path, "quick")
    assert [entry["name"] for entry in data.trials] == ["fig1"]
    assert "is no regular file" in data.broken[f"fig3/{name}"]


def test_a_protocol_of_the_user_is_shown_by_its_name(tmp_path, trial):
    stored(tmp_path, "<script>mine", trial)
    assert trials_data(tmp_path, "quick").trials[0]["title"] == "<script>mine"


def test_a_forecast_is_shown_where_a_cell_has_one(tmp_path, trial):
    share = {"share": 0.12, "low": 0.03, "high": 0.3, "breaks_at": 7, "why": "comparable runs fail"}
    share["recorded"] = {"runs": 10, "generalize": 1}
    trial = json.loads(json.dumps(trial))
    trial["cells"][0]["forecast"] = share
    stored(tmp_path, "fig1", trial)
    [shown] = trials_data(tmp_path, "quick").trials
    expected = {"share": [0.12, 0.03, 0.3], "breaks_at": 7, "why": "comparable runs fail", "recorded": [1, 10]}
    assert [cell["forecast"] for cell in shown["cells"]] == [expected, None]


def test_every_run_of_a_cell_has_its_exact_match_by_scale(tmp_path, trial):
    stored(tmp_path, "fig1", trial)
    [shown] = trials_data(tmp_path, "quick").trials
    for cell, its in zip(trial["cells"], shown["cells"], strict=True):
        drawn = [dict(run) for run in its["exact"]]
        assert drawn == [pytest.approx(outcome["exact_match"], rel=1e-5) for outcome in cell["outcomes"]]
    assert shown["train"] == trial["train"]


def test_trials_of_the_users_tasks_come_first_by_the_name_in_the_file(tmp_path, trial):
    trial = json.loads(json.dumps(trial).replace("parity", "folder/my_task.py:mine"))
    for name in ("controls", "mine"):
        stored(tmp_path, name, trial)
    data = trials_data(tmp_path, "quick")
    assert [(its["name"], its["own"]) for its in data.trials] == [("mine", True), ("controls", False)]
    assert {cell["task"] for cell in data.trials[0]["cells"]} == {"mine"}


def test_the_command_of_a_predicted_task_has_the_options_by_which_it_was_predicted(tmp_path):
    cells = [
        {"task": "my task.py:mine", "base": None, "format": form, "encoding": encoding}
        for form in ("aligned", "filled")
        for encoding in ("ipe", "rpe")
    ]
    (tmp_path / "mine").mkdir()
    write_sealed_json(tmp_path / "mine" / "predictions.json", {"key": "", "answer": []})
    protocol = {"cells": cells, "train": [1, 2, 3], "test": [1, 2, 3, 4, 9]}
    write_sealed_json(tmp_path / "mine" / "frozen.json", {"frozen": [{"protocol": protocol, "cells": []}]})
    [(name, command)] = trials_data(tmp_path, "smoke").unjudged
    assert (name, command) == (
        "mine",
        "lengthgen conjecture 'my task.py:mine' --format aligned,filled --encoding ipe,rpe "
        f"--train 1,2,3 --test 1,2,3,4,9 --profile smoke --out {tmp_path}",
    )


def test_a_cell_in_which_no_run_fits_has_no_breaking_scale(tmp_path, trial):
    trial = json.loads(json.dumps(trial))
    trial["cells"][0]["breaking"] = None
    stored(tmp_path, "fig1", trial)
    [shown] = trials_data(tmp_path, "quick").trials
    assert shown["cells"][0]["breaks"] == [trial["cells"][0]["prediction"]["breaks_at"], None]
