"""Figures of one stored conjecture: they need its file alone, own tasks and encodings included."""

import csv
import io
import json
from pathlib import Path

import pytest

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.paper_figs.saving import _csv_bytes
from lengthgen.paper_figs.stored_trial import StoredTrial, load_trial
from lengthgen.questions.figures import draw_trial
from tests.paper_figs.made_up import sources


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a trial whose task and one encoding are the user's, without runs and without the user's files."""
    given, name = sources(tmp_path_factory.mktemp("made-up"))
    text = json.dumps(given.trial(name)).replace('"copy"', '"my/tasks.py:flip"').replace('"rpe"', '"my/enc.py:mine"')
    trial = json.loads(text)
    cells = [cell | {"outcomes": cell["outcomes"][: 3 + number]} for number, cell in enumerate(trial["cells"])]
    write_sealed_json(given.out / "alone" / "mine" / "conjecture.json", trial | {"cells": cells})
    return given.out / "alone" / "mine"


def test_accuracy_of_a_record_is_that_of_its_outcomes_with_any_number_of_runs(folder: Path) -> None:
    trial = load_trial(folder)
    assert (trial.name, trial.train, trial.test) == ("mine", (1, 2), (1, 2, 3, 4, 5, 6))
    drawing = trial.figures()["accuracy-mine"](7.0)
    rows = {(row["task"], row["encoding"], row["scale"]): row for row in drawing.rows}
    for cell in trial.content["cells"]:
        for scale in trial.test:
            row = rows[cell["task"].rpartition(":")[2], cell["encoding"], scale]
            values = [outcome["exact_match"][str(scale)] for outcome in cell["outcomes"]]
            assert row["seeds"] == len(values)
            assert [value for key, value in row.items() if key.startswith("seed_") and value != ""] == values
    assert "median of 3 to 5 runs" in drawing.caption
    assert len([*csv.DictReader(io.StringIO(_csv_bytes(drawing.rows).decode()))]) == len(drawing.rows)


def test_a_choice_is_counted_anew_and_keeps_its_order(folder: Path) -> None:
    chosen = load_trial(folder).chosen(task="flip", encoding="ape,mine", format=None)
    assert [cell["encoding"] for cell in chosen.content["cells"]] == ["ape", "my/enc.py:mine"]
    assert chosen.content["rules"]["coverage"]["table"] == {
        "yes_yes": 0, "yes_no": 1, "no_yes": 0, "no_no": 1, "not_observed": 0, "no_prediction": 0,
    }  # fmt: skip
    assert chosen.content["breaking"] == {"cells": 1, "as_predicted": 1, "earlier": 0, "later": 0, "never": 0}
    caption = chosen.figures()["predicted-mine"](7.0).caption
    assert (
        "As predicted: 1 of 2 cells with both a prediction and an outcome, 50%." in caption and "Fisher" not in caption
    ), "no test of all cells is quoted"


def test_the_whole_trial_counts_as_it_was_judged(folder: Path) -> None:
    trial = load_trial(folder)
    every = trial.chosen(task=",".join(dict.fromkeys(cell["task"] for cell in trial.content["cells"])))
    judged = trial.content["rules"]
    assert {rule: every.content["rules"][rule]["table"] for rule in ("coverage", "literal")} == {
        rule: judged[rule]["table"] for rule in ("coverage", "literal")
    }
    assert trial.content["breaking"].items() >= every.content["breaking"].items()


@pytest.mark.parametrize(
    ("choice", "says"),
    [({"encoding": "apr"}, "no cell has the encoding 'apr': did you mean ape?"),
     ({"task": "parity", "format": "filled"}, "no cell has the format 'filled'")],
)  # fmt: skip
def test_an_unknown_choice_is_one_line(folder: Path, choice: dict[str, str], says: str) -> None:
    with pytest.raises(LengthgenError, match=says):
        load_trial(folder).chosen(**choice)


def test_records_of_the_repository_can_be_drawn(tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "docs" / "results"
    trials = [load_trial(results / name) for name in ("prism/prism", "quick/fig1", "varied-filler/once")]
    assert all(isinstance(trial, StoredTrial) and trial.train for trial in trials)
    assert trials[1].content["cells"][0]["verdict"] == "undecided (power)"
    drawn = draw_trial(load_trial(results / "verdict" / "parity"), tmp_path, ["disagreements"], width=7.0)
    assert drawn.files == {"disagreements-parity": [f"disagreements-parity.{end}" for end in ("csv", "txt", "tex")]}


def test_a_folder_without_a_trial_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        LengthgenError, match=r"conjecture\.json does not exist: name a conjecture\.json, or its folder"
    ):
        load_trial(tmp_path)
