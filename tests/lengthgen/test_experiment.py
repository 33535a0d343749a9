"""An experiment: its predictions by mode, what it warns of before it trains, and the name of its folder."""

import re

import pytest

from circuits.encodings import parse_encoding
from circuits.modes import Mode
from empirical.model.backend import CPU
from empirical.runs.profile import ProfileError
from empirical.runs.protocol import load_protocol
from empirical.trial.statistics import ALPHA, holm, tail
from lengthgen import experiment
from lengthgen.experiment import Experiment, stored_predictions, sweep_all, task_experiment, too_few_seeds
from tests.paper_figs.made_up import PROTOCOL, protocol_file


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
    monkeypatch.setattr(experiment, "MODE_STEPS", 0)
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
    monkeypatch.setattr(experiment, "train_all", lambda *arguments, **options: print("training begins"))
    protocol = load_protocol(str(protocol_file(folder, text)), "smoke")
    sweep_all(Experiment(protocol=protocol, out=folder / "out"), CPU, "local")


def test_seeds_that_cannot_decide_any_cell_are_reported_before_training(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch)  # 5 seeds of 6 cells
    out, err = capsys.readouterr()
    assert out == "training begins\n"
    assert (
        "5 runs a cell can decide none of 6 cells, unless at most 1 of them has a run that fits: 7 that agree (seeds "
        "= 7) decide one whatever the others do; the 2x2 table counts every cell anyway\n"
    ) in err


def test_seeds_that_can_decide_a_cell_are_not_warned_of(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch, PROTOCOL.replace("seeds = 5", "seeds = 7"))
    assert "can decide" not in capsys.readouterr().err


def test_cells_without_a_prediction_are_not_counted(tmp_path, monkeypatch, capsys):
    sweep(tmp_path, monkeypatch, PROTOCOL.replace('"ipe", "rpe", "ape"', '"random-ape", "rpe"'))
    assert "5 runs a cell can decide none of 2 cells, unless at most 1" in capsys.readouterr().err


@pytest.mark.parametrize("seeds", range(1, 13))
def test_too_few_seeds_are_those_with_which_holm_decides_nothing(seeds):
    def decided(cells):
        return min(holm([tail(seeds, seeds)] * cells)) <= ALPHA

    for cells in range(1, 80):
        warning = too_few_seeds(seeds, cells)
        assert (warning is None) == decided(cells)
        if warning is None:
            continue
        match = re.search(r"unless at most (\d+) of them", warning)
        most = int(match[1]) if match else 0
        assert not decided(most + 1) and (most == 0 or decided(most))
        needed = int(re.search(r"seeds = (\d+)", warning)[1])
        for others in ([0.0] * (cells - 1), [tail(needed, needed)] * (cells - 1), [1.0] * (cells - 1)):
            assert holm([*others, tail(needed, needed)])[-1] <= ALPHA


@pytest.mark.parametrize("name", ["runs", "figures", "tensorboard", "fig1"])
def test_a_task_of_ones_own_whose_name_the_results_have_for_something_else_is_refused(name, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(f"from circuits.tasks import load\n{name} = load('copy')\n", encoding="utf-8")
    pairs = [("aligned", parse_encoding("ipe"))]
    with pytest.raises(ProfileError, match=f"task '.*mine.py:{name}'.* is taken"):
        task_experiment(f"{file}:{name}", pairs, base=None, train="1-2", test="1-4", profile="smoke", out=tmp_path)
