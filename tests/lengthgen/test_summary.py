"""The summary of `reproduce`: the screen of its trial, and what was found in a line each."""

import pytest
from rich.console import Console

from lengthgen.empirical.trial.trial import as_json
from lengthgen.reproduce import found_lines, summary
from tests.empirical.conftest import smoke_run
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNFIT, YES, evidence, histories

CLAIMS = [
    {"verdict": "verified", "holds": True, "falsifiers": [{"rejected": True}]},
    {"verdict": "corrected", "holds": True, "falsifiers": [{"rejected": True}]},
    {"verdict": "refuted", "holds": False, "falsifiers": [{"rejected": False}]},
]
WINDOW, SRC = {"name": "window", "generalizes": True}, {"src": {"1": 1, "6": 1}}
ANSWERS = {
    "claims": {"claims": CLAIMS},
    "lrc": [WINDOW, {"name": "decay", "generalizes": False}],
    "src": [SRC, {"src": {"1": 1, "6": 4}}, {"src": {"1": 1, "6": None}}],
}


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


def test_the_screen_of_the_trial_stands_in_the_summary(trial, tmp_path):
    answers = ANSWERS | {"conjecture": trial, "src": [SRC | {"task": "parity"}]}
    answers |= {
        "lrc": [WINDOW | {"lrc": {"4": 1}}],
        "figures": {"missing": {}, "drawn": [], "recorded": {}},
        "report": {"page": "p"},
    }
    console = Console(width=140)
    with console.capture() as capture:
        console.print(summary(answers, tmp_path))
    text = " ".join(capture.get().split())
    assert "3 of 4 decided cells did as predicted; not so: rpe on padded operands (0 of 9 fitting" in text
    assert f"lengthgen figures --trial {tmp_path / 'fig1'}" in text


def test_a_line_each_says_what_was_found():
    assert found_lines(ANSWERS) == [
        "Papers: 2 of 3 claims hold (1 as corrected here), 1 refuted, 0 unsettled; 2 of 3 falsifiers rejected",
        "Patterns: some position encoding makes window generalize from scale 4 to 8, and none decay",
        "Tasks: one operator serves every scale up to 6 for 1 of 3 tasks; the others need more",
    ]
    theories = {"theories": {"a": "supported", "b": "refuted", "c": "undecided"}}
    assert found_lines(ANSWERS | theories)[3:] == [
        "Theories, by published results: supported a; refuted b; 3 were judged"
    ]
