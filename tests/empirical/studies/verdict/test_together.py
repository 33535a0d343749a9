"""The family of all e-values: every question is in it once, in both directions, and hears its answer."""

import pytest

from lengthgen.empirical.experiment.judge import e_bh
from lengthgen.empirical.studies.verdict.together import together
from lengthgen.empirical.trial.recorded import recorded_trials
from lengthgen.empirical.trial.trial import as_json
from lengthgen.infrastructure.files import write_sealed_json
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, outcomes
from tests.empirical.trial.trials import FAILS, MAIN, NO, SOLVES, YES, evidence, histories

NO_ANSWER = (0.1, 3)


@pytest.fixture(params=[3, 60])
def answer(request, small_run, tmp_path):
    """Tasks that `coverage` alone predicts; a trial with a clear cell, two bare ones and an open one."""
    cells = frozen(
        [
            frozen_cell(f"task {number}", name=NO_ANSWER, coverage=(0.9, None), others=NO_ANSWER)
            for number in range(request.param)
        ]
    )
    runs = outcomes(cells, {cell.name: [None] * 3 for cell in cells.cells})
    run = small_run()
    trial = [
        evidence(histories(run, {FAILS: 30}), YES, "a/f/ipe"),
        evidence(histories(run, {SOLVES: 6}), YES, "b/f/ipe"),
        evidence(histories(run, {FAILS: 6}), NO, "c/f/ipe"),
        evidence(histories(run, {SOLVES: 67, FAILS: 41}), YES, "d/f/ipe"),
    ]
    (tmp_path / "mine").mkdir()
    write_sealed_json(tmp_path / "mine" / "conjecture.json", as_json(trial, MAIN))
    return together({"random-tasks": (cells, runs)}, tmp_path), recorded_trials(tmp_path)


def test_every_question_is_in_the_family_once_and_hears_its_answer(answer):
    together_told, trials = answer
    [experiment] = together_told["experiments"].values()
    registered = [pair for pair in experiment["pairs"] if pair["part"] == "judgement"]
    others = [each for each in experiment["fair"] if not each["registered"]]
    cells = [cell.evidence for cell in trials["mine"]]
    values = [each[key] for each in registered + others for key in ("against_first", "against_second")]
    rejected = e_bh([*values, *(value for each in cells for value in (each.above, each.below))])
    assert together_told["hypotheses"] == len(rejected) and together_told["rejected"] == sum(rejected) > 0
    for at, each in enumerate(registered + others):
        worse = rejected[2 * at], rejected[2 * at + 1]
        expected = "undecided" if worse[0] == worse[1] else (each["first"], each["second"])[worse[0]]
        assert each["better_over_all"] == expected
    assert {each["better_over_all"] for each in experiment["fair"]} <= {"coverage", "always-no", "rate", "undecided"}


@pytest.mark.parametrize("answer", [3], indirect=True)
def test_what_a_trial_decides_may_not_survive(answer):
    trials = answer[0]["trials"]
    assert trials["tested"] == 4 and trials["own"] == {"consistent": 2, "refuted": 1}
    assert trials["over_all"]["refuted"] == 1 and trials["survive"] == ["mine: a/f/ipe/small"]
    assert trials["over_all"]["consistent"] == 0, "six runs that agree are enough for the trial alone"


def test_what_the_mean_of_both_processes_would_change_is_named(answer):
    changed = {each["cell"]: (each["present"], each["mean"]) for each in answer[0]["trials"]["near_half"]}
    assert changed == {
        "mine: b/f/ipe/small": ("consistent", "undecided"), "mine: c/f/ipe/small": ("consistent", "undecided"),
    }  # fmt: skip
