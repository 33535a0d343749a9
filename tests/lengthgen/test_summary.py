"""The summary of `reproduce` ends with the verdicts on four cells, in five lines."""

from empirical.trial.trial import as_json
from lengthgen.tables.summary import decisions
from tests.empirical.conftest import smoke_run
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNFIT, YES, evidence, histories


def test_the_last_lines_say_what_was_predicted_seen_and_decided():
    run = smoke_run()
    cells = [
        evidence(histories(run, {SOLVES: 6}), YES, "parity/aligned/ipe"),
        evidence(histories(run, {FAILS: 9}), YES, "parity/aligned/rpe"),
        evidence(histories(run, {FAILS: 6, UNFIT: 1}), NO, "parity/aligned/ape"),
        evidence(histories(run, {FAILS: 6}), NO, "parity/filled/ape"),
        evidence(histories(run, {SOLVES: 1, FAILS: 1}), YES, "parity/filled/rpe"),
        evidence(histories(run, {FAILS: 6}), None, "parity/filled/rope"),
    ]
    lines = [line.plain for line in decisions(as_json(cells, MAIN, "abc"))]
    assert lines == [
        "Decided: 4 of 5 predictions, frozen as abc",
        "  parity aligned ipe: predicted yes, seen 6 of 6, e-value 45, consistent",
        "  parity aligned rpe: predicted yes, seen 0 of 9, e-value 326, refuted",
        "  parity aligned ape: predicted no, seen 0 of 6, e-value 45, consistent",
        "  parity filled rpe: predicted yes, seen 1 of 2, e-value -, undecided (power)",
    ]
