"""Outcomes of cells: what fits, what generalizes, and where it breaks."""

from tests.empirical.studies.court.examples import cell, right


def test_a_run_that_does_not_fit_is_neither_a_success_nor_a_failure() -> None:
    result = cell({10: 0.5, 20: 1.0, 30: 1.0}, right(), right(0.2)).outcome(0.9)
    assert (result.fit, result.generalize) == (2, 1)
    assert result.observed is None
    assert result.share == 0.5


def test_every_measured_length_up_to_the_test_must_be_solved() -> None:
    dip = {10: 1.0, 20: 0.5, 30: 1.0}
    beyond = {10: 1.0, 20: 1.0, 30: 1.0, 40: 0.0}
    assert cell(dip).outcome(0.9).generalize == 0
    assert cell(dip).outcome(0.5).generalize == 1
    assert cell(beyond).outcome(0.9).generalize == 1


def test_without_a_length_of_training_every_run_counts_as_fitting() -> None:
    unmeasured = cell({20: 0.0, 30: 0.0}, {20: 1.0, 30: 1.0})
    assert not unmeasured.measures_training
    assert cell(right()).measures_training
    assert unmeasured.outcome(0.9).fit == 2
