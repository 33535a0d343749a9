"""Training ends with the same bits however often it is interrupted, and evaluation says what decoding would do."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from circuits.prediction import ENCODINGS
from empirical.profile import load_profile
from empirical.run import plan
from empirical.store import RunStore
from empirical.training import TrainingError, _Training, train


class Stop(Exception):
    """Stands for a kill: nothing of the process survives it but its files."""


def stop_after(epoch):
    def progress(done, total):
        if done == epoch:
            raise Stop

    return progress


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_interrupted_run_ends_with_the_bits_of_an_uninterrupted_one(small_run, tmp_path, encoding):
    run = small_run(encoding, evaluate_every=2)
    whole, broken = RunStore(tmp_path / "whole"), RunStore(tmp_path / "broken")
    train(run, whole)
    for epoch in (1, 3):  # before and after the first checkpoint
        with pytest.raises(Stop):
            train(run, broken, progress=stop_after(epoch))
    assert not broken.finished(run)
    train(run, broken)
    for name in ("checkpoint.safetensors", "metrics.parquet", "config.json"):
        assert (whole.folder(run) / name).read_bytes() == (broken.folder(run) / name).read_bytes()


def test_a_resumed_run_does_not_repeat_what_its_checkpoint_holds(small_run, tmp_path):
    run, store, epochs = small_run(evaluate_every=2), RunStore(tmp_path), []
    with pytest.raises(Stop):
        train(run, store, progress=stop_after(3))
    train(run, store, progress=lambda done, total: epochs.append(done))
    assert epochs == [3, 4]


def test_a_finished_run_is_not_trained_again(small_run, tmp_path):
    run, store = small_run(), RunStore(tmp_path)
    train(run, store)
    train(run, store, progress=stop_after(1))


def test_seeds_differ(small_run, tmp_path):
    store = RunStore(tmp_path)
    for seed in (0, 1):
        train(small_run(seed=seed), store)
    first, second = (load_file(store.folder(small_run(seed=seed)) / "checkpoint.safetensors") for seed in (0, 1))
    assert not torch.equal(first["head.weight"], second["head.weight"])


@pytest.mark.parametrize("format", ["aligned", "unaligned"])
def test_teacher_forced_exact_match_is_that_of_free_running(small_run, tmp_path, format):
    run = small_run(format=format)
    training = _Training(run, RunStore(tmp_path), "cpu")
    for _ in range(3):
        training._epoch()
        training.epoch += 1
    training._measure(0.0)
    measured = {row.scale: row.exact_match for row in training.metrics}
    for scale, data in training.test_sets.items():
        start = int(np.flatnonzero(data.is_step[0])[0])
        tokens = torch.from_numpy(data.tokens.astype(np.int64))
        running = tokens[:, :start]
        while running.shape[1] < tokens.shape[1]:
            labels = training.geometry.labels(data.scales, running.shape[1])
            with torch.no_grad():
                following = training.model(running, labels)[:, -1].argmax(-1, keepdim=True)
            running = torch.cat([running, following], dim=1)
        assert measured[scale] == (running == tokens).all(1).double().mean().item()
    assert len(set(measured.values())) > 1, "a model that is right or wrong everywhere would test nothing"


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_its_checkpoint(small_run, tmp_path, monkeypatch):
    run, store = small_run(evaluate_every=1), RunStore(tmp_path)
    with pytest.raises(Stop):
        train(run, store, progress=stop_after(2))
    kept = store.state_path(run).read_bytes()
    monkeypatch.setattr(torch.nn.functional, "cross_entropy", lambda logits, targets: logits.sum() * float("nan"))
    with pytest.raises(TrainingError, match=r"is nan in epoch 2"):
        train(run, store)
    assert store.state_path(run).read_bytes() == kept


def test_cuda_asked_and_absent_is_refused(small_run, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(TrainingError, match="no CUDA device"):
        train(small_run(), RunStore(tmp_path), device="cuda")


def test_the_ideal_encoding_generalizes_where_the_absolute_one_only_fits(tmp_path):
    """The main result at a third of its length: two epochs, one seed."""
    profile = load_profile("quick")
    profile = replace(profile, training=replace(profile.training, epochs=2))
    store = RunStore(tmp_path)
    accuracy = {}
    for encoding in ("ipe", "ape"):
        run = plan(
            "parity", format="unaligned", encoding=encoding, train=range(1, 6), test=[*range(1, 6), 10, 20], seed=0,
            profile=profile,
        )  # fmt: skip
        train(run, store)
        accuracy[encoding] = store.final_exact_match(run)
        assert min(accuracy[encoding][scale] for scale in range(1, 6)) >= 0.95
    assert accuracy["ipe"][20] >= 0.95
    assert accuracy["ape"][10] < 0.10


def test_labels_that_say_nothing_do_not_generalize(tmp_path, monkeypatch):
    """The control of the one above, trained as long: IPE's own tables with its roles thrown away."""
    from theory.relation import constant

    monkeypatch.setattr("circuits.prediction.ideal_relation", lambda circuit, scale_hint: constant())
    profile = load_profile("quick")
    profile = replace(profile, training=replace(profile.training, epochs=2))
    run = plan("parity", format="unaligned", encoding="ipe", train=range(1, 6), test=[5, 20], seed=0, profile=profile)
    store = RunStore(tmp_path)
    train(run, store)
    assert store.final_exact_match(run)[20] < 0.10


def test_a_damaged_checkpoint_is_named(small_run, tmp_path):
    run, store = small_run(), RunStore(tmp_path)
    with pytest.raises(Stop):
        train(run, store, progress=stop_after(2))
    state = store.state_path(run)
    state.write_bytes(state.read_bytes()[:-100])
    with pytest.raises(TrainingError, match=r"state.safetensors is damaged .* remove it to begin again"):
        train(run, store)
