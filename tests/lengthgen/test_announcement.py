"""A trial that would take another's place says so before it trains."""

from pathlib import Path

import pytest

from lengthgen.infrastructure.files import write_sealed_json
from lengthgen.questions.rounds import announce_replacement


def test_a_trial_of_other_cells_is_not_replaced_in_silence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
