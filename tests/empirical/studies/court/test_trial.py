"""The judgement as a whole: what is frozen, what is apart, and what is named."""

import pytest

from lengthgen.empirical.studies.court.cells import Cell
from lengthgen.empirical.studies.court.trial import Frozen, freeze, judge
from lengthgen.empirical.studies.theories.rival import Theory
from tests.empirical.studies.court.examples import cell, right, theory

CELLS = [
    cell(right(), task="a"),
    cell(right(0.0), task="b", expressible=False),
    cell({10: 0.0, 20: 0.0, 30: 0.0}, task="c"),
]
ALWAYS, NEVER = theory("src", lambda _: 0.9), theory("never", lambda _: 0.1)


def frozen(theories: list[Theory], cells: list[Cell]) -> Frozen:
    """Answers of theories to the questions of cells."""
    return freeze(theories, {of_cell.name: of_cell.question for of_cell in cells})


def test_the_hash_is_of_predictions_and_not_of_outcomes() -> None:
    theories = [ALWAYS, NEVER]
    other = [cell(right(0.3), task="a"), *CELLS[1:]]
    digests = {judge(cells, theories, frozen(theories, cells))["frozen"] for cells in (CELLS, other)}
    assert len(digests) == 1
    changed = [ALWAYS, theory("never", lambda _: 0.2)]
    assert frozen(changed, CELLS).digest not in digests


def test_cells_that_did_not_fit_are_apart() -> None:
    answer = judge(CELLS, [ALWAYS], frozen([ALWAYS], CELLS))
    assert answer["did_not_fit"] == ["set/c/rope/10-30"]
    row = answer["theories"]["src"]
    assert row["answered"] == 2
    assert (row["right_yes"], row["wrong_yes"]) == (1, 1)
    assert len(answer["cells"]) == 3


def test_disagreements_name_both_sides() -> None:
    theories = [ALWAYS, NEVER, theory("silent", lambda _: None)]
    answer = judge(CELLS, theories, frozen(theories, CELLS))
    assert answer["disagreements"] == [
        {"cell": "set/a/rope/10-30", "observed": True, "yes": ["src"], "no": ["never"]},
        {"cell": "set/b/rope/10-30", "observed": False, "yes": ["src"], "no": ["never"]},
    ]
    assert answer["cells"][0]["guesses"]["never"]["reason"] == "as never says"


def test_a_task_that_is_not_expressible_is_named_with_its_reason() -> None:
    assert judge(CELLS, [ALWAYS], frozen([ALWAYS], CELLS))["not_expressible"] == {"b": "a test"}


def test_without_a_fitting_run_nothing_is_scored() -> None:
    answer = judge(CELLS[2:], [ALWAYS], frozen([ALWAYS], CELLS[2:]))
    assert answer["theories"]["src"]["verdict"] == "undecided"
    assert answer["pairs"] == []


def test_every_two_theories_are_compared_once() -> None:
    theories = [ALWAYS, NEVER, theory("half", lambda _: 0.5)]
    pairs = judge(CELLS, theories, frozen(theories, CELLS))["pairs"]
    assert [(pair["first"], pair["second"]) for pair in pairs] == [("src", "never"), ("src", "half"), ("never", "half")]
    assert pairs[0]["value"] == pytest.approx(((0.01 + 0.81) - (0.81 + 0.01)) / 2)
