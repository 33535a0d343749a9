"""Recorded trials are found, read as they are, and never taken for whole if they are damaged."""

import json

import pytest

from lengthgen.empirical.trial.recorded import recorded_trials
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.files import DamagedFile, write_sealed_json
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, YES, evidence, histories


@pytest.fixture
def stored(small_run, tmp_path):
    run = small_run()
    cells = [
        evidence(histories(run, {SOLVES: 6}), YES, "a/f/ipe"),
        evidence(histories(run, {FAILS: 6}), NO, "a/f/ape"),
        evidence(histories(run, {SOLVES: 6, FAILS: 7}), None, "a/f/rpe"),
        evidence(histories(run, {SOLVES: 6}), YES, "a/f/ipe", size="large"),
    ]
    for folder in ("one", "record/two"):
        (tmp_path / folder).mkdir(parents=True)
        write_sealed_json(tmp_path / folder / "conjecture.json", as_json(cells, MAIN))
    return tmp_path


def test_cells_have_their_counts_and_evidence_for_their_prediction(stored):
    trials = recorded_trials(stored)
    assert [*trials] == ["one", "record/two"]
    first, second, third = trials["record/two"]
    assert [(cell.encoding, cell.predicted, cell.generalize, cell.fit) for cell in (first, second, third)] == [
        ("ipe", True, 6, 6), ("ape", False, 0, 6), ("rpe", None, 6, 13),
    ]  # fmt: skip
    assert first.evidence == second.evidence and first.evidence.above > 20 and third.evidence is None
    assert first.near_half == second.near_half and first.near_half.above < first.evidence.above
    assert first.name == "record/two: a/f/ipe/small" and first.asked == ("a", "f", "ipe")


@pytest.mark.parametrize("damage", [lambda content: content.pop("cells"), lambda content: content["main"].clear()])
def test_a_file_that_is_no_trial_is_named(stored, damage):
    path = stored / "one" / "conjecture.json"
    content = json.loads(path.read_text())
    damage(content)
    path.write_text(json.dumps(content))
    with pytest.raises(DamagedFile, match=r"conjecture\.json holds no trial"):
        recorded_trials(stored)
