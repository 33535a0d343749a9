"""The first training step of runs, for comparisons of one backend with another."""

from collections.abc import Sequence

import torch
from torch import Tensor

from empirical.model.backend import Backend
from empirical.model.ensemble import Ensemble
from empirical.model.setup import Setup
from empirical.runs.run import Run


def gradients(runs: Sequence[Run], backend: Backend) -> tuple[Tensor, Tensor]:
    """Losses [M] and gradients [M, numbers] of the first step, on the first samples of each model, as CPU tensors."""
    training = runs[0].training
    ensemble = Ensemble(runs, Setup.of(runs[0], backend.device), backend)
    samples = torch.arange(training.batch) + training.samples * torch.arange(len(runs))[:, None]
    losses = ensemble.losses(samples.to(backend.device), 0)
    parts = torch.autograd.grad(losses.sum(), ensemble.optimizer.parameters, materialize_grads=True)
    return losses.detach().cpu(), torch.cat([part.reshape(len(runs), -1) for part in parts], dim=1).cpu()
