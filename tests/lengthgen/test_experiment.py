"""Predictions of an experiment: which modes have one, and what is said of those that have none."""

from circuits.modes import Mode
from empirical.protocol import load_protocol
from lengthgen import experiment
from lengthgen.experiment import Experiment, stored_predictions
from tests.paper_figs.made_up import protocol_file


def predictions(folder):
    protocol = load_protocol(str(protocol_file(folder)), "smoke")
    return stored_predictions(Experiment(protocol=protocol, out=folder / "out"))


def test_every_mode_of_a_task_with_a_reference_circuit_has_a_prediction(tmp_path, capsys):
    found = predictions(tmp_path)
    assert len(found) == 6 and all(by_mode.keys() == {*Mode} for by_mode in found.values())
    lacking = {(cell.encoding, mode) for cell, by_mode in found.items() for mode in by_mode if by_mode[mode] is None}
    assert lacking == {("ipe", Mode.DECLARED), ("ipe", Mode.TYPED)}, "roles that need a scale hint"
    assert "left out" not in capsys.readouterr().err


def test_a_mode_that_takes_too_many_steps_is_left_out_and_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(experiment, "MODE_STEPS", 0)
    for by_mode in predictions(tmp_path).values():
        assert by_mode[Mode.FREE] is not None and by_mode[Mode.DECLARED] is None and by_mode[Mode.TYPED] is None
    said = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert len(said) == 4, "two tasks, two modes"
    assert (
        "predictions of mode typed are left out: task 'copy" in said[1] and "the limit of 0 steps is reached" in said[1]
    )
