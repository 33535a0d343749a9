"""Predictions as data and as a table: every encoding has its row, and what is not predicted shows as a dash."""

import io
import json
import re

import pytest
from rich.console import Console

from circuits.analysis import Analysis, analyse
from circuits.encodings import ENCODINGS, HintNeeded, parse_encodings
from circuits.prediction_record import Prediction
from circuits.tasks import load
from empirical.verdict.rules import answers
from lengthgen import progress
from lengthgen.predicting import prediction_answer
from lengthgen.tables.circuits import prediction_table
from tests.circuits.small_random_tasks import OWN_LETTER


@pytest.fixture(scope="module")
def parity() -> Analysis:
    return analyse(load("parity"), "aligned", 6)


def test_every_encoding_has_an_answer_that_json_holds(parity):
    answer = prediction_answer(parity, parse_encodings(",".join(ENCODINGS)), [1, 2], range(1, 7))
    assert (answer["format"], answer["mode"], answer["test"]) == ("aligned", "free", [1, 2, 3, 4, 5, 6])
    assert list(answer["predictions"]) == list(ENCODINGS)
    for text, prediction in json.loads(json.dumps(answer, allow_nan=False))["predictions"].items():
        own_token = prediction.pop("own_token")
        assert (own_token is None) == (prediction["relation"] is None)
        assert Prediction.from_json(prediction).encoding == text


def test_the_table_tells_the_conjecture_from_our_rule_and_shows_what_is_not_predicted(parity):
    encodings = parse_encodings("ipe,nope,clipped[limit=20],random-rope[longest=64]")
    answer = prediction_answer(parity, encodings, [1], range(1, 7))
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(prediction_table(answer))
    lines = console.export_text().splitlines()
    rows = {cells[0]: cells[1:] for line in lines if (cells := line.split()) and cells[0] in answer["predictions"]}
    assert lines[0].rstrip() == "parity, aligned, free wiring: trained on 1-1, tested on 1-6"
    # One operator at scale 1 and at every scale, but not all of its entries at scale 1.
    assert " ".join(rows["ipe"][:7]) == "ideal 1 -> 1 2 -> 2"
    assert rows["ipe"][7:] == ["no", "2", "yes", "no", "no", "no", "no"]
    assert " ".join(rows["nope"][:4]) == "constant 1 -> inf"
    assert rows["nope"][7:] == ["no", "2", "no", "no", "no", "no", "no"]
    assert rows["random-rope[longest=64]"] == ["-"] * 10
    notes = [line for line in lines if line.startswith("random-rope[longest=64]: ")]
    assert len(notes) == 1 and "anew for each batch" in notes[0]


@pytest.mark.parametrize(("form", "notes"), [("aligned", 1), ("unaligned", 0), ("filled", 0)])
def test_padding_is_said_to_end_where_there_is_any(form, notes):
    answer = prediction_answer(analyse(load("parity"), form, 4), parse_encodings("rpe"), [1, 2], range(1, 5))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(prediction_table(answer))
    lines = [line for line in console.export_text().splitlines() if line.startswith("padding: ")]
    assert len(lines) == notes and all("at scale 4 (--test 1-8 pads further)" in line for line in lines)


def test_the_table_says_which_steps_cannot_select_their_operator():
    analysis = analyse(load("permutation", base=2), "aligned", 5)
    answer = prediction_answer(analysis, parse_encodings("ipe-sh,rpe"), [1, 2, 3], range(1, 6))
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(prediction_table(answer))
    lines = console.export_text().splitlines()
    rows = {cells[0]: cells[1:] for line in lines if (cells := line.split()) and cells[0] in answer["predictions"]}
    assert " ".join(rows["rpe"]) == "relative 2 -> 2 1 -> 1 yes - yes no no no no"
    assert rows["ipe-sh"][-7:] == ["yes", "-", "yes", "yes", "yes", "yes", "yes"]
    [note] = [line for line in lines if line.startswith("rpe, selecting: ")]
    assert note.rstrip() == (
        "rpe, selecting: at scale 2 it cannot select the operator: position 10 of scale 2 and position 9 of scale 1 "
        "show equal views and need different tokens"
    )


def test_the_table_says_that_the_own_token_replaces_a_hint():
    answer = prediction_answer(
        analyse(load("select-first"), "unaligned", 6), parse_encodings("lbpe,lbpe-sh"), [1, 2, 3], range(1, 7)
    )
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(prediction_table(answer))
    lines = console.export_text().splitlines()
    rows = {cells[0]: cells[1:] for line in lines if (cells := line.split()) and cells[0] in answer["predictions"]}
    assert rows["lbpe"][-7:] == ["no", "2", "no", "no", "yes", "no", "no"]
    assert [line.rstrip() for line in lines if "with token: operators" in line] == [
        "lbpe, with token: operators: 2 at every scale; training meets every label and entry in use"
    ]


def test_the_own_token_serves_every_encoding_where_it_decides_the_step(run) -> None:
    """After a the state is 1 and after b it is 0; the rule answers as the verdict on random languages does."""
    scales = ("--format", "unaligned", "--train", "1-3", "--test", "1-8")
    code, out, _ = run("predict", str(OWN_LETTER), *scales, "--encoding", "rpe,ape,nope", "--json")
    assert code == 0
    guesses = answers(OWN_LETTER, ("rpe", "ape", "nope"), range(1, 4), range(1, 9))
    for encoding, prediction in json.loads(out)["predictions"].items():
        assert not prediction["distractors"]["generalizes"]
        assert prediction["own_token"] == {"generalizes": True, "breaks_at": None}
        assert guesses[encoding]["own-token"].breaks_at is None
    code, out, _ = run("predict", "parity", "--encoding", "rpe,ape", "--train", "1-3", "--test", "1-6", "--json")
    assert code == 0
    of_parity = {encoding: prediction["own_token"] for encoding, prediction in json.loads(out)["predictions"].items()}
    assert of_parity == {encoding: {"generalizes": False, "breaks_at": 4} for encoding in ("rpe", "ape")}


def test_an_ideal_relation_that_does_not_exist_is_no_row():
    with pytest.raises(HintNeeded, match="changes at scale 2"):
        prediction_answer(analyse(load("parity"), "unaligned", 3), parse_encodings("rpe,ipe"), [1], [1, 2, 3])


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
from circuits.task import Task

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
