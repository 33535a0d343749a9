"""The whole trial as data: complete, consistent with its parts, and JSON."""

import json
from dataclasses import replace
from math import inf

import pytest

from lengthgen.circuits.prediction_record import RULES, VARIANTS, VariantPrediction
from lengthgen.empirical.trial.trial import as_json
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, UNCOVERED, UNFIT, YES, evidence, histories


@pytest.fixture
def cell_evidence(small_run):
    run = small_run()
    cells = {
        "a/f/ipe": (YES, {SOLVES: 9}),
        "b/f/ipe": (YES, {FAILS: 9}),
        "a/f/ape": (NO, {FAILS: 9}),
        "b/f/ape": (UNCOVERED, {FAILS: 9}),
        "a/f/nope": (NO, {UNFIT: 9}),
        "a/f/fire": (None, {SOLVES: 9}),
    }
    large = evidence(histories(run, {FAILS: 9}), YES, "a/f/ipe", size="large")
    small = [evidence(histories(run, counts), prediction, name) for name, (prediction, counts) in cells.items()]
    return [large, *small]


@pytest.fixture
def trial(cell_evidence):
    return as_json(cell_evidence, MAIN)


def test_it_is_json(trial):
    text = json.dumps(trial, allow_nan=False, sort_keys=True)
    assert json.loads(text)["cells"][0]["prediction"]["complexity_train"] == 1


def test_both_rules_stand_side_by_side(trial):
    coverage, literal = trial["rules"]["coverage"], trial["rules"]["literal"]
    assert coverage["table"] == {
        "yes_yes": 1, "yes_no": 1, "no_yes": 0, "no_no": 2, "not_observed": 1, "no_prediction": 1,
    }  # fmt: skip
    assert literal["table"] == {
        "yes_yes": 1, "yes_no": 2, "no_yes": 0, "no_no": 1, "not_observed": 1, "no_prediction": 1,
    }  # fmt: skip
    assert coverage["misclassified"] == coverage["refuted_by"] == ["b/f/ipe/small"]
    assert literal["misclassified"] == literal["refuted_by"] == ["b/f/ipe/small", "b/f/ape/small"]
    unmade = dict.fromkeys((*VARIANTS, "forecast"))
    assert trial["rules_differ"] == [
        {"cell": "b/f/ape/small", "observed": False, "coverage": False, "literal": True, **unmade}
    ]
    assert all(trial["rules"][rule]["table"]["no_prediction"] == 6 for rule in unmade)
    # Hypergeometric: of four observed cells one says yes; it is among the two, or three, predicted yes.
    assert (coverage["fisher_p"], literal["fisher_p"]) == pytest.approx((1 / 2, 3 / 4))


def test_the_cells_of_the_main_size_come_first_and_no_table_holds_others(trial):
    assert [cell["size"] for cell in trial["cells"]] == ["small"] * 6 + ["large"]
    assert [cell["verdict"] for cell in trial["cells"]] == [
        "consistent", "refuted", "consistent", "consistent", "not learnt", "no prediction", "refuted",
    ]  # fmt: skip
    assert trial["unanimous_runs"] == 5


def test_disagreements_and_cells_not_learnt_are_looked_into(trial):
    looked_into = [
        (cell["disagrees_with"], [finding["kind"] for finding in cell["diagnosis"]]) for cell in trial["cells"]
    ]
    assert looked_into == [
        ([], []),
        (["coverage", "literal"], ["unexplained"]),
        ([], []),
        (["literal"], ["unexplained"]),
        ([], ["not fitted"]),
        ([], []),
        (["coverage", "literal"], ["unexplained"]),
    ]


def test_the_published_choice_of_checkpoint_stands_beside_and_decides_nothing(small_run):
    lost = [(run, [replace(row, epoch=1, exact_match=1) for row in kept] + [replace(row, epoch=2) for row in kept])
            for run, kept in histories(small_run(), {FAILS: 5})]  # fmt: skip
    [cell] = as_json([evidence(lost, YES)], MAIN)["cells"]
    assert cell["verdict"] == "refuted"
    assert cell["generalizes"]["successes"] == 0
    assert cell["best_on_test"]["generalizes"]["successes"] == 5


def test_runs_under_other_predictions_are_reported(cell_evidence):
    late = replace(cell_evidence[1], predicted_before_training=False)
    predicted_before = {
        cell["encoding"]: cell["predicted_before_training"] for cell in as_json([late, cell_evidence[3]], MAIN)["cells"]
    }
    assert predicted_before == {"ipe": False, "ape": True}


@pytest.mark.parametrize("right", VARIANTS)
def test_each_variant_is_judged_as_a_rule_of_its_own(right, small_run):
    """A cell fails that is predicted to generalize, but not by one variant: that rule alone is right."""
    fails = VariantPrediction(complexity_train=1, complexity_test=inf, breaks_at=3, why="")
    generalizes = replace(fails, complexity_test=1, breaks_at=None)
    prediction = replace(YES, **(dict.fromkeys(VARIANTS, generalizes) | {right: fails}))
    cell = evidence(histories(small_run(), {FAILS: 9}), prediction, "a/f/rpe")
    trial = as_json([cell], MAIN)
    rules = {*RULES} - {"forecast"}  # which is not asked for here
    counts = {rule: trial["rules"][rule]["table"] for rule in rules}
    wrong = {rule for rule in rules if counts[rule]["yes_no"]}
    assert wrong == rules - {right} == {*trial["cells"][0]["disagrees_with"]}
    assert counts[right]["no_no"] == 1
    answers = {"forecast": None} | {rule: rule != right for rule in rules}
    assert trial["rules_differ"] == [{"cell": "a/f/rpe/small", "observed": False, **answers}]
