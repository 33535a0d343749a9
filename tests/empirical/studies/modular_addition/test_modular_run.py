"""Runs of modular addition: predictions first, results sealed, outcomes told apart."""

import json
from dataclasses import replace

import pytest

from lengthgen.empirical.experiment import sweep
from lengthgen.empirical.experiment.protocol import Model
from lengthgen.empirical.experiment.sweep import train_sealed
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.studies.modular_addition.conditions import CONDITIONS, ConditionError, load_profile
from lengthgen.empirical.studies.modular_addition.modular_run import ModularRun, best_fit, is_fitted, outcomes
from lengthgen.infrastructure.files import DamagedFile, seal
from lengthgen.infrastructure.settings import ProfileError
from tests.pool_here import pool_here

PROFILE = load_profile("smoke")


@pytest.fixture
def trained_in_this_process(monkeypatch):
    monkeypatch.setattr(sweep, "pool", pool_here)


def run_of(condition="described-shift", encoding=None, **changes):
    return ModularRun(
        condition_name=condition, profile_name="smoke", profile=replace(PROFILE, **changes), encoding=encoding
    )


def test_predictions_are_stored_before_training_and_kept_with_the_result(tmp_path, trained_in_this_process):
    run = run_of()
    predictions = run.predictions(tmp_path)
    stored = run.path(tmp_path).with_suffix(".predictions.json")
    before = stored.read_bytes()
    assert not run.path(tmp_path).exists()
    assert train_sealed([run], tmp_path, CPU, lambda run: None) == []
    result = run.result(tmp_path)
    assert stored.read_bytes() == before
    assert (result["predictions"], result["predictions_sha256"]) == (predictions, seal(predictions))
    assert [row["evaluation"] for row in predictions["evaluations"]] == list(result["measured"]["accuracy"])
    assert all(len(shares) == 2 for shares in result["measured"]["accuracy"].values())


def test_changed_predictions_are_refused_and_training_does_not_begin(tmp_path, trained_in_this_process):
    run = run_of()
    run.predictions(tmp_path)
    stored = run.path(tmp_path).with_suffix(".predictions.json")
    content = json.loads(stored.read_text())
    content["evaluations"][0]["holds"] = not content["evaluations"][0]["holds"]
    stored.write_text(json.dumps(content))
    [failure] = train_sealed([run], tmp_path, CPU, lambda run: None)
    assert "is not as it was written" in failure and "\n" not in failure
    assert run.result(tmp_path) is None
    with pytest.raises(DamagedFile):
        run.predictions(tmp_path)


def test_whatever_the_numbers_depend_on_names_the_file(tmp_path):
    runs = [run_of(), run_of("described-words"), run_of(encoding="rope"), run_of(seeds=(1,))]
    assert len({run.path(tmp_path) for run in runs}) == len(runs)
    assert runs[2].name == "described-shift with rope"
    assert runs[2].condition == replace(CONDITIONS["described-shift"], encoding="rope")
    assert run_of(encoding="RoPE").config == runs[2].config


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (("shifted",), ConditionError, "unknown condition 'shifted'"),
        (("described-shift", "fox"), ConditionError, "'fox' is not used in an encoder"),
    ],
)
def test_what_cannot_be_trained_is_refused_when_the_run_is_named(arguments, error, says):
    with pytest.raises(error, match=says):
        run_of(*arguments)
    with pytest.raises(ProfileError, match="'rope' needs an even head width"):
        run_of("rope", model=Model(width=6, layers=1, heads=2))


def result_with(run, accuracy, *, trained=(1.0, 1.0), reference=(1.0, 1.0), holds=True, expression=True):
    prediction = {
        "evaluation": "B at 2", "holds": holds, "holds_in_expression": expression, "unseen": 0,
        "unseen_in_expression": 0, "why": "",
    }  # fmt: skip
    measured = {"trained": trained, "reference": reference, "accuracy": {"B at 2": list(accuracy)}}
    return {"predictions": {"evaluations": [prediction]}, "measured": measured}


@pytest.mark.parametrize(
    ("accuracy", "options", "observed", "agree", "in_expression"),
    [
        ((0.8, 0.9), {}, "holds", True, True),
        ((0.79, 0.1), {}, "breaks", False, False),
        ((0.79, 0.8), {}, "mixed", None, None),
        ((0.5, 0.6), {"reference": (0.6, 0.7)}, "holds", True, True),
        ((0.1, 0.1), {"trained": (1.0, 0.89)}, "not fitted", None, None),
        ((0.1, 0.1), {"holds": False}, "breaks", True, False),
        ((0.9, 0.9), {"holds": False}, "holds", False, True),
    ],
)
def test_outcomes(accuracy, options, observed, agree, in_expression):
    run = run_of()
    [row] = outcomes(run, result_with(run, accuracy, **options))
    assert (row.observed, row.agree, row.agree_in_expression) == (observed, agree, in_expression)


def test_a_model_that_sees_no_order_fits_as_well_as_bags_allow():
    run = run_of("nope", modulus=97, length=60)
    best = best_fit(run, 42)
    assert 0.36 < best < 0.6  # half of the pairs collide less than all, 36.7 %
    assert is_fitted(run, result_with(run, (1, 1), trained=(0.9 * best + 0.01, 0.6)))
    assert not is_fitted(run, result_with(run, (1, 1), trained=(0.9 * best - 0.01, 0.6)))
    assert best_fit(run_of(), 42) == 1
