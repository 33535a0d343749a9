"""The summary of `reproduce`: the verdicts on four cells, and what was found in five lines."""

import pytest

from empirical.trial.trial import as_json
from lengthgen.tables.summary import decisions, found_lines
from tests.empirical.conftest import smoke_run
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNFIT, YES, evidence, histories


@pytest.fixture
def trial():
    """Trial with three decided and two undecided predictions."""
    run = smoke_run()
    cells = [
        evidence(histories(run, {SOLVES: 6}), YES, "parity/aligned/ipe"),
        evidence(histories(run, {FAILS: 9}), YES, "parity/aligned/rpe"),
        evidence(histories(run, {FAILS: 6, UNFIT: 1}), NO, "parity/aligned/ape"),
        evidence(histories(run, {FAILS: 6}), NO, "parity/filled/ape"),
        evidence(histories(run, {SOLVES: 1, FAILS: 1}), YES, "parity/filled/rpe"),
        evidence(histories(run, {FAILS: 6}), None, "parity/filled/rope"),
    ]
    return as_json(cells, MAIN, "abc")


def test_four_cells_say_what_was_predicted_seen_and_decided(trial):
    lines = [line.plain for line in decisions(trial)]
    assert lines == [
        "Decided: 4 of 5 predictions, frozen as abc",
        "  parity aligned ipe: predicted yes, seen 6 of 6, e-value 45, consistent",
        "  parity aligned rpe: predicted yes, seen 0 of 9, e-value 326, refuted",
        "  parity aligned ape: predicted no, seen 0 of 6, e-value 45, consistent",
        "  parity filled rpe: predicted yes, seen 1 of 2, e-value -, undecided (power)",
    ]


def test_five_lines_say_what_was_found(trial):
    claims = [
        {"verdict": "verified", "holds": True, "falsifiers": [{"rejected": True}]},
        {"verdict": "corrected", "holds": True, "falsifiers": [{"rejected": True}]},
        {"verdict": "refuted", "holds": False, "falsifiers": [{"rejected": False}]},
    ]
    answers = {
        "claims": {"claims": claims},
        "lrc": [{"name": "window", "generalizes": True}, {"name": "decay", "generalizes": False}],
        "src": [{"src": {"1": 1, "6": 1}}, {"src": {"1": 1, "6": 4}}, {"src": {"1": 1, "6": None}}],
        "conjecture": trial,
    }
    assert found_lines(answers) == [
        "Papers: 2 of 3 claims hold (1 as corrected here), 1 refuted, 0 unsettled; 2 of 3 falsifiers rejected",
        "Patterns: some position encoding makes window generalize from scale 4 to 8, and none decay",
        "Tasks: one operator serves every scale up to 6 for 1 of 3 tasks; the others need more",
        "Runs: of 5 predictions, 3 consistent with the runs, 1 refuted (parity aligned rpe), 1 undecided for want of "
        "runs (parity filled rpe)",
    ]
    theories = {"theories": {"a": "supported", "b": "refuted", "c": "undecided"}}
    assert found_lines(answers | theories)[4:] == [
        "Theories, by published results: supported a; refuted b; 3 were judged"
    ]
