"""Settings of filler: what training samples show besides their steps, and how much of it."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from re import fullmatch

import numpy as np
import pytest
import torch

from lengthgen.circuits.formats import CLOSING, FilledTask
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST, TRAIN, VALIDATION, left_out
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import CPU, Backend, BackendError
from lengthgen.infrastructure.settings import ProfileError
from tests.empirical.conftest import smoke_run

LARGEST, SAMPLES = 4, 400


def _setup(share: float | None) -> tuple[Setup, FilledTask]:
    setup = Setup.of(smoke_run("rpe", "filled", task="copy", prompts_as_filler=share), "cpu")
    assert isinstance(setup.task, FilledTask)
    return setup, setup.task


def test_prompts_as_filler_are_pieces_of_a_text_of_prompts_and_change_nothing_else() -> None:
    (plain, task), (setup, _) = _setup(None), _setup(1.0)
    before, after = (each.examples([1, 2], SAMPLES, split=TRAIN, seed=5) for each in (plain, setup))
    assert np.array_equal(before.is_step, after.is_step) and np.array_equal(before.scales, after.scales)
    prompts = [task.core.choices(scale) for scale in range(1, LARGEST + 1)]
    inside = {
        pair for prompt in prompts for places in itertools.pairwise(prompt) for pair in itertools.product(*places)
    }
    between = {
        pair for last, first in itertools.product(prompts, prompts) for pair in itertools.product(last[-1], first[0])
    }
    allowed = inside | between
    for scale in (1, 2):
        rows = before.scales == scale
        fills = np.zeros(before.tokens.shape[1], dtype=np.bool_)
        fills[: len(task.layout(scale))] = task.is_filler(scale)
        core = [task.place(scale, place) - 1 for place in range(1, len(task.core.layout(scale)) + 1)]
        assert not fills[core].any() and fills.sum() == len(task.layout(scale)) - len(core)
        assert np.array_equal(before.tokens[rows][:, ~fills], after.tokens[rows][:, ~fills])
        pieces = [[*map(tuple, itertools.pairwise(row))] for row in after.tokens[rows][:, fills].tolist()]
        assert allowed.issuperset(itertools.chain(*pieces))
        drawn = [[*map(tuple, itertools.pairwise(row))] for row in before.tokens[rows][:, fills].tolist()]
        assert not allowed.issuperset(itertools.chain(*drawn)), "filler that is drawn token by token is no such text"
        assert len({*map(tuple, after.tokens[rows][:, fills].tolist())}) > 20


def test_pieces_follow_each_other_in_a_text_of_as_many_prompts_of_each_scale() -> None:
    setup, task = _setup(1.0)
    data = setup.examples([1, 2], SAMPLES, split=TRAIN, seed=5)
    pieces = [
        "".join(task.alphabet[row[place]] for place, fills in enumerate(task.is_filler(scale)) if fills)
        for row, scale in zip(data.tokens.tolist(), data.scales.tolist(), strict=True)
    ]
    text = "".join(pieces)
    prompts = [fullmatch("_([01]+)__", prompt) for prompt in text.split("=")[:-1]]
    scales = Counter(len(prompt[1]) for prompt in prompts if prompt is not None)
    assert scales.total() == len(prompts) and {*scales} == {*range(1, LARGEST + 1)}
    assert max(scales.values()) == math.ceil(len(text) / sum(scale + 4 for scale in scales))
    assert max(scales.values()) - min(scales.values()) <= 4, "prompts are left over at the end of the text alone"


def test_a_share_of_the_training_samples_is_changed_and_none_for_test_or_validation() -> None:
    (plain, _), (setup, _) = _setup(None), _setup(0.25)
    before, after = (each.examples([1, 2], SAMPLES, split=TRAIN, seed=5) for each in (plain, setup))
    changed = (before.tokens != after.tokens).any(axis=1)
    assert 0.15 < changed.mean() < 0.35
    for split in (TEST, VALIDATION):
        pair = [each.examples([2], SAMPLES, split=split, seed=5).tokens for each in (plain, setup)]
        assert np.array_equal(*pair)
    others = setup.examples([1, 2], SAMPLES, split=TRAIN, seed=6)
    assert not np.array_equal(after.tokens, others.tokens)


@pytest.mark.parametrize("encoding", ["ipe", "rpe", "ape", "rope"])
def test_tokens_that_are_left_out_have_no_say_and_the_others_keep_labels_and_positions(
    encoding: str,
) -> None:
    runs = [smoke_run(encoding, "filled", seed, samples=40, batch=8, leave_out=2) for seed in (3, 8)]
    ensemble = Ensemble(runs, Setup.of(runs[0], "cpu"), CPU)
    samples = torch.arange(8).repeat(2, 1) + torch.tensor([[0], [40]])
    counts = [left_out(runs[0].training, step) for step in range(20)]
    assert {*counts} == {0, 1, 2}
    steps = [counts.index(count) for count in range(3)]
    losses = [ensemble.losses(samples, step).detach() for step in steps]
    shown: list[dict[str, torch.Tensor | None]] = []
    forward = ensemble.forward
    ensemble.forward = lambda tokens, **given: shown.append(given) or forward(tokens, **given)
    for changed in range(2):
        ensemble.tokens[:, changed] = (ensemble.tokens[:, changed] + 1) % 2
        again = [ensemble.losses(samples, step).detach() for step in steps]
        for count, (old, new) in enumerate(zip(losses, again, strict=True)):
            assert torch.equal(old, new) == (count > changed), (count, changed)
    unchanged = shown[0]
    for count, given in enumerate(shown[:3]):
        assert torch.equal(given["positions"], unchanged["positions"][..., count:])
        assert (given["labels"] is None) == (unchanged["labels"] is None) == (encoding in ("ape", "rope"))
        if given["labels"] is not None:
            assert torch.equal(given["labels"], unchanged["labels"][..., count:, count:])
    alone = Ensemble(runs[1:], ensemble.setups[1], CPU)
    alone.tokens[:, :2] = ensemble.tokens[40:, :2]
    for step in steps:
        expected = ensemble.losses(samples, step)[1]
        assert torch.allclose(alone.losses(samples[:1], step)[0], expected, rtol=1e-5)


def test_a_run_that_leaves_out_filler_is_trained_and_not_compiled(tmp_path) -> None:
    run = smoke_run("rpe", "filled", prompts_as_filler=0.5, leave_out=2)
    with pytest.raises(BackendError, match="another length each time, and is not compiled: leave out --compile"):
        train([run], RunStore(tmp_path), backend=Backend(compiled=True))
    train([run], RunStore(tmp_path))
    assert RunStore(tmp_path).finished(run)


def test_settings_of_filler_name_another_run_and_are_left_out_of_the_configs_of_others() -> None:
    plain, other = smoke_run("rpe", "filled"), smoke_run("rpe", "filled", prompts_as_filler=0.5, leave_out=2)
    assert (
        plain.config["training"]
        .keys()
        .isdisjoint({"prompts_as_filler", "leave_out", "stop_when_solved", "schedule_epochs"})
    )
    assert (other.config["training"]["prompts_as_filler"], other.config["training"]["leave_out"]) == (0.5, 2)
    assert plain.group != other.group
    for run in (plain, other):
        assert Run.from_config(run.config) == run


def test_settings_that_do_not_suit_a_task_are_refused_in_one_line() -> None:
    with pytest.raises(ProfileError, match="only the filled format has: 'parity' has none; leave them out"):
        smoke_run("rpe", "aligned", prompts_as_filler=0.5)
    with pytest.raises(ProfileError, match="'parity' has none"):
        smoke_run("rpe", "unaligned", leave_out=1)
    with pytest.raises(
        ProfileError, match=r"leave_out = 3: some samples of '.*' begin with 2 fillers; leave out at most 2"
    ):
        smoke_run("rpe", "filled", leave_out=3)
    assert replace(smoke_run("rpe", "filled", leave_out=2).training, leave_out=None).varies_filler is False


def _padding(task: str, share: float | None, reach: int | None = None) -> Setup:
    return Setup.of(smoke_run("rpe", "aligned", task=task, fill_padding=share, fill_padding_to=reach), "cpu")


@pytest.mark.parametrize("task", ["copy", "parity"])
@pytest.mark.parametrize(("reach", "last"), [(3, 3), (None, LARGEST)])
def test_filled_padding_holds_what_larger_scales_hold_there_and_changes_nothing_else(task, reach, last) -> None:
    plain, filled = _padding(task, None), _padding(task, 1.0, reach)
    for split in (TEST, VALIDATION):
        same = [each.examples([1, 2], 20, split=split, seed=5).tokens for each in (plain, filled)]
        assert np.array_equal(*same), "test samples keep their padding"
    before, after = (each.examples([1, 2], SAMPLES, split=TRAIN, seed=5) for each in (plain, filled))
    assert np.array_equal(before.is_step, after.is_step) and np.array_equal(before.scales, after.scales)
    digits = [filled.task.alphabet.index(symbol) for symbol in "01"]
    for scale in (1, 2):
        rows = before.scales == scale
        places = np.arange(scale + CLOSING, last)  # after the digits and the two PADs that close them, up to the reach
        assert {*after.tokens[rows][:, places].flatten().tolist()} == (set(digits) if len(places) else set())
        kept = np.setdiff1d(np.arange(before.tokens.shape[1]), places)
        assert np.array_equal(before.tokens[rows][:, kept], after.tokens[rows][:, kept])
    assert (before.tokens != after.tokens).any() == (last > 1 + CLOSING)


def test_a_share_of_samples_has_filled_padding() -> None:
    before, after = (_padding("copy", share).examples([1], 4_000, split=TRAIN, seed=5) for share in (None, 0.25))
    changed = (before.tokens != after.tokens).any(1).mean()
    assert abs(changed - 0.25) < 0.03


def test_settings_of_padding_that_do_not_suit_a_task_are_refused_in_one_line() -> None:
    for form in ("filled", "unaligned"):
        with pytest.raises(ProfileError, match="only the aligned format has: 'parity' has none; leave it out"):
            smoke_run("rpe", form, fill_padding=0.5)
    with pytest.raises(ProfileError, match=r"fill_padding_to = 9: .* beyond those of training \(to 2\), up to .*, 4"):
        smoke_run("rpe", "aligned", fill_padding=0.5, fill_padding_to=9)
    with pytest.raises(ProfileError, match="give fill_padding, the share of samples"):
        smoke_run("rpe", "aligned", fill_padding_to=3)
