"""Recorded trials are found, read as they are, and never taken for whole if they are damaged."""

import json
from pathlib import Path

import pytest

from lengthgen.empirical.trial.record import read_record
from lengthgen.empirical.trial.recorded import recorded_trials
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.files import DamagedFile, write_sealed_json
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, YES, evidence, histories

RECORDS = Path(__file__).parents[3] / "docs" / "results"


@pytest.fixture
def stored(small_run, tmp_path):
    run = small_run()
    cells = [
        evidence(histories(run, {SOLVES: 6}), YES, "a/f/ipe"),
        evidence(histories(run, {FAILS: 6}), NO, "a/f/ape"),
        evidence(histories(run, {SOLVES: 6, FAILS: 7}), None, "a/f/rpe"),
        evidence(histories(run, {SOLVES: 6}), YES, "a/f/ipe", size="large"),
    ]
    (tmp_path / "one").mkdir()
    write_sealed_json(tmp_path / "one" / "conjecture.json", as_json(cells, MAIN))
    return tmp_path


def test_cells_have_their_counts_and_evidence_for_their_prediction(stored):
    trials = recorded_trials(stored)
    first, second, third = trials["one"]
    assert [(cell.encoding, cell.predicted, cell.generalize, cell.fit) for cell in (first, second, third)] == [
        ("ipe", True, 6, 6), ("ape", False, 0, 6), ("rpe", None, 6, 13),
    ]  # fmt: skip
    assert first.evidence == second.evidence and first.evidence.above > 20 and third.evidence is None
    assert first.near_half == second.near_half and first.near_half.above < first.evidence.above
    assert first.name == "one: a/f/ipe/small" and first.asked == ("a", "f", "ipe")


@pytest.mark.parametrize("damage", [lambda content: content.pop("cells"), lambda content: content["main"].clear()])
def test_a_file_that_is_no_trial_is_named(stored, damage):
    path = stored / "one" / "conjecture.json"
    content = json.loads(path.read_text())
    damage(content)
    path.write_text(json.dumps(content))
    with pytest.raises(DamagedFile, match=r"conjecture\.json holds no trial"):
        recorded_trials(stored)


def test_records_of_runs_are_read_as_the_rules_of_today_judge_them():
    """The cells of one record of the project, at any depth below the folder."""
    [*cells] = recorded_trials(RECORDS / "verdict")["parity"]
    judged = read_record(RECORDS / "verdict" / "parity").judged()
    assert [(cell.encoding, cell.predicted, cell.generalize, cell.fit) for cell in cells] == [
        (each.key.encoding, each.predicted, each.outcome.generalize, each.outcome.fit) for each in judged
    ]
    by_key = {cell.asked: cell for cell in cells}
    padded = by_key["parity", "aligned", "rpe"]
    assert (padded.generalize, padded.fit) == (0, 10) and padded.evidence.below > 600 and padded.evidence.above < 1
