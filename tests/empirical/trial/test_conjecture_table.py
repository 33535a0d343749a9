"""The trial on the screen: every cell and every number that a reader needs is there, and no line is cut."""

import json

import pytest
from rich.console import Console

from lengthgen.empirical.trial.trial import as_json
from lengthgen.questions.trial_tables import conjecture_table, sensitivity_table
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNCOVERED, UNFIT, YES, evidence, histories


def rendered(renderable):
    """Return a table as text; of a trial what stands below its table of baselines, which has the rules' names too."""
    console = Console(width=140)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().partition("Cells: runs")[2] or capture.get()


def trial_of(*evidences):
    return json.loads(json.dumps(as_json(evidences, MAIN)))


@pytest.fixture
def cells(small_run):
    run = small_run()
    return [
        evidence(histories(run, {SOLVES: 9}), YES, "parity/aligned/ipe"),
        evidence(histories(run, {FAILS: 9}), UNCOVERED, "parity/aligned/rpe"),
        evidence(histories(run, {UNFIT: 9}), NO, "parity/aligned/ape"),
        evidence(histories(run, {SOLVES: 1, FAILS: 8}), None, "multiplication/unaligned/rotary"),
    ]


def line(text, start):
    """Return the rest of the one line that begins with `start`."""
    [matching_line] = [line.strip() for line in text.splitlines() if line.strip().startswith(start)]
    return " ".join(matching_line.removeprefix(start).split())


def test_each_cell_has_its_line(cells):
    text = rendered(conjecture_table(trial_of(*cells)))
    assert line(text, "parity aligned ipe ") == "yes yes 9/9 9/9 0.66-1.00 consistent 326 yy? - - 9/9"
    assert line(text, "parity aligned rpe  ") == "no yes 9/9 0/9 0.00-0.34 consistent 326 ?nn 4 3 0/9"
    assert line(text, "parity aligned ape  ") == "no no 0/9 0/0 0.00-1.00 not learnt - ??? - - 0/9"
    assert line(text, "multiplication unaligned rotary ") == "- - 9/9 1/9 0.00-0.48 no prediction - ??n - - 1/9"


def test_both_rules_and_what_they_miss_stand_below(cells):
    text = rendered(conjecture_table(trial_of(*cells)))
    assert line(text, "coverage ").startswith("1 0 0 1 100% 0.500 ")
    assert line(text, "literal  ").startswith("1 1 0 0 50% 1.000 ")
    assert "literal: misses parity/aligned/rpe/small" in text
    assert "literal: refuted by parity/aligned/rpe/small" in text
    assert "the rules differ on parity/aligned/rpe/small: coverage no, literal yes, observed no" in text
    assert line(text, "forecast ").startswith("0 0 0 0 - 1.000 ")
    assert "selection, selection-with-token, distractors, distractors-with-token, own-token: as forecast" in text
    assert "parity aligned rpe (observed no): unexplained" in text
    assert "parity aligned ape (observed -): not fitted: exact match 0.75" in text
    assert "nothing tests" not in text


def test_a_trial_that_cannot_test_the_iff_says_so(cells):
    assert "so the 'iff' is not tested" in rendered(conjecture_table(trial_of(cells[0])))


def test_sizes_are_named_where_there_are_several(cells, small_run):
    large = evidence(histories(small_run(), {SOLVES: 9}), YES, "parity/aligned/ipe", size="large")
    text = rendered(conjecture_table(trial_of(*cells, large)))
    assert line(text, "parity aligned ipe large ").startswith("yes yes ")


def test_sensitivity_names_the_cells_that_change(small_run):
    near = evidence(histories(small_run(), {(1, 1, 0.92, 0.92): 9}), YES, "parity/aligned/ipe", declared=NO)
    text = rendered(sensitivity_table(trial_of(near)))
    assert line(text, "threshold 0.9  ") == "1 0 0 0 100% 100% 1"
    assert (
        line(text, "threshold 0.9: observed no -> yes, verdict refuted -> consistent: ") == "parity/aligned/ipe/small"
    )
    assert line(text, "mode declared: predicted yes -> no, ").endswith(": parity/aligned/ipe/small")
    assert "threshold 1.0" in line(text, "no cell changes: ")


def test_p_values_that_cannot_be_small_are_left_out(cells):
    text = rendered(conjecture_table(trial_of(*cells)))
    assert line(text, "literal  ") == "1 1 0 0 50% 1.000 - - -"


def test_an_open_cell_says_how_many_runs_it_probably_needs(small_run):
    text = rendered(conjecture_table(trial_of(evidence(histories(small_run(), {SOLVES: 19, FAILS: 9}), YES))))
    assert line(text, "t f e: ") == (
        "about 76 more runs, if its shares stay as they are (67% of the fitting runs); at least 9, if they agree; "
        "e-value by the mixture near"
    )


def test_rules_and_baselines_are_told_by_kind_of_encoding(cells):
    console = Console(width=140)
    with console.capture() as capture:
        console.print(conjecture_table(trial_of(*cells)))
    before = capture.get().partition("Cells: runs")[0]
    assert line(before, "literal ") == "0 of 1 0.810 1 of 1 0.010 1 of 2 0.410"
    assert line(before, "always-no ") == "1 of 1 0.010 0 of 1 0.810 1 of 2 0.410"
