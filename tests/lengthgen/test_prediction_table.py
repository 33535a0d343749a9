"""Forecasts and rules as data and as tables: every encoding has its row, and a rule without an answer is a dash."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.encoding_spec import ENCODINGS, HintNeeded, parse_encodings
from lengthgen.circuits.prediction_record import Prediction
from lengthgen.circuits.tasks import load
from lengthgen.empirical.studies.verdict.rules import answers
from lengthgen.questions.predict import Forecasts, forecast_table, forecasts_of, rules_table
from lengthgen.terminal import progress
from tests.circuits.small_random_tasks import CIRCUIT, OWN_LETTER


def asked(task: Analysis, encodings: str, train, test) -> Forecasts:
    return forecasts_of(task, parse_encodings(encodings), train, test, task=None)


def lines_of(table, width: int) -> list[str]:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(table)
    return [line.rstrip() for line in console.export_text().splitlines()]


def rows_of(lines: list[str], forecasts: Forecasts) -> dict[str, list[str]]:
    return {cells[0]: cells[1:] for line in lines if (cells := line.split()) and cells[0] in forecasts.predictions}


@pytest.fixture(scope="module")
def parity() -> Analysis:
    return analyse(load("parity"), "aligned", 6)


def test_every_encoding_has_a_forecast_that_json_holds(parity):
    answer = asked(parity, ",".join(ENCODINGS), [1, 2], range(1, 7)).as_json()
    assert (answer["format"], answer["mode"], answer["test"]) == ("aligned", "free", [1, 2, 3, 4, 5, 6])
    assert list(answer["predictions"]) == list(ENCODINGS)
    for text, prediction in json.loads(json.dumps(answer, allow_nan=False))["predictions"].items():
        assert (prediction["own_token"] is None) == (prediction["relation"] is None)
        assert 0 <= prediction["forecast"]["low"] <= prediction["forecast"]["share"] <= prediction["forecast"]["high"]
        assert Prediction.from_json(prediction).encoding == text


def test_forecasts_are_five_columns_of_eighty_characters(parity):
    forecasts = asked(parity, "ipe,rpe,ape,nope,clipped[limit=20]", [1, 2], range(1, 7))
    lines = lines_of(forecast_table(forecasts), 80)
    assert lines[0] == "Forecasts for parity, trained on 1-2, tested on 1-6"
    assert lines[2].split() == ["encoding", "generalize", "breaks", "at", "because", "on", "record"]
    assert [*rows_of(lines, forecasts)] == [*forecasts.predictions]
    assert max(map(len, lines)) <= 80
    counted, tasks = forecasts["rpe"].comparable, forecasts["rpe"].comparable_tasks
    assert f"rpe: {counted.runs} comparable runs of {tasks} tasks, {counted.generalize} generalized" in lines


def test_ideal_labels_of_a_circuit_that_may_not_be_the_simplest_are_told_as_at_most():
    forecasts = asked(analyse(CIRCUIT.plain(), "aligned", 8), "ipe-sh,rpe", [1, 2], range(1, 9))
    least = forecasts.src_at_least
    assert forecasts.as_json()["src_at_least"] == least == forecasts.predictions["ipe-sh"].complexity_test
    assert not any("at most" in line for line in lines_of(forecast_table(forecasts), 200))
    unsure = replace(forecasts, src_at_least=1)
    [note] = [line for line in lines_of(forecast_table(unsure), 200) if "at most" in line]
    assert note == f"ipe-sh: at most {least:g} operators, at least 1: another circuit may have simpler labels"


def test_the_rules_stand_in_a_second_table_with_the_scale_of_the_failure(parity):
    forecasts = asked(parity, "ipe,nope,random-rope[longest=64]", [1], range(1, 7))
    lines = lines_of(rules_table(forecasts), 200)
    rows = rows_of(lines, forecasts)
    # One operator at scale 1 and at every scale, but not all of its entries at scale 1.
    assert " ".join(rows["ipe"][:7]) == "ideal 1 -> 1 2 -> 2"
    assert " no, 2 yes no, 2 " in " ".join(rows["ipe"]), "coverage, literal, selection"
    assert " ".join(rows["nope"][:4]) == "constant 1 -> inf"
    assert rows["random-rope[longest=64]"][:3] == ["-"] * 3 and rows["random-rope[longest=64]"][-7:] == ["-"] * 7
    notes = [line for line in lines if line.startswith("random-rope[longest=64]: ")]
    assert len(notes) == 1 and "anew for each batch" in notes[0]


def test_the_own_token_replaces_a_hint_of_learned_labels():
    forecasts = asked(analyse(load("select-first"), "unaligned", 6), "lbpe", [1, 2, 3], range(1, 7))
    assert forecasts["lbpe"].why == "training shows all that the test needs"
    prediction = forecasts.predictions["lbpe"]
    assert prediction.generalizes is False and prediction.says("selection_with_token") is True


def test_the_own_token_serves_every_encoding_where_it_decides_the_step(run) -> None:
    """After a the state is 1 and after b it is 0; the rule answers as the verdict on random languages does."""
    scales = ("--format", "unaligned", "--train", "1-3", "--test", "1-8")
    code, out, _ = run("predict", str(OWN_LETTER), *scales, "--encoding", "rpe,ape,nope", "--json")
    assert code == 0
    guesses = answers(OWN_LETTER, ("rpe", "ape", "nope"), range(1, 4), range(1, 9))
    for encoding, prediction in json.loads(out)["predictions"].items():
        assert not prediction["distractors"]["generalizes"]
        assert (prediction["own_token"]["generalizes"], prediction["own_token"]["breaks_at"]) == (True, None)
        assert guesses[encoding]["own-token"].breaks_at is None
    code, out, _ = run("predict", "parity", "--encoding", "rpe,ape", "--train", "1-3", "--test", "1-6", "--json")
    assert code == 0
    assert {prediction["own_token"]["breaks_at"] for prediction in json.loads(out)["predictions"].values()} == {4}


def test_an_ideal_relation_that_does_not_exist_is_no_row():
    with pytest.raises(HintNeeded, match="changes at scale 2"):
        asked(analyse(load("parity"), "unaligned", 3), "rpe,ipe", [1], [1, 2, 3])


def test_without_encodings_a_task_that_needs_a_scale_hint_is_predicted_with_one(run) -> None:
    code, out, err = run("predict", "addition-carry", "--base", "2", "--train", "1-3", "--test", "1-5", "--json")
    assert code == 0
    assert [*json.loads(out)["predictions"]] == ["ipe-sh", "rpe", "ape", "nope"]
    assert "ipe is replaced by ipe-sh" in err and "changes at scale 2" in err
    with_ipe = run("predict", "addition-carry", "--base", "2", "--train", "1-3", "--test", "1-5", "--encoding", "ipe")
    assert with_ipe[0] == 2 and "use a scale hint" in with_ipe[2]


def test_without_encodings_a_task_without_circuit_is_predicted_for_encodings_by_position(run) -> None:
    scales = ("--train", "1-2", "--test", "1-9")
    code, out, err = run("predict", "parity-direct", *scales, "--json")
    assert code == 0
    predictions = json.loads(out)["predictions"]
    assert [*predictions] == ["rpe", "ape", "nope"]
    assert all(prediction["breaks_at"] == 3 for prediction in predictions.values())
    assert "ipe is left out: some step needs more than 8 arguments" in err
    asked_for = run("predict", "parity-direct", *scales, "--encoding", "ipe")
    assert asked_for[0] == 2 and "no roles to encode; at smaller scales it may have" in asked_for[2]


OWN_TASK = """
from lengthgen.circuits.task import Task

task = Task(
    name="mine",
    alphabet=("0", "1", "="),
    prompt=lambda n: [("0", "1")] * n + [("=",)],
    generate=lambda prompt: prompt[:-1],
)
"""


@pytest.mark.parametrize("own", [False, True], ids=["named", "own"])
def test_a_long_analysis_says_what_it_does(own, run, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    (tmp_path / "mine.py").write_text(OWN_TASK)
    task = f"{tmp_path / 'mine.py'}:task" if own else "parity"
    code, _, err = run("predict", task, "--train", "1-2", "--test", "1-6")
    assert code == 0, err
    assert re.search(rf"analysis of {re.escape(task)}: at work for \d+ s; phase: \w+", err)


def test_a_question_on_long_inputs_says_at_which_scales_it_is_answered(run) -> None:
    code, out, _ = run("predict", "parity", "--encoding", "rpe", "--train", "1-50", "--test", "1-150")
    assert code == 0 and "computed on a copy, scales 1-5 and 1-15; breaking scales times 10 [F]" in out


def test_tests_within_the_training_scales_are_refused_in_one_line(run) -> None:
    code, out, err = run("predict", "parity", "--train", "1-5", "--test", "1-3")
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    assert "no test scale lies beyond the training scales 1-5" in err


def test_the_scores_of_forecast_and_rivals_are_printed_by_one_command(run) -> None:
    code, out, _ = run("forecast", "--json")
    assert code == 0 and {"version", "parts", "without", "worst"} <= json.loads(out).keys()
    code, out, _ = run("forecast")
    lines = out.splitlines()
    assert code == 0 and len(lines) <= 25 and lines[2].split()[:4] == ["tasks", "of", "noise", "forecast"]
    code, details, _ = run("forecast", "--details")
    assert code == 0 and len(details.splitlines()) > len(lines) + 20
    code, page, _ = run("forecast", "--format", "markdown")
    assert code == 0 and page == (Path(__file__).parents[2] / "docs" / "forecast.md").read_text(encoding="utf-8")
    code, _, err = run("forecast", "--format", "markdown", "--details")
    assert code == 2 and "--format markdown is a page of its own" in err


DRAWN = ("predict", "copy", "--encoding", "rpe,ape", "--train", "1-2", "--test", "1-4", "--json", "--draw")


def test_draw_writes_the_picture_of_the_task_and_names_its_files(run, tmp_path):
    folder = tmp_path / "figures"
    code, answer, _ = run(*DRAWN, str(folder))
    files = json.loads(answer)["figure"]
    assert code == 0 and str(folder / "forecast-copy-aligned.png") in files
    assert sorted(files) == sorted(map(str, folder.iterdir()))


def test_a_file_in_place_of_the_folder_of_the_picture_is_refused(run, tmp_path):
    file = tmp_path / "taken"
    file.write_text("")
    code, _, error = run(*DRAWN, str(file))
    assert code == 2 and str(file) in error
