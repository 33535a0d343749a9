"""An experiment: its predictions by mode, what it warns of before it trains, and the name of its folder."""

import re
from pathlib import Path

import pytest

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.circuits.search.wirings import Mode
from lengthgen.empirical.experiment import cost
from lengthgen.empirical.experiment.protocol import load_protocol
from lengthgen.empirical.model.backend import CPU
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.infrastructure.settings import ProfileError
from lengthgen.questions import rounds
from lengthgen.questions.experiment import (
    Experiment,
    TaskOptions,
    frozen_predictions,
    stored_predictions,
    task_experiment,
)
from lengthgen.questions.rounds import UntilDecided, announce_replacement, run_conjecture, sweep_all
from lengthgen.terminal.typed import BudgetError, parse_budget
from tests.paper_figs.made_up import PROTOCOL, fill, protocol_file

SMALL = TaskOptions(train=(1, 2), test=range(1, 5))


def predictions(folder):
    protocol = load_protocol(str(protocol_file(folder)), "smoke")
    return stored_predictions(Experiment(protocol=protocol, out=folder / "out"))


def test_every_mode_of_a_task_with_a_reference_circuit_has_a_prediction(tmp_path, capsys):
    predicted = predictions(tmp_path)
    assert len(predicted) == 6 and all(by_mode.keys() == {*Mode} for by_mode in predicted.values())
    lacking = {
        (cell.encoding, mode) for cell, by_mode in predicted.items() for mode in by_mode if by_mode[mode] is None
    }
    assert lacking == {("ipe", Mode.DECLARED), ("ipe", Mode.TYPED)}, "roles that need a scale hint"
    assert "left out" not in capsys.readouterr().err


def test_a_mode_that_takes_too_many_steps_is_left_out_with_a_message(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("lengthgen.questions.experiment.MODE_STEPS", 0)
    for by_mode in predictions(tmp_path).values():
        assert by_mode[Mode.FREE] is not None and by_mode[Mode.DECLARED] is None and by_mode[Mode.TYPED] is None
    lines = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert len(lines) == 4, "two tasks, two modes"
    assert (
        "predictions of mode typed are left out: task 'copy" in lines[1]
        and "the limit of 0 steps is reached" in lines[1]
    )


def sweep(folder, monkeypatch, text=PROTOCOL):
    """Predict a protocol, and go on to where its runs would be trained."""
    monkeypatch.setattr(rounds, "train_all", lambda *arguments, **options: print("training begins"))
    protocol = load_protocol(str(protocol_file(folder, text)), "smoke")
    sweep_all(Experiment(protocol=protocol, out=folder / "out"), CPU, "local")


def test_seeds_that_cannot_decide_any_cell_are_reported_before_training(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch, PROTOCOL.replace("seeds = 5", "seeds = 4"))
    out, err = capsys.readouterr()
    assert out == "training begins\n"
    assert (
        "4 runs a cell decide nothing: 5 fitting runs that agree decide a cell if all 6 cells are like it, and 8 "
        "whatever the others do; the 2x2 table counts every cell with 3 fitting runs anyway\n"
    ) in err


def test_runs_and_their_cost_are_said_before_training(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch)
    first_line = (
        r"^30 runs to train, 5 of each cell: about \d+\.\d core-minutes \(\d+\.\d on \d+ cores\), by a few timed"
    )
    assert re.search(first_line, capsys.readouterr().err, re.MULTILINE)


def test_a_cost_that_cannot_be_estimated_does_not_stop_the_training(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise LengthgenError("no such thing")

    monkeypatch.setattr(cost, "seconds_of_runs", fail)
    sweep(tmp_path, monkeypatch)
    out, err = capsys.readouterr()
    assert "30 runs to train, 5 of each cell\n" in err and out == "training begins\n"


def test_seeds_that_can_decide_a_cell_are_not_warned_of(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch)
    assert "decide nothing" not in capsys.readouterr().err


def test_cells_that_no_rule_answers_have_a_forecast_and_count(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch, PROTOCOL.replace('"ipe", "rpe", "ape"', '"random-ape", "rpe"').replace("= 5", "= 4"))
    assert "decide a cell if all 4 cells are like it" in capsys.readouterr().err


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Function that runs two cells with made-up outcomes by index; returns the new runs by cell, and the trial.

    An outcome is True for a run that generalizes, False for one that fits alone, None for one that does not fit.
    """

    def judged(outcomes, *, seconds=1e6, most=30):
        protocol = load_protocol(
            str(protocol_file(tmp_path, PROTOCOL.replace('"rpe", ', "").replace('"copy", ', ""))), "smoke"
        )
        trained = {}

        def train_all(runs, store, **options):
            for run in runs:
                if not store.finished(run):
                    cell = trained.setdefault(run.encoding, [])
                    solved = outcomes[run.encoding](len(cell))
                    cell.append(run)
                    fill(
                        store,
                        run,
                        lambda run, epoch, scale, solved=solved: (
                            1.0 if solved or (solved is False and scale <= 2) else 0.0
                        ),
                    )

        monkeypatch.setattr(rounds, "train_all", train_all)
        until = UntilDecided(seconds=seconds, most=most)
        trial = run_conjecture(Experiment(protocol=protocol, out=tmp_path / "out"), CPU, until_decided=until)
        return {name: len(runs) for name, runs in trained.items()}, trial

    return judged


def test_only_undecided_cells_get_more_runs_until_they_are_decided(world, capsys):
    counts, trial = world({"ipe": lambda index: index != 0, "ape": lambda index: False})
    assert counts == {"ipe": 13, "ape": 9}, "while a cell is undecided, the other needs more than alone"
    assert [cell["verdict"] for cell in trial["cells"]] == ["consistent"] * 2
    assert "with --until-decided" not in capsys.readouterr().err, "it is there already"
    again, trial_again = world({"ipe": lambda index: False, "ape": lambda index: False})
    assert again == {} and trial_again == trial, "added runs are judged again, and nothing is trained"


def test_rounds_end_with_the_largest_number_of_runs_and_with_the_budget(world, capsys):
    counts, trial = world({"ipe": lambda index: bool(index % 2), "ape": lambda index: False}, most=11)
    assert counts == {"ipe": 11, "ape": 9}
    assert trial["cells"][0]["verdict"] == "mixed"
    counts, _ = world({"ipe": lambda index: bool(index % 2), "ape": lambda index: False}, seconds=1e-9)
    assert counts == {} and "the budget ends with 1 open cell (1 mixed): run the same" in capsys.readouterr().err


def test_the_open_cells_are_counted_as_in_the_table(world, capsys):
    """A mixed cell gets more runs too, and one that no run fits is given up after six."""
    _, trial = world({"ipe": lambda index: bool(index % 2), "ape": lambda index: None}, most=11)
    assert {cell["encoding"]: cell["verdict"] for cell in trial["cells"]} == {"ipe": "mixed", "ape": "not learnt"}
    lines = [line for line in capsys.readouterr().err.splitlines() if " open cell" in line]
    assert lines == [
        "8 more runs for 2 open cells (1 undecided; 1 not learnt)",
        "2 more runs for 1 open cell (1 mixed; 1 not learnt, of which 1 given up)",
    ]


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1.5h", 5400)])
def test_budgets(text, seconds):
    assert parse_budget(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "2", "h", "-1h", "0s", "1e3s", "2 h", "2H", "inf", "nanh", "9999999999h", "800h", "٣h"]
)
def test_what_is_no_budget_is_refused_in_one_line(text):
    with pytest.raises(BudgetError, match=r"^budget '.*': write a number and a unit, such as 90s, 30m or 2h"):
        parse_budget(text)


@pytest.mark.parametrize("name", ["runs", "figures", "tensorboard", "fig1"])
def test_a_task_of_ones_own_whose_name_the_results_have_for_something_else_is_refused(name, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(f"from lengthgen.circuits.tasks import load\n{name} = load('copy')\n", encoding="utf-8")
    pairs = [("aligned", parse_encoding("ipe"))]
    with pytest.raises(ProfileError, match=f"task '.*mine.py:{name}'.* is taken"):
        task_experiment(f"{file}:{name}", pairs, SMALL, profile="smoke", out=tmp_path)


def test_tasks_of_one_name_in_two_files_do_not_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiments = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my.py").write_text("from lengthgen.circuits.tasks import load\nmine = load('copy')\n")
        pairs = [("aligned", parse_encoding("rpe"))]
        for task in (f"{folder}/my.py:mine", f"{tmp_path}/{folder}/my.py:mine"):
            experiments.append(task_experiment(task, pairs, SMALL, profile="smoke", out=Path("out")))
    first, first_again, second, _ = experiments
    frozen_predictions(first)
    before = {path.name: path.read_bytes() for path in first.folder.iterdir()}
    line = (
        r"^out/mine holds the results of 'a/my.py:mine', and 'b/my.py:mine' has the same name: give another --out, or "
    )
    with pytest.raises(ProfileError, match=line):
        frozen_predictions(second)
    assert before == {path.name: path.read_bytes() for path in first.folder.iterdir()}
    frozen_predictions(first_again)  # the same file by another path
    (tmp_path / "a" / "my.py").unlink()
    frozen_predictions(second)


def test_a_trial_of_other_cells_is_not_replaced_in_silence(tmp_path, capsys):
    path = tmp_path / "conjecture.json"
    announce_replacement(path, "a")
    write_sealed_json(path, {"frozen": "a"})
    announce_replacement(path, "a")
    assert not capsys.readouterr().err
    announce_replacement(path, "b")
    line = capsys.readouterr().err
    assert line.startswith(f"{path} holds a trial of other cells or predictions, and is replaced") and "--out" in line
    path.write_text("{", encoding="utf-8")
    announce_replacement(path, "b")
    assert not capsys.readouterr().err
