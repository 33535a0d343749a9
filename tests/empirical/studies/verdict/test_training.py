"""Models of different tasks trained together: each ends as it would alone, and is tested as registered."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.stopping import EarlyStopping
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.studies.verdict import rerun as rerun_module
from lengthgen.empirical.studies.verdict import training
from lengthgen.empirical.studies.verdict.preregistration import Preregistration
from lengthgen.empirical.studies.verdict.rerun import judged, of_all, rerun
from lengthgen.empirical.studies.verdict.runs import run_from, run_of, train_piece
from lengthgen.empirical.studies.verdict.training import exact_match_by_scale, train_models
from tests.empirical.model.steps import step_on
from tests.empirical.studies.verdict.made_up import frozen, frozen_cell, preregistration, unreported
from tests.pool_here import pool_here

TASKS = ("random-local-invariant-1[base=2]", "random-reversed-invariant-2[base=2]", "random-strided-rises3-3[base=2]")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def planned(encoding: str, registered: Preregistration | None = None) -> tuple[list[Run], list[Setup]]:
    runs = [run_of(registered or preregistration(), frozen_cell(task, encoding), 0) for task in TASKS]
    return runs, [Setup.of(run, "cpu") for run in runs]


@pytest.mark.parametrize("encoding", ["ipe-sh", "alibi", "offset-ape", "nope"])
def test_models_of_different_tasks_train_as_alone(encoding: str) -> None:
    runs, setups = planned(encoding)
    together = Ensemble(runs, setups, CPU)
    alone = [Ensemble([run], setup, CPU) for run, setup in zip(runs, setups, strict=True)]
    if encoding == "ipe-sh":
        assert len({setup.geometry.count for setup in setups}) > 1, "tables of different sizes are the case to test"
    for step in range(3):
        rows = torch.arange(8 * step, 8 * (step + 1))[None]
        first = runs[0].training.samples * torch.arange(len(runs))[:, None]
        losses = step_on(together, rows + first, step)
        expected = torch.cat([step_on(ensemble, rows, step) for ensemble in alone])
        assert torch.allclose(losses, expected, rtol=1e-5, atol=1e-6)
    for model, ensemble in enumerate(alone):
        weights = together.weights(model)
        for name, expected in ensemble.weights(0).items():
            shape = tuple(map(slice, expected.shape))
            assert torch.allclose(weights[name][shape], expected, rtol=1e-4, atol=1e-5), name
            padding = weights[name].clone()
            padding[shape] = 0
            assert not padding.any(), "rows that no pair uses stay zero"


def test_sequences_of_different_lengths_are_not_trained_together() -> None:
    runs, setups = planned("nope")
    longer = replace(runs[1], test=(1, 2, 3, 4, 5))
    with pytest.raises(ValueError, match="equal lengths"):
        Ensemble([runs[0], longer], [setups[0], Setup.of(longer, "cpu")], CPU)


def assert_as_alone(runs: list[Run], setups: list[Setup], registered: Preregistration) -> None:
    together, ended = train_models(runs, setups, registered.check)
    shares = exact_match_by_scale(together, registered.testing)
    for model, (run, setup) in enumerate(zip(runs, setups, strict=True)):
        alone, alone_ended = train_models([run], [setup], registered.check)
        assert (alone_ended.ended, alone_ended.in_a_row) == ([ended.ended[model]], [ended.in_a_row[model]])
        assert np.allclose(
            exact_match_by_scale(alone, registered.testing), shares[model], equal_nan=True, atol=0.07
        )  # one of 16


def test_results_are_those_of_each_run_alone() -> None:
    registered = preregistration(training=replace(preregistration().training, steps=30, batch=16))
    runs, setups = planned("ipe-sh", registered)
    assert_as_alone(runs, setups, registered)


@pytest.mark.parametrize("encoding", ["rpe", "random-ape[longest=40]"])
def test_models_go_on_as_before_when_half_of_the_others_have_ended(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    registered = preregistration(training=replace(preregistration().training, steps=12))
    runs, setups = planned(encoding, registered)
    sizes: list[int] = []

    def solved(_: EarlyStopping, ensemble: Ensemble) -> np.ndarray:
        sizes.append(len(ensemble.runs))
        return np.array([str(run.task).partition("[")[0] != TASKS[2].partition("[")[0] for run in ensemble.runs])

    monkeypatch.setattr(EarlyStopping, "_solved", solved)
    alone, ended = train_models(runs, setups, registered.check)
    assert ended.ended == [4, 4, 12] and sizes == [3, 3, 1, 1, 1, 1]
    with monkeypatch.context() as patched:
        patched.setattr(training, "_only", lambda *_: None)
        together, ended_together = train_models(runs, setups, registered.check)
    assert sizes[6:] == [3] * 6 and ended_together.ended == ended.ended
    assert ended.losses == pytest.approx(ended_together.losses, rel=1e-5)
    for model in range(len(runs)):
        for name, weights in together.weights(model).items():
            if not name.endswith("qkv.bias"):  # AdamW enlarges what is rounded, and key biases have no other gradient
                assert torch.allclose(alone.weights(model)[name], weights, rtol=1e-3, atol=1e-5), name


def test_models_whose_samples_end_early_train_together_and_as_alone() -> None:
    """Each run draws samples of its own, which end at other places and may all be short."""
    registered = preregistration(training=replace(preregistration().training, steps=30, batch=16))
    cells = [frozen_cell(f"random-early-invariant-{number}[base=2]", "rpe") for number in (1, 2)]
    runs = [run_of(registered, cell, index) for cell in cells for index in (0, 1)]
    setups = [Setup.of(run, "cpu") for run in runs]
    assert_as_alone(runs, setups, registered)


def test_models_stay_together_if_the_tables_of_those_that_go_on_are_smaller() -> None:
    runs, setups = planned("ipe-sh")
    counts = [setup.geometry.count for setup in setups]
    largest = counts.index(max(counts))
    assert min(counts) < max(counts)
    ensemble = Ensemble(runs, setups, CPU)
    assert training._only(ensemble, [largest]) is not None
    assert training._only(ensemble, [counts.index(min(counts))]) is None


def test_scales_after_failed_ones_are_not_tested_and_near_ones_are_tested_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered = preregistration(
        testing=replace(preregistration().testing, failures=2), check=replace(preregistration().check, threshold=1.0)
    )
    runs, setups = planned("nope", registered)
    shares = {1: [1.0, 1.0, 1.0], 2: [1.0, 0.5, 0.97], 3: [1.0, 0.5, 1.0], 4: [1.0, 0.0, 0.92]}
    calls: list[tuple[int, int]] = []

    def exact_match(_: Ensemble, scale: int, samples: int) -> np.ndarray:
        calls.append((scale, samples))
        return np.array(shares[scale]) - 0.01 * (samples == registered.testing.samples_near)

    monkeypatch.setattr(training, "exact_match", exact_match)
    again = exact_match_by_scale(Ensemble(runs, setups, CPU), registered.testing)
    assert np.isnan(again[1]).tolist() == [False, False, False, True]
    assert again[[0, 2]].tolist() == [[1.0] * 4, [1.0, 0.96, 1.0, pytest.approx(0.91)]]
    first, near = registered.testing.samples, registered.testing.samples_near
    assert calls == [*((scale, first) for scale in (1, 2, 3, 4)), (2, near), (4, near)]


def test_a_run_ends_by_its_own_samples_and_not_by_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = preregistration(training=replace(preregistration().training, steps=12))
    runs, setups = planned("nope", registered)
    answers = iter([[True, False, True], [True, True, False], [False, True, True], [True]])
    monkeypatch.setattr(EarlyStopping, "_solved", lambda *_: np.array(next(answers)))
    _, ended = train_models(runs, setups, registered.check)
    assert (ended.ended, ended.in_a_row) == ([4, 6, 8], [2, 2, 2])
    assert next(answers, None) is None, "training ends with the last of them"


def test_a_cell_that_is_trained_again_agrees_and_a_changed_outcome_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerun_module, "pool", pool_here)
    registered = preregistration()
    cells = frozen([frozen_cell(TASKS[0], "nope"), frozen_cell(TASKS[0], "alibi")])
    runs = {}
    for cell in cells.cells:
        [row] = train_piece(registered, [(cell, 0)])
        runs[cell.name] = [run_from(row)]
    draw = of_all(cells, runs, [], count=5, seed=0)
    answer = rerun(cells, runs, draw, workers=1, progress=unreported)
    assert answer["same"]["first_failure"] == answer["same"]["fit"] == answer["same"]["numbers"] == answer["cells"] == 2
    assert answer["same"]["answers"] == 0, "made-up answers are not those of the rules"
    name = cells.cells[0].name
    changed = replace(runs[name][0], exact_match=np.ones(4))
    assert changed.first_failure(registered) != runs[name][0].first_failure(registered)
    answer = rerun(cells, runs | {name: [changed]}, draw, workers=1, progress=unreported)
    [differs] = answer["differ"]
    first = runs[name][0].first_failure(registered)
    assert differs == {
        "cell": name,
        "index": 0,
        "stored": registered.test[1] + 1,
        "again": first,
        "share": [1.0, pytest.approx(runs[name][0].exact_match[first - 1], abs=1e-4)],
    }
    assert answer["same"]["first_failure"] == 1
    assert answer["answered_otherwise"] == sorted(cell.name for cell in cells.cells)


def test_other_numbers_are_a_failure_only_where_they_were_trained_and_other_answers_everywhere() -> None:
    here = {"machine": "x86_64, Ours", "versions": {"torch": "2"}, "revision": "b"}
    theirs = here | {"machine": "x86_64, Theirs", "revision": "a"}
    same = {"answers": 3, "fit": 3, "first_failure": 3, "numbers": 3}
    agreeing = {"cells": 3, "same": same, "differ": [], "answered_otherwise": []}
    assert judged(agreeing, theirs, here) == judged(agreeing, {}, here) == {"agrees": True, "why": None}
    digits = agreeing | {"same": same | {"numbers": 1}}
    failing = digits | {"differ": [{"cell": "task/aligned/rope", "stored": 5, "again": 6, "share": [0.94, 0.96]}]}
    for answer, trained, agrees in (
        (digits, here, True),
        (digits, theirs, True),
        (failing, theirs, True),
        (failing, here | {"versions": {"torch": "1"}}, True),
        (failing, here | {"revision": "a"}, False),
        (failing, {}, False),
    ):
        assert judged(answer, trained, here)["agrees"] is agrees
    assert judged(failing, theirs, here)["why"] == (
        "other numbers in 2 of 3 cells, another first failure in 1 of 3 (task/aligned/rope); the stored runs were "
        "trained on x86_64, Theirs with torch 2, at revision a, and this is x86_64, Ours with torch 2: other "
        "processors and versions round otherwise"
    )
    for count, agrees in ((6, True), (7, False), (50, False)):
        differ = [{"cell": f"cell {n}", "stored": 5, "again": 6, "share": [0.94, 0.96]} for n in range(count)]
        ended = judged(digits | {"cells": 50, "differ": differ}, theirs, here)
        assert ended["agrees"] is agrees
        assert ended["why"].endswith("otherwise" if agrees else ", but seldom change more than 5% of first failures")
    forged = digits | {"differ": [{"cell": "task/aligned/rope", "stored": 21, "again": 9, "share": [1.0, 0.4]}]}
    ended = judged(forged, theirs, here)
    assert not ended["agrees"], "no processor rounds so"
    assert ended["why"].endswith("more than rounding does: task/aligned/rope at scale 9: stored 1.000, again 0.400")
    answered = judged(agreeing | {"answered_otherwise": ["a/b/c"]}, theirs, here)
    assert not answered["agrees"] and answered["why"].startswith(
        "the rules answer otherwise than was frozen in 1 of 3 (a/b/c), and answers are exact"
    )
