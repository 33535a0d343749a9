"""Early stopping ends each run for itself, by samples that are neither of training nor of the test."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load

from lengthgen.empirical.experiment import stopping
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.samples import TEST, TRAIN, VALIDATION, examples
from lengthgen.empirical.experiment.stopping import EarlyStopping
from lengthgen.empirical.experiment.store import RunStore, StoreError
from lengthgen.empirical.experiment.train import early_stopping, train
from lengthgen.empirical.model.backend import CPU
from tests.empirical.conftest import smoke_run
from tests.empirical.experiment.test_training import FILES, Stop, spoil, stop_after
from tests.empirical.trial.trials import rows_of

SEEDS = (0, 1)


def stopped_run(seed=0, **training):
    return smoke_run(seed=seed, **{"batch": 10, "epochs": 8, "stop_when_solved": 2, "learning_rate": 1e-2} | training)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Runs that were trained together until each had solved its samples, and their store."""
    quick = {"samples": 120, "learning_rate": 2e-2}
    runs, store = [stopped_run(seed, **quick) for seed in SEEDS], RunStore(tmp_path_factory.mktemp("stopped"))
    train(runs, store)
    return runs, store


def ends(store, runs):
    return [store.metrics(run)[0].epoch for run in runs]


def test_each_run_of_an_ensemble_ends_for_itself_and_leaves_the_bits_of_the_others(stopped, tmp_path, monkeypatch):
    (runs, store), longer = stopped, RunStore(tmp_path / "longer")
    ended = ends(store, runs)
    assert len(set(ended)) > 1, "runs that end together would test nothing"
    assert max(ended) < runs[0].training.epochs
    first = ended.index(min(ended))
    solved = EarlyStopping._solved
    # The run that ended first now never ends; the others must not notice.
    monkeypatch.setattr(
        EarlyStopping, "_solved", lambda self, ensemble: solved(self, ensemble) & (np.arange(len(SEEDS)) != first)
    )
    train(runs, longer)
    for model, run in enumerate(runs):
        assert (store.digest(run) == longer.digest(run)) == (model != first)


def test_a_run_ends_at_the_same_epoch_alone_and_with_the_weights_it_had_there(stopped, tmp_path):
    (runs, store), alone, uninterrupted = stopped, RunStore(tmp_path / "alone"), RunStore(tmp_path / "uninterrupted")
    for run in runs:
        train([run], alone)
    assert ends(store, runs) == ends(alone, runs)
    run, [end] = runs[0], ends(alone, runs[:1])
    weights = []
    never = replace(run, training=replace(run.training, stop_when_solved=0))

    def keep(done, total):
        if done == end:
            weights.append(uninterrupted.state([never]).content)

    train([never], uninterrupted, progress=keep)
    assert repr(uninterrupted.metrics(never)[4 * (end - 1) : 4 * end]) == repr(alone.metrics(run))
    ensemble = Ensemble([never], Setup.of(never, "cpu"), CPU)
    ensemble.load(load(weights[0]))
    kept = load(alone.checkpoint(run))
    assert all(torch.equal(tensor, kept[name]) for name, tensor in ensemble.weights(0).items())


def test_an_interrupted_ensemble_ends_with_the_bits_of_an_uninterrupted_one(stopped, tmp_path):
    (runs, uninterrupted), broken = stopped, RunStore(tmp_path / "broken")
    for epoch in sorted({1, *ends(uninterrupted, runs)})[:-1]:  # the first checkpoint, and each end
        with pytest.raises(Stop):
            train(runs, broken, progress=stop_after(epoch))
    train(runs, broken)
    for run in runs:
        for name in FILES:
            assert (uninterrupted.folder(run) / name).read_bytes() == (broken.folder(run) / name).read_bytes()


def test_neither_training_nor_test_samples_decide(monkeypatch):
    splits = []

    def recorded(task, scales, count, *, split, seed):
        splits.append((split, tuple(scales)))
        return examples(task, scales, count, split=split, seed=seed)

    monkeypatch.setattr("lengthgen.empirical.experiment.ensemble.examples", recorded)
    run = stopped_run()
    early_stopping(run, Setup.of(run, "cpu"), 1)
    assert sorted(splits) == [(VALIDATION, (1,)), (VALIDATION, (2,))]
    assert len({TRAIN, TEST, VALIDATION}) == 3


def test_a_run_that_never_solves_its_scales_is_measured_at_its_last_epoch(tmp_path, monkeypatch):
    run, store = stopped_run(epochs=3, samples=50), RunStore(tmp_path)
    monkeypatch.setattr(stopping, "teacher_forced", lambda *_, **__: np.zeros((1, 50, 3), dtype=bool))
    train([run], store)
    assert {row.epoch for row in store.metrics(run)} == {3}
    assert all(row.training_loss > 0 for row in store.metrics(run)), "nothing was kept at its end"


def test_a_loss_that_is_not_finite_counts_only_before_the_end(tmp_path, monkeypatch):
    answers = {1: [True, False], 2: [True, False], 3: [True, True], 4: [True, True]}
    epochs = iter(answers)
    monkeypatch.setattr(EarlyStopping, "_solved", lambda *_: np.array(answers[next(epochs)]))
    runs, store = [stopped_run(seed, samples=50) for seed in (0, 1)], RunStore(tmp_path)
    spoil(monkeypatch, seed=0, step=12)  # in the third epoch of 5 steps, after the first run has ended
    train(runs, store)
    assert ends(store, runs) == [2, 4]
    assert store.environment(runs[1])["trained_together"] == 2, "the loss has split the ensemble"


@pytest.mark.parametrize("epoch", [1, 3, 9])
def test_metrics_of_an_epoch_at_which_the_run_cannot_end_are_refused(tmp_path, epoch):
    run, store = stopped_run(evaluate_every=2), RunStore(tmp_path)
    assert run.may_end == range(4, 8, 2)
    with pytest.raises(StoreError, match="other rows"):
        store.finish(run, metrics=_rows(run, epoch), checkpoint=b"", environment={})
    store.finish(run, metrics=_rows(run, 4), checkpoint=b"", environment={})
    assert store.look(run.id).broken is None


def _rows(run, epoch):
    return [replace(row, epoch=epoch, exact_match=1.0) for row in rows_of(run)]
