"""Training steps of one backend, for comparisons with another and with themselves."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.experiment import loop
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.loop import descend
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.train import train
from lengthgen.empirical.model.backend import Backend


def step_on(ensemble: Ensemble, samples_MB: Tensor, step: int) -> Tensor:
    """Make one training step on these samples; the losses before it, [M]."""
    auxiliary = ensemble.auxiliary_losses(step) if ensemble.decoder.encoding.has_auxiliary_loss else None
    return descend(ensemble.optimizer, ensemble.losses(samples_MB, step), auxiliary)


def epoch_of(ensemble: Ensemble, epoch: int) -> NDArray[np.float64]:
    """Train one pass over each training set; the losses of all steps, [T, M]."""
    training = ensemble.runs[0].training
    steps = training.samples // training.batch
    losses = loop.train(ensemble, range(epoch * steps, (epoch + 1) * steps))
    return torch.stack(list(losses)).double().cpu().numpy()


FILES = ("checkpoint.safetensors", "metrics.parquet")


def gradients(runs: Sequence[Run], backend: Backend) -> tuple[Tensor, Tensor]:
    """Losses [M] and gradients [M, numbers] of the first step, on the first samples of each model, as CPU tensors."""
    training = runs[0].training
    ensemble = Ensemble(runs, Setup.of(runs[0], backend.device), backend)
    samples = torch.arange(training.batch) + training.samples * torch.arange(len(runs))[:, None]
    losses = ensemble.losses(samples.to(backend.device), 0)
    parts = torch.autograd.grad(losses.sum(), ensemble.optimizer.parameters, materialize_grads=True)
    return losses.detach().cpu(), torch.cat([part.reshape(len(runs), -1) for part in parts], dim=1).cpu()


def same_but_for_rounding(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> bool:
    """True if two answers of `gradients` agree to a relative error of 1e-5, in losses and in each model's gradient."""
    (losses, gradient), (other_losses, other_gradient) = first, second
    close = (gradient - other_gradient).norm(dim=1) < 1e-5 * other_gradient.norm(dim=1)
    return torch.allclose(losses, other_losses, rtol=1e-5) and bool(close.all())


def train_with_and_without_a_break(runs: Sequence[Run], folder: Path, backend: Backend) -> RunStore:
    """Train runs without a break, and again from what a kill after three epochs would have left; compare the files.

    Returns the first store.
    """
    uninterrupted, broken = RunStore(folder / "whole"), RunStore(folder / "broken")

    def keep(done: int, _: int) -> None:
        if done == 3:
            shutil.copytree(uninterrupted.root, broken.root)

    train(runs, uninterrupted, backend=backend, progress=keep)
    epochs: list[int] = []
    train(runs, broken, backend=backend, progress=lambda done, _: epochs.append(done))
    assert epochs[0] > 1, "nothing was left to go on from"
    for run in runs:
        for name in FILES:
            assert (uninterrupted.folder(run) / name).read_bytes() == (broken.folder(run) / name).read_bytes()
    return uninterrupted
