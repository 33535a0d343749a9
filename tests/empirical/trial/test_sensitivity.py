"""Sensitivity to one choice at a time, on evidence whose answer to each choice is known."""

import pytest

from lengthgen.empirical.trial.trial import sensitivity
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNCOVERED, YES, evidence, histories, rows


@pytest.fixture
def entries(small_run):
    run = small_run()
    early = [*rows(SOLVES, epoch=1), *rows((1, 1, 0.92, 0.92), epoch=2)]
    evidences = [
        evidence([(run, early)] * 9, YES, "fades/f/e", declared=NO),
        evidence(histories(run, {SOLVES: 9}), YES, "solid/f/e", declared=YES),
        evidence(histories(run, {FAILS: 9}), UNCOVERED, "uncovered/f/e"),
        evidence(histories(run, {FAILS: 9}), YES, "solid/f/e", size="large"),
        evidence(histories(run, {FAILS: 9}), YES, "only/f/e", size="large"),
    ]
    return {(entry["varied"], _value(entry)): entry for entry in sensitivity(evidences, MAIN)}


def _value(entry):
    return entry["setting"][entry["varied"]] if entry["varied"] else None


def changes(entry):
    """cell -> part -> (in the main setting, here), for the parts that differ."""
    return {
        change["cell"]: {
            part: (main_value, change["here"][part])
            for part, main_value in change["main"].items()
            if main_value != change["here"][part]
        }
        for change in entry["changed"]
    }


def test_every_choice_is_varied_alone(entries):
    assert list(entries) == [
        (None, None),
        ("threshold", 0.9), ("threshold", 0.99), ("threshold", 1.0),
        ("checkpoint", "best_on_training"), ("checkpoint", "best_on_test"),
        ("mode", "declared"),
        ("size", "large"),
    ]  # fmt: skip
    main = entries[None, None]["setting"]
    for (varied, _), entry in entries.items():
        assert {key for key in main if entry["setting"][key] != main[key]} == ({varied} if varied else set())


def test_the_main_setting_stands_first_and_changes_nothing(entries):
    main = entries[None, None]
    assert main["changed"] == []
    coverage, literal = main["rules"]["coverage"], main["rules"]["literal"]
    assert (coverage["table"]["yes_yes"], coverage["table"]["yes_no"], coverage["table"]["no_no"]) == (1, 1, 1)
    assert (literal["table"]["yes_yes"], literal["table"]["yes_no"], literal["table"]["no_no"]) == (1, 2, 0)
    assert (coverage["agreement"], literal["agreement"]) == pytest.approx((2 / 3, 1 / 3))


def test_the_cells_that_change_are_named_with_both_answers(entries):
    turned = {"fades/f/e/small": {"observed": (False, True), "verdict": ("refuted", "consistent")}}
    assert changes(entries["threshold", 0.9]) == turned
    assert changes(entries["threshold", 0.99]) == {}
    assert changes(entries["checkpoint", "best_on_test"]) == turned
    assert changes(entries["checkpoint", "best_on_training"]) == {}, "both checkpoints tie, the latest is judged"


def test_a_mode_changes_predictions_and_may_have_none(entries):
    assert changes(entries["mode", "declared"]) == {
        "fades/f/e/small": {"predicted": (True, False), "verdict": ("refuted", "consistent")},
        "uncovered/f/e/small": {"predicted": (False, None), "verdict": ("consistent", "no prediction")},
    }
    assert entries["mode", "declared"]["rules"]["coverage"]["table"]["no_prediction"] == 1


def test_another_size_is_compared_cell_by_cell_where_the_main_size_has_it(entries):
    assert changes(entries["size", "large"]) == {
        "solid/f/e/large": {"observed": (True, False), "verdict": ("consistent", "refuted")}
    }
    assert entries["size", "large"]["rules"]["coverage"]["table"]["yes_no"] == 2
