"""The 2x2 table and its tests, against closed forms, scipy, and slow rearrangements by name."""

from dataclasses import replace
from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import permutation_test

from lengthgen.empirical.trial import association as module
from lengthgen.empirical.trial.association import association, cluster_permutation_test, misclassified, table
from lengthgen.empirical.trial.conjecture import CellKey, judge
from tests.empirical.trial.trials import FAILS, MAIN, SOLVES, YES, evidence, histories


@pytest.fixture
def cell_of(small_run):
    """(task, format, encoding), predicted, observed -> a cell."""
    run = small_run()
    runs = {True: {SOLVES: 4}, False: {FAILS: 4}, None: {SOLVES: 2, FAILS: 2}}
    judged = {answer: judge([evidence(histories(run, counts), YES)], MAIN)[0] for answer, counts in runs.items()}

    def make(name, predicted, observed):
        return replace(judged[observed], key=CellKey(*name, "small"), predicted=predicted)

    return make


@pytest.fixture
def grid(cell_of):
    """Arrays [task, format, encoding] of True, False, None -> cells."""

    def make(predicted, observed):
        predicted, observed = np.asarray(predicted, dtype=object), np.asarray(observed, dtype=object)
        return [
            cell_of((f"t{t}", f"f{f}", f"e{e}"), predicted[t, f, e], observed[t, f, e])
            for t, f, e in np.ndindex(predicted.shape)
        ]

    return make


def random_answers(shape, seed, missing=0.0):
    draw = np.random.default_rng(seed)
    answers = (draw.random(shape) < 0.5).astype(object)
    answers[draw.random(shape) < missing] = None
    return np.array([None if answer is None else bool(answer) for answer in answers.flat], dtype=object).reshape(shape)


def test_the_table_counts_every_cell_once(grid):
    answers = list(product((True, False, None), repeat=2))
    cells = grid([[[predicted for predicted, _ in answers]]], [[[observed for _, observed in answers]]])
    assert table(cells) == {
        "yes_yes": 1, "yes_no": 1, "no_yes": 1, "no_no": 1, "not_observed": 2, "no_prediction": 3,
    }  # fmt: skip
    assert [str(cell.key) for cell in misclassified(cells)] == ["t0/f0/e1/small", "t0/f0/e3/small"]
    result = association(cells)
    assert (result["agreement"], result["both_kinds"]) == (0.5, True)


@pytest.mark.parametrize("seed", range(5))
def test_fishers_test_is_the_hypergeometric_tail(grid, seed):
    predicted, observed = random_answers((3, 1, 4), seed), random_answers((3, 1, 4), seed + 100)
    predicted_yes, observed_yes = int((predicted == True).sum()), int((observed == True).sum())  # noqa: E712
    both = int(((predicted == True) & (observed == True)).sum())  # noqa: E712
    at_least = sum(
        comb(predicted_yes, k) * comb(12 - predicted_yes, observed_yes - k)
        for k in range(both, min(predicted_yes, observed_yes) + 1)
    )
    assert association(grid(predicted, observed))["fisher_p"] == pytest.approx(at_least / comb(12, observed_yes))


def by_name(cells, tasks, encodings):
    """p and the least p by renaming tasks and encodings one arrangement at a time."""
    predicted = {cell.key[:3]: cell.predicted for cell in cells if cell.predicted is not None}
    observed = {cell.key[:3]: cell.observed for cell in cells if cell.observed is not None}
    task_names = sorted({task for task, _, _ in predicted})
    encoding_names = sorted({encoding for _, _, encoding in predicted})

    def agreeing(rename_task, rename_encoding):
        pairs = [
            (prediction, observed[rename_task[task], format, rename_encoding[encoding]])
            for (task, format, encoding), prediction in predicted.items()
            if (rename_task[task], format, rename_encoding[encoding]) in observed
        ]
        return (sum(prediction == outcome for prediction, outcome in pairs) / len(pairs)) if pairs else 0.5

    renamings = [
        [dict(zip(names, order, strict=True)) for order in (permutations(names) if move else [names])]
        for names, move in ((task_names, tasks), (encoding_names, encodings))
    ]
    values = [agreeing(*pair) for pair in product(*renamings)]
    return (
        sum(value >= values[0] for value in values) / len(values),
        sum(value == max(values) for value in values) / len(values),
        len(values),
    )


WAYS = [(True, False), (False, True), (True, True)]


@pytest.mark.parametrize("tasks, encodings", WAYS)
@pytest.mark.parametrize("missing", [0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_permutations_against_renaming_by_hand(grid, tasks, encodings, missing, seed):
    cells = grid(random_answers((3, 2, 4), seed, missing), random_answers((3, 2, 4), seed + 50, missing))
    result = cluster_permutation_test(cells, tasks=tasks, encodings=encodings)
    assert (result.p, result.least_p, result.arrangements) == pytest.approx(by_name(cells, tasks, encodings))
    assert result.exact


@pytest.mark.parametrize("seed", range(3))
def test_permutations_of_one_kind_against_scipy(grid, seed):
    predicted, observed = random_answers((5, 1, 3), seed), random_answers((5, 1, 3), seed + 50)

    def agreeing(order):
        return float((predicted == observed[order.astype(int)]).mean())

    expected = permutation_test((np.arange(5),), agreeing, permutation_type="pairings", alternative="greater")
    assert cluster_permutation_test(grid(predicted, observed), tasks=True, encodings=False).p == pytest.approx(
        expected.pvalue
    )


@pytest.mark.parametrize("tasks, encodings", WAYS)
def test_under_the_null_p_is_uniform_on_the_values_it_can_take(grid, tasks, encodings):
    """Every arrangement of the outcomes is as likely as any other: P(p <= a) = a exactly, for each a that occurs."""
    predicted, observed = random_answers((4, 1, 3), 3), random_answers((4, 1, 3), 53)
    p_values = [
        cluster_permutation_test(grid(predicted, observed[list(t)][:, :, list(e)]), tasks=tasks, encodings=encodings).p
        for t in (permutations(range(4)) if tasks else [range(4)])
        for e in (permutations(range(3)) if encodings else [range(3)])
    ]
    assert len(set(p_values)) > 1
    for value in p_values:
        assert np.mean([p <= value + 1e-12 for p in p_values]) == pytest.approx(value)


def test_outcomes_that_come_in_clusters_deceive_fisher_and_not_the_permutation_of_clusters(grid):
    """Six tasks, each solved by all encodings or by none, whatever was predicted: predictions by task, at random."""
    draw = np.random.default_rng(0)
    fisher = moved = 0
    draws = 200
    for _ in range(draws):
        predicted, observed = (
            np.broadcast_to((draw.random(6) < 0.5)[:, None, None], (6, 2, 3)).astype(object) for _ in range(2)
        )
        answer = association(grid(predicted, observed))
        fisher += answer["fisher_p"] <= 0.05
        moved += answer["permutation"]["task"]["p"] <= 0.05
    assert fisher / draws > 0.15
    assert moved / draws <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5


def test_predictions_that_tell_only_encodings_apart_are_no_evidence_by_task_but_by_encoding(grid):
    """A single encoding generalizes on every task, as predicted: tasks are not told apart, encodings are."""
    answers = np.broadcast_to(np.arange(5) == 0, (4, 2, 5)).astype(object)
    tests = association(grid(answers, answers))["permutation"]
    assert {name: test["p"] for name, test in tests.items()} == pytest.approx(
        {"task": 1, "encoding": 1 / 5, "task and encoding": 1 / 5}
    )
    assert tests["encoding"]["least_p"] == pytest.approx(1 / 5), "no outcome could have given less"


def test_predictions_that_tell_tasks_and_encodings_apart_are_evidence_in_every_way(grid):
    answers = random_answers((5, 2, 4), 7)
    tests = association(grid(answers, answers))["permutation"]
    assert all(test["p"] == test["least_p"] < 0.05 for test in tests.values())


def test_one_cluster_is_no_evidence(grid):
    answers = random_answers((1, 2, 4), 1)
    result = cluster_permutation_test(grid(answers, answers), tasks=True, encodings=False)
    assert (result.p, result.least_p, result.arrangements) == (1, 1, 1)


def test_no_cells_are_no_evidence():
    result = association([])
    assert result["agreement"] is None
    assert result["fisher_p"] == 1
    assert [test["p"] for test in result["permutation"].values()] == [1, 1, 1]


def test_where_cells_are_missing_is_no_evidence(grid):
    """All predicted yes, all observed yes: nothing is told apart, however the missing cells lie."""
    observed = np.full((4, 2, 4), True, dtype=object)
    observed[random_answers((4, 2, 4), 5) == True] = None  # noqa: E712
    cells = grid(np.full((4, 2, 4), True, dtype=object), observed)
    assert all(cluster_permutation_test(cells, tasks=tasks, encodings=encodings).p == 1 for tasks, encodings in WAYS)
    assert association(cells)["both_kinds"] is False


def test_an_encoding_without_predictions_is_not_moved(grid):
    predicted, observed = random_answers((3, 2, 4), 2), random_answers((3, 2, 4), 52)
    predicted[:, :, 3] = None
    without = grid(predicted[:, :, :3], observed[:, :, :3])
    for tasks, encodings in WAYS:
        ways = {"tasks": tasks, "encodings": encodings}
        assert cluster_permutation_test(grid(predicted, observed), **ways) == cluster_permutation_test(without, **ways)


@pytest.mark.parametrize("tasks, encodings", WAYS)
def test_drawn_arrangements_come_near_to_all_of_them_and_are_the_same_each_time(grid, monkeypatch, tasks, encodings):
    cells = grid(random_answers((5, 1, 5), 8), random_answers((5, 1, 5), 58))
    exact = cluster_permutation_test(cells, tasks=tasks, encodings=encodings)
    monkeypatch.setattr(module, "MOST_ARRANGEMENTS", 100)
    sampled = cluster_permutation_test(cells, tasks=tasks, encodings=encodings)
    assert (sampled.exact, sampled.arrangements) == (False, module.DRAWN)
    assert sampled.p == pytest.approx(exact.p, abs=4 * (0.25 / module.DRAWN) ** 0.5)
    assert cluster_permutation_test(cells, tasks=tasks, encodings=encodings) == sampled


def test_drawn_arrangements_hold_the_observed_one_so_that_p_is_never_zero(grid, monkeypatch):
    monkeypatch.setattr(module, "MOST_ARRANGEMENTS", 100)
    answers = random_answers((9, 2, 9), 1)
    assert cluster_permutation_test(grid(answers, answers), tasks=True, encodings=True).p == 1 / module.DRAWN
