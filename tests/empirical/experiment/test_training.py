"""Training ends with the same bits however often it is interrupted, and each run of an ensemble is the run alone."""

import shutil
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment import train as training_module
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.environment import revision
from lengthgen.empirical.experiment.evaluation import free_running, load_trained, teacher_forced
from lengthgen.empirical.experiment.loop import TrainingError
from lengthgen.empirical.experiment.protocol import Cell, checked_protocol, load_profile
from lengthgen.empirical.experiment.run import one_run
from lengthgen.empirical.experiment.samples import TEST, examples
from lengthgen.empirical.experiment.store import RunStore, StoreError, state_metadata
from lengthgen.empirical.experiment.sweep import groups
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import CPU
from lengthgen.infrastructure.files import DamagedFile
from lengthgen.infrastructure.settings import ProfileError
from tests.empirical.conftest import smoke_run
from tests.empirical.model.steps import epoch_of
from tests.empirical.trial.trials import rows_of

FILES = ("checkpoint.safetensors", "metrics.parquet", "config.json")
SEVERAL = ["ipe", "rope", "lbpe-sh", "random-rpe[longest=64]"]
"""One encoding with a table by labels, one without parameters, one of learned labels and one of drawn positions."""


class Stop(Exception):
    """Replacement for a kill: nothing of the process survives it but its files."""


def stop_after(epoch):
    def progress(done, total):
        if done == epoch:
            raise Stop

    return progress


@pytest.mark.parametrize("encoding", [*SEVERAL, "seqpe"])
def test_an_interrupted_run_ends_with_the_bits_of_an_uninterrupted_one(small_run, tmp_path, encoding):
    run = small_run(encoding, evaluate_every=2, samples=100)
    uninterrupted, broken = RunStore(tmp_path / "whole"), RunStore(tmp_path / "broken")
    train([run], uninterrupted)
    for epoch in (1, 3):  # before and after the first checkpoint
        with pytest.raises(Stop):
            train([run], broken, progress=stop_after(epoch))
    assert not broken.finished(run)
    train([run], broken)
    for name in FILES:
        assert (uninterrupted.folder(run) / name).read_bytes() == (broken.folder(run) / name).read_bytes()
    assert not list(broken.root.glob(".unfinished/*"))


@pytest.mark.parametrize("encoding", ["ipe", "seqpe"])  # seqpe: with an auxiliary loss, which follows the schedule
def test_a_run_with_the_schedule_of_a_longer_training_is_its_beginning(small_run, tmp_path, encoding):
    long = small_run(encoding, samples=100, epochs=4, evaluate_every=2)
    begun = small_run(encoding, samples=100, epochs=2, evaluate_every=2, schedule_epochs=4)
    alone = small_run(encoding, samples=100, epochs=2, evaluate_every=2)
    store = RunStore(tmp_path)
    for run in (long, begun, alone):
        train([run], store)
    of_long = [row for row in store.metrics(long) if row.epoch == 2]
    np.testing.assert_equal([asdict(row) for row in store.metrics(begun)], [asdict(row) for row in of_long])
    losses = {run.id: {row.training_loss for row in store.metrics(run)} for run in (begun, alone)}
    assert losses[begun.id].isdisjoint(losses[alone.id])


def test_a_schedule_that_ends_before_the_training_is_refused():
    with pytest.raises(ProfileError, match="schedule_epochs = 3: the learning rate is 0 before the end of 4"):
        smoke_run(epochs=4, schedule_epochs=3)


def test_an_ensemble_interrupted_while_it_is_stored_goes_on(small_run, tmp_path, monkeypatch):
    runs = [small_run(seed=seed) for seed in range(3)]
    store = RunStore(tmp_path)
    finish = RunStore.finish

    def killed(self, run, **parts):
        if run is runs[1]:
            raise Stop
        finish(self, run, **parts)

    monkeypatch.setattr(RunStore, "finish", killed)
    with pytest.raises(Stop):
        train(runs, store)
    assert [store.finished(run) for run in runs] == [True, False, False]
    monkeypatch.setattr(RunStore, "finish", finish)
    epochs = []
    train(runs, store, progress=lambda done, total: epochs.append(done))
    assert all(store.finished(run) for run in runs)
    assert not epochs, "all epochs were done"


@pytest.mark.parametrize("encoding", [*SEVERAL, "ape", "t5", "fire", "rpe-square", "seqpe"])
def test_each_member_of_an_ensemble_is_its_run_alone(small_run, encoding):
    runs = [small_run(encoding, seed=seed, samples=100) for seed in range(3)]
    setup = Setup.of(runs[0], "cpu")
    torch.set_default_dtype(torch.float64)
    try:
        ensemble = Ensemble(runs, setup, CPU)
        members = [Ensemble([run], setup, CPU) for run in runs]
    finally:
        torch.set_default_dtype(torch.float32)
    for epoch in range(2):
        losses = epoch_of(ensemble, epoch)
        for model, member in enumerate(members):
            assert np.allclose(epoch_of(member, epoch)[:, 0], losses[:, model], rtol=1e-9)
    for model, member in enumerate(members):
        for name, tensor in member.weights(0).items():
            # AdamW divides by the root of a running square: where gradients are nearly 0 it magnifies rounding.
            assert torch.allclose(tensor, ensemble.weights(model)[name], rtol=1e-6, atol=1e-7), name
    assert not torch.allclose(ensemble.weights(0)["head.weight"], ensemble.weights(1)["head.weight"])


def test_runs_one_of_which_was_begun_alone_are_trained_one_after_the_other(small_run, tmp_path):
    runs, store = [small_run(seed=seed, samples=100) for seed in range(2)], RunStore(tmp_path)
    with pytest.raises(Stop):
        train(runs[:1], store, progress=stop_after(2))
    train(runs, store)
    assert [store.environment(run)["trained_together"] for run in runs] == [1, 1]
    assert store.environment(runs[0])["machine"].endswith(torch.backends.cpu.get_cpu_capability())


def test_a_state_is_saved_between_checkpoints_once_the_last_one_is_old(small_run, tmp_path, monkeypatch):
    run = small_run(evaluate_every=4, samples=100)
    uninterrupted, broken, epochs = RunStore(tmp_path / "whole"), RunStore(tmp_path / "broken"), []
    train([run], uninterrupted)
    with pytest.raises(Stop):
        train([run], broken, progress=stop_after(1))
    assert not broken.has_state([run])
    monkeypatch.setattr(training_module, "SECONDS_BETWEEN_STATES", 0)
    with pytest.raises(Stop):
        train([run], broken, progress=stop_after(3))
    train([run], broken, progress=lambda done, total: epochs.append(done))
    assert epochs == [4]
    assert broken.metrics(run) == uninterrupted.metrics(run)
    assert broken.checkpoint(run) == uninterrupted.checkpoint(run)


def test_a_finished_run_is_not_trained_again_and_what_a_kill_at_its_very_end_left_is_removed(small_run, tmp_path):
    run, store = small_run(), RunStore(tmp_path)
    train([run], store)
    train([run], store, progress=stop_after(1))
    for name in ("state.sealed", ".progress.json.37f8b445.partial"):
        left = store.state_path([run]).with_name(name)
        left.parent.mkdir(exist_ok=True)
        left.write_bytes(b"")
    train([run], store, progress=stop_after(1))
    assert not left.parent.exists()


@pytest.mark.parametrize(
    ("encoding", "task", "format"),
    [
        ("ipe", "copy", "aligned"),
        ("random-ape[longest=64]", "copy", "aligned"),
        ("lbpe-sh", "copy", "aligned"),
        ("rope", "copy", "aligned"),
        ("fire", "copy-until-zero", "aligned"),
        ("ipe-sh", "parity-online", "unaligned"),
    ],
)
def test_teacher_forced_exact_match_is_that_of_free_running(small_run, encoding, task, format):
    run = small_run(encoding, format, task=task)
    setup = Setup.of(run, "cpu")
    ensemble = Ensemble([run], setup, CPU)
    for epoch in range(12 if task == "parity-online" else 3):
        epoch_of(ensemble, epoch)
    shares = set()
    for scale in run.test:
        data = examples(setup.task, [scale], 100, split=TEST, seed=0)
        exact = teacher_forced(ensemble.decoder, setup.geometry, data)[0].all(axis=1)
        assert np.array_equal(exact, free_running(ensemble.decoder, setup.geometry, data)[0])
        shares.add(exact.mean())
    assert len(shares) > 1, "a model that is right or wrong everywhere would test nothing"


@pytest.mark.parametrize("encoding", ["ipe", "random-ape[longest=64]", "random-rpe[longest=64]"])
def test_an_ensemble_is_measured_as_its_members_are(small_run, monkeypatch, encoding):
    monkeypatch.setattr(
        "lengthgen.empirical.experiment.evaluation.TOKENS", 1000
    )  # so that more models are computed in more blocks
    runs = [small_run(encoding, seed=seed, samples=100) for seed in range(3)]
    setup = Setup.of(runs[0], "cpu")
    data = examples(setup.task, [3], 120, split=TEST, seed=0)
    ensemble_right = teacher_forced(Ensemble(runs, setup, CPU).decoder, setup.geometry, data)
    for model, run in enumerate(runs):
        alone = teacher_forced(Ensemble([run], setup, CPU).decoder, setup.geometry, data)[0]
        # A near tie between two tokens may go the other way by rounding.
        assert (alone != ensemble_right[model]).mean() < 0.01
    assert (ensemble_right[0] != ensemble_right[1]).mean() > 0.05


def spoil(monkeypatch, *, seed, step):
    """Make the loss of one run not a number at one step."""
    losses = Ensemble.losses

    def spoiled(self, samples, at):
        true_losses = losses(self, samples, at)
        bad = torch.tensor([float("nan") if run.seed == seed and at == step else 0.0 for run in self.runs])
        return true_losses + bad

    monkeypatch.setattr(Ensemble, "losses", spoiled)


def test_the_revision_is_that_of_the_code_that_trains(small_run, tmp_path, monkeypatch):
    """Somebody commits during a training."""
    now = ["before"]
    monkeypatch.setattr(
        "lengthgen.empirical.experiment.environment.subprocess.run", lambda *_, **__: SimpleNamespace(stdout=now[0])
    )
    revision.cache_clear()
    run, store = small_run(), RunStore(tmp_path)
    train([run], store, progress=lambda done, total: now.__setitem__(0, "after"))
    revision.cache_clear()
    assert store.environment(run)["revision"] == "before"


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_its_state(small_run, tmp_path, monkeypatch):
    run, store = small_run(evaluate_every=1), RunStore(tmp_path)
    with pytest.raises(Stop):
        train([run], store, progress=stop_after(2))
    kept = store.state_path([run]).read_bytes()
    spoil(monkeypatch, seed=0, step=9)
    with pytest.raises(TrainingError, match=r"is nan at step 2 of epoch 3; its last state is kept"):
        train([run], store)
    assert store.state_path([run]).read_bytes() == kept


def test_a_run_that_diverges_does_not_take_its_ensemble_along(small_run, tmp_path, monkeypatch):
    runs = [small_run(seed=seed, evaluate_every=1, samples=100) for seed in range(3)]
    alone = RunStore(tmp_path / "alone")
    train([runs[2]], alone)
    for step in (1, 5):
        store = RunStore(tmp_path / f"spoilt at {step}")
        with monkeypatch.context() as patch:
            spoil(patch, seed=1, step=step)
            with pytest.raises(TrainingError, match=r"-seed1-\w+ is nan at step 2 of epoch"):
                train(runs, store)
        assert [store.finished(run) for run in runs] == [True, False, True]
        assert store.state_path([runs[1]]).exists()
        assert store.final_exact_match(runs[2]) == pytest.approx(alone.final_exact_match(runs[2]), abs=0.1)


def quick_run(encoding, *, epochs):
    training = {"samples": 2000, "batch": 20, "epochs": epochs, "evaluate_every": epochs}
    profile = load_profile("quick", {"training": training, "evaluation": {"samples": 100}})
    cell = Cell(task=TaskSpec(name="parity"), encoding=encoding)
    protocol = checked_protocol(
        name="short", cli_name="short", title="", source="", cells=(cell,), train=(1, 2, 3), test=(1, 2, 3, 6, 12),
        profile_name="quick", profile=profile,
    )  # fmt: skip
    return one_run(protocol, cell, replace(profile.models[0], width=32), seed=0)


def test_the_ideal_encoding_generalizes_where_the_absolute_one_only_fits(tmp_path):
    """The main result, of one seed."""
    store = RunStore(tmp_path)
    accuracy = {}
    for encoding, epochs in (("ipe-sh", 1), ("ape", 2)):  # each until it fits
        run = quick_run(encoding, epochs=epochs)
        train([run], store)
        accuracy[encoding] = store.final_exact_match(run)
        assert min(accuracy[encoding][scale] for scale in run.train) >= 0.95
    assert accuracy["ipe-sh"][12] >= 0.95
    assert accuracy["ape"][6] < 0.10


SEAL = r"state.sealed cannot be used \(.*its seal is broken\)"
STATE_DAMAGES = {
    "truncated": (lambda content: content[:-100], SEAL),
    "empty": (lambda content: b"", SEAL),
    "no safetensors": (lambda content: b"{}" * 100, SEAL),
    "of tensors": (lambda content: content[:-50] + bytes([content[-50] ^ 1]) + content[-49:], SEAL),
    "of metrics": (lambda content: content.replace(b'exact_match\\": 0', b'exact_match\\": 1', 1), SEAL),
    "of the epoch": (lambda content: content.replace(b'"epoch":"2"', b'"epoch":"3"'), SEAL),
    "of the seal": (lambda content: bytes([content[0] ^ 128]) + content[1:], SEAL),
    "too large": (None, r"has 1,099,511,627,776 bytes, and at most 34,359,738,368 are read"),
    "of another training": (None, "it belongs to other runs than the folder's name says"),
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """(runs, store) of one run, and of two that are trained together, stopped after two epochs of four."""
    root = tmp_path_factory.mktemp("begun")
    trainings = []
    for name, runs in (("one", [smoke_run()]), ("two", [smoke_run(seed=seed) for seed in range(2)])):
        store = RunStore(root / name)
        with pytest.raises(Stop):
            train(runs, store, progress=stop_after(2))
        trainings.append((runs, store))
    return trainings


@pytest.fixture(params=["one run", "two runs"])
def stopped(begun, tmp_path, request):
    """(runs, store) of a training that was stopped; the store is the test's own."""
    runs, store = begun[request.param == "two runs"]
    shutil.copytree(store.root, tmp_path / "store")
    return runs, RunStore(tmp_path / "store")


@pytest.mark.parametrize("kind", STATE_DAMAGES)
def test_a_damaged_state_is_not_gone_on_from_and_one_line_says_how_to_begin_anew_which_works(stopped, begun, kind):
    runs, store = stopped
    state, (change, says) = store.state_path(runs), STATE_DAMAGES[kind]
    content = state.read_bytes()
    if kind == "too large":
        with state.open("r+b") as file:
            file.truncate(1 << 40)
    elif change is None:
        other_runs, other = next(pair for pair in begun if pair[0] != runs)
        state.write_bytes(other.state_path(other_runs).read_bytes())
    else:
        state.write_bytes(change(content))
        assert state.read_bytes() != content
    with pytest.raises(DamagedFile, match=says) as error:
        train(runs, store)
    line, name = str(error.value), state.parent.name
    assert line.startswith(str(state.parent))
    command = f"lengthgen runs --remove {name} --out {store.root.parent}"
    assert line.endswith(f": remove it ({command}), and its training starts again")
    assert any(entry.name == name and entry.broken == line for entry in store.contents())
    store.remove(name)
    assert store.contents() == []
    assert store.state(runs) is None


@pytest.mark.parametrize("metadata", [{}, {"runs": "[]", "epoch": "2", "progress": "{}"}, {"runs": "3"}, None, "other"])
def test_a_sealed_state_of_something_else_is_named(stopped, metadata):
    runs, store = stopped
    if metadata == "other":
        metadata = state_metadata(runs, epoch=2, progress={"metrics": [], "seconds": 1.0})
    store.save_state(runs, save({"numbers": torch.zeros(3)}, metadata=metadata))
    with pytest.raises(DamagedFile, match=r"state.sealed cannot be used .*lengthgen runs --remove"):
        train(runs, store)


def test_with_a_damaged_note_a_training_goes_on_from_its_state(stopped):
    runs, store = stopped
    note, epochs = store.state_path(runs).with_name("progress.json"), []
    note.write_bytes(b"{")
    assert groups(runs, store, 2) == [tuple(runs)], "a sweep, too, knows who is trained together"
    train(runs, store, progress=lambda done, total: epochs.append(done))
    assert epochs == [3, 4]
    assert [entry.broken for entry in store.contents()] == [None] * len(runs)


def test_a_run_that_is_measured_nowhere_is_not_trained(small_run, tmp_path):
    run, store = small_run(), RunStore(tmp_path)
    run = replace(run, training=replace(run.training, epochs=0))
    with pytest.raises(ProfileError, match="has no checkpoint to measure"):
        train([run], store)
    assert store.contents() == []


def test_a_checkpoint_of_another_model_is_named(small_run, tmp_path):
    run, others = small_run("ape"), [b"none", b"", save({"numbers": torch.zeros(3)})]
    for number, content in enumerate(others):
        store = RunStore(tmp_path / str(number))
        store.finish(run, metrics=rows_of(run), checkpoint=content, environment={})
        with pytest.raises(
            StoreError, match=rf"checkpoint.safetensors holds no weights of this model .*: remove {run.id}"
        ):
            load_trained(run, store, [1, 2], "cpu")


@pytest.mark.parametrize("encoding", SEVERAL)
def test_a_loaded_model_does_what_was_measured_when_it_was_trained(small_run, tmp_path, encoding):
    run, store = small_run(encoding), RunStore(tmp_path)
    train([run], store)
    setup, decoder = load_trained(run, store, [4], "cpu")
    data = setup.examples([4], run.evaluation.samples, split=TEST, seed=0)
    [right] = teacher_forced(decoder, setup.geometry, data)
    [measured] = [row for row in store.metrics(run) if (row.epoch, row.scale) == (run.training.epochs, 4)]
    assert right.all(1).mean() == measured.exact_match
    assert right[data.exists].mean() == measured.token_accuracy
