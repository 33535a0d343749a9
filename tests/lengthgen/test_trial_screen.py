"""The first screen of a trial: a line a cell, two sentences and a command, in 25 lines of 100 columns."""

import io
import json
import os
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from lengthgen.empirical.trial.trial import as_json
from lengthgen.questions.trial_tables import Sparkline, beside_baselines, forecast_text, found, trial_screen
from lengthgen.terminal.layout import LINES, WIDEST
from tests.empirical.conftest import smoke_run
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNFIT, YES, evidence, histories

FOLDER = Path("out/fig1")
FORECAST = {"share": 0.123, "low": 0.03, "high": 0.3, "breaks_at": 3, "recorded": {"runs": 3, "generalize": 0}}


def trial_of(*cells):
    run = smoke_run()
    return json.loads(
        json.dumps(as_json([evidence(histories(run, *spec[:1]), *spec[1:]) for spec in cells], MAIN, "abc"))
    )


@pytest.fixture(scope="module")
def trial():
    """Trial with a cell of every verdict."""
    return trial_of(
        ({SOLVES: 6}, YES, "my_task.py:mine/aligned/ipe"),
        ({FAILS: 9}, YES, "my_task.py:mine/aligned/rpe"),
        ({FAILS: 6, UNFIT: 1}, NO, "my_task.py:mine/aligned/ape"),
        ({SOLVES: 6, FAILS: 7}, YES, "my_task.py:mine/filled/rpe"),
        ({SOLVES: 2}, YES, "my_task.py:mine/filled/rope"),
        ({UNFIT: 3}, YES, "my_task.py:mine/filled/alibi"),
        ({FAILS: 6}, None, "my_task.py:mine/unaligned/rotary"),
    )


def lines(renderable, width=140, **options):
    console = Console(width=width, file=io.StringIO(), **options)
    console.print(renderable)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_cell_is_a_line(trial):
    trial["cells"][0]["forecast"] = FORECAST
    shown = lines(trial_screen(trial, FOLDER))
    assert [" ".join(line.split()) for line in shown[4:11]] == [
        "ipe padded 0.12 (0.03-0.30) 6 of 6 ████ agrees",
        "rpe padded - 0 of 9 ███ refuted",
        "ape padded - 0 of 6 ███ agrees",
        "rpe filled - 6 of 13 ███ mixed",
        f"rope filled - 2 of 2 ████ undecided: about {trial['cells'][4]['likely_runs']['runs']} more",
        "alibi filled - 0 of 0 █▄██ not learnt",
        "rotary as written - 0 of 6 ███ no prediction",
    ]
    assert shown[0] == "mine: trained on scales 1-2, tested to 4"
    assert any(line.startswith("forecast: ") for line in shown)


def test_a_forecast_has_its_interval():
    assert forecast_text(FORECAST) == "0.12 (0.03-0.30)"
    assert forecast_text(None) == "-"


def test_two_sentences_say_what_was_found(trial):
    assert found(trial) == (
        "Encodings in use: 1 of 2; ideal: 1 of 1; together 2 of 3 decided cells did as predicted; "
        "not so: rpe on padded operands (0 of 9 fitting runs generalize). "
        "Open: 1 undecided for want of runs, 1 mixed (some runs generalize, others do not), 1 learnt by no run."
    )
    assert found(trial_of(({SOLVES: 6}, YES))) == ("1 of 1 decided cell (encodings in use) did as predicted.")
    ideal = trial_of(({SOLVES: 6}, YES, "t/f/ipe-sh"), ({SOLVES: 6}, YES, "t/f/ipe"))
    assert found(ideal) == "2 of 2 decided cells (ideal encodings) did as predicted."
    assert found(trial_of(({SOLVES: 2}, YES))) == "No cell is decided: 1 undecided for want of runs."
    assert found(trial_of(({SOLVES: 6}, None))) == "No cell has a prediction."


def test_the_screen_says_how_often_baselines_are_right(trial):
    assert beside_baselines(trial) == [
        "right (in use, ideal, all): always-no 3 of 3, 0 of 1, 3 of 4; rate 3 of 3, 1 of 1, 4 of 4; "
        "rate with SRC 3 of 3, 1 of 1, 4 of 4"
    ]


def test_several_tasks_are_named_above_their_cells():
    trial = trial_of(*(({FAILS: 9}, YES, f"{task}/{format}/rpe") for task in ("copy", "parity") for format in FORMATS))
    shown = [" ".join(line.split()) for line in lines(trial_screen(trial, FOLDER))]
    assert shown[0] == "fig1, 2 tasks: trained on scales 1-2, tested to 4"
    assert [line.partition(" -")[0] for line in shown[4:10]] == [
        "copy", "rpe padded", "rpe as written", "parity", "rpe padded", "rpe as written",
    ]  # fmt: skip
    assert "rpe on padded copy (0 of 9 fitting runs generalize), rpe on copy as written (0" in " ".join(shown)
    assert "1 more." in " ".join(shown)


FORMATS = ("aligned", "unaligned")


@pytest.fixture(scope="module")
def large():
    many = [({SOLVES: 9}, YES, f"task{number // 4}/aligned/e{number}") for number in range(40)]
    return trial_of(*many, ({FAILS: 14}, YES, "last/filled/rpe"))


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_large_trial_keeps_to_one_screen_and_what_is_refuted(width, large):
    shown = lines(trial_screen(large, FOLDER), width)
    assert len(shown) <= LINES and max(map(len, shown)) <= min(width, WIDEST)
    assert any("rpe" in line and "refuted" in line for line in shown)
    left = next(line for line in shown if line.startswith("and "))
    assert int(left.split()[1]) + sum("agrees" in line or "refuted" in line for line in shown) == 41


def test_a_sparkline_has_a_character_a_scale_where_there_is_room():
    curve = [(scale, value) for scale, value in enumerate((1, 0.95, 0.949, 0.5, 0.01, 0, float("nan")), start=1)]
    line = Sparkline(curve, threshold=0.95)
    assert lines(line)[0] == "██▇▄▁"
    assert lines(Sparkline([(n, n <= 10) for n in range(1, 21)], threshold=0.95), 10)[0] == "█████"
    console = Console(width=140, file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    console.print(line)
    console.file.flush()
    assert console.file.buffer.getvalue().decode().rstrip() == "##%=."


def test_conjecture_ends_with_a_command_that_draws_it(run, mine, trained_here):
    mine(
        "from lengthgen import Task",
        "bits = ('0', '1')",
        "mine = Task(name='mine', alphabet=bits, prompt=lambda n: [bits] * n, generate=lambda prompt: [prompt[-1]])",
    )
    options = ("--format", "unaligned", "--train", "1-2", "--test", "1-4", "--profile", "smoke", "--seeds", "1")
    command = ("conjecture", "mine.py:mine", "--encoding", "rpe,nope", *options, "--out", "of mine")
    code, screen, err = run(*command)
    assert code == 0, err
    assert len(screen.splitlines()) <= LINES and "rules differ" not in screen
    draw = shlex.split(" ".join(screen.partition("to draw it: ")[2].split()))
    code, _, err = run(*draw[1:])
    assert code == 0, err
    assert "accuracy-mine.pdf" in os.listdir("of mine/mine/figures")
    code, all_of_it, _ = run(*command, "--details")
    assert all_of_it.startswith(screen) and "varied" in all_of_it and "mine.py:" not in all_of_it.partition("rule")[0]
    stored = json.loads(run(*command, "--json")[1])
    assert [scale for scale, _ in stored["cells"][0]["curve"]] == [1, 2, 3, 4]
