"""Ensemble: runs trained side by side with data, models and optimiser on one model axis.

The runs differ in their seed, or also in their task if its sequences have the same lengths.

Shapes: M runs, N samples of a training set, B samples of a batch, L length, T steps of an epoch.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.model.mapped import MappedEncoding, stack_models
from lengthgen.empirical.model.optimizer import ModelwiseAdamW
from lengthgen.empirical.model.setup import Setup
from lengthgen.empirical.runs.data import TRAIN, Examples
from lengthgen.empirical.runs.filler import left_out
from lengthgen.empirical.runs.run import Run


class Ensemble:
    """Models of runs, with their training sets and their optimiser."""

    def __init__(self, runs: Sequence[Run], setups: Setup | Sequence[Setup], backend: Backend) -> None:
        """Draw each model and training set from its run's seed, exactly as for that run alone.

        Args:
            runs: runs with the same encoding, model, training and scales.
            setups: setup of all runs, or the setup of each.
            backend: device and compilation.

        Raises:
            ValueError: the sequences of the tasks have different lengths.
        """
        self.runs = tuple(runs)
        self.setups = [setups] * len(runs) if isinstance(setups, Setup) else list(setups)
        self.geometry = Geometry.joined([setup.geometry for setup in self.setups])
        device = backend.device
        run = runs[0]
        self.train_sets = [
            setup.examples(run.train, run.training.samples, split=TRAIN, seed=member.seed)
            for member, setup in zip(self.runs, self.setups, strict=True)
        ]
        traces = [setup.analysis.traces[scale - 1] for setup in self.setups for scale in run.train]
        self.first_query = min(trace.steps[0] for trace in traces) - 2
        self.decoder = stack_models(list(map(_initial_model, self.runs, self.setups))).to(device)
        self.forward = backend.forward_of(self.decoder)
        self.optimizer = ModelwiseAdamW(self.decoder, run.training)
        length = max(trace.length for trace in traces)
        self.tokens, self.is_step = (
            torch.from_numpy(_stack_arrays(self.train_sets, name, length)).flatten(0, 1).to(device)
            for name in ("tokens", "is_step")
        )
        rows = np.concatenate([self.geometry.rows(data.scales) for data in self.train_sets])
        self.rows = torch.from_numpy(rows).to(device)
        self.scales = torch.from_numpy(np.concatenate([data.scales for data in self.train_sets])).to(device)

    def epoch(self, number: int) -> NDArray[np.float64]:
        """Train one pass over each training set, shuffled by (seed, epoch); return the losses [T, M]."""
        training = self.runs[0].training
        steps = training.samples // training.batch
        first = training.samples * np.arange(len(self.runs))[:, None]
        orders = [np.random.default_rng([run.seed, number]).permutation(training.samples) for run in self.runs]
        batches = torch.from_numpy((np.stack(orders) + first).reshape(len(self.runs), steps, -1)).to(self.tokens.device)
        self.decoder.train()
        step_losses = []
        for step in range(steps):
            training_step = number * steps + step
            decay = 0.5 * (1 + math.cos(math.pi * training_step / (training.epochs * steps)))
            self.optimizer.set_rate(training.learning_rate * decay)
            step_losses.append(self.step(batches[:, step], training_step))
        return torch.stack(step_losses).double().cpu().numpy()

    def step(self, samples_MB: Tensor, step: int) -> Tensor:
        """Make one training step on these samples; return the cross-entropy of each model before it, [M].

        The encoding's auxiliary loss is trained too, but only shows in the answer if it is not finite.
        """
        losses = self.losses(samples_MB, step)
        if not self.decoder.encoding.has_auxiliary_loss:
            self.optimizer.step(losses)
            return losses.detach()
        auxiliary = self.auxiliary_losses(step)
        self.optimizer.step(losses + auxiliary)
        return losses.detach() + 0 * auxiliary.detach()

    def auxiliary_losses(self, step: int) -> Tensor:
        """Auxiliary loss of each model's encoding at a training step: [M]."""
        training = self.runs[0].training
        counters = [(run.seed, TRAIN, step) for run in self.runs]
        positions = self.geometry.positions(self.tokens.shape[-1] - 1, counters)
        progress = step / (training.epochs * (training.samples // training.batch))
        return auxiliary_losses(self.decoder.encoding, positions, counters, progress)

    def losses(self, samples_MB: Tensor, step: int) -> Tensor:
        """Mean cross-entropy of each model over the generated tokens of its samples: [M], in nats per token.

        Args:
            samples_MB: int64 indices of the samples, counted through all training sets.
            step: training step; it determines the drawn positions, if positions are drawn.
        """
        geometry, first = self.geometry, left_out(self.runs[0].training, step)
        tokens = self.tokens[samples_MB].long()
        positions = geometry.positions(tokens.shape[-1] - 1, [(run.seed, TRAIN, step) for run in self.runs])
        labels = geometry.labels(self.rows[samples_MB], positions)
        logits = self.forward(
            tokens[..., first:-1],
            first_query=self.first_query - first,
            positions=positions[..., first:],
            labels=None if labels is None else labels[..., first:, first:],
            scales_MB=self.scales[samples_MB],
        )
        is_step = self.is_step[samples_MB][..., self.first_query + 1 :]
        targets = tokens[..., self.first_query + 1 :]
        token_losses = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none").view_as(targets)
        return (token_losses * is_step).sum((1, 2)) / is_step.sum((1, 2))

    def weights(self, model: int) -> dict[str, Tensor]:
        """Weights of one model by name, without the model axis."""
        return {name: value[model].contiguous() for name, value in self.decoder.state_dict().items()}

    def state(self) -> dict[str, Tensor]:
        """Tensors from which training resumes; axis 0 of each non-scalar is that of the models."""
        return {"numbers": self.optimizer.numbers.detach()} | self.optimizer.state()

    def load(self, state: dict[str, Tensor]) -> None:
        """Resume from a `state`.

        Raises:
            KeyError, RuntimeError, ValueError: the state belongs to other models.
        """
        with torch.no_grad():
            self.optimizer.numbers.copy_(state.pop("numbers"))
        self.optimizer.load(state)

    def keep(self, models: Sequence[int]) -> None:
        """Go on with some of the models only, by number; their next steps are the same as with the others."""
        samples = self.runs[0].training.samples
        rows = torch.as_tensor(models)[:, None] * samples + torch.arange(samples)
        self.runs = tuple(self.runs[model] for model in models)
        self.setups = [self.setups[model] for model in models]
        self.train_sets = [self.train_sets[model] for model in models]
        self.geometry = self.geometry.of_models(models)
        for name in ("tokens", "is_step", "rows", "scales"):
            setattr(self, name, getattr(self, name)[rows.flatten()])
        self.optimizer.keep(models)
        self.decoder.encoding.models = len(models)


def _initial_model(run: Run, setup: Setup) -> Decoder:
    """Make the initial model of a run."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        return Decoder(symbols=len(setup.task.alphabet), encoding=setup.encoding(), **asdict(run.model))


def auxiliary_losses(
    encoding: MappedEncoding, positions: Tensor, counters: Sequence[tuple[int, ...]], progress: float
) -> Tensor:
    """Auxiliary loss of each model, [M], with random numbers that its counter determines.

    Args:
        encoding: encoding of M models.
        positions: int64 [L], or [M, L] if they are drawn.
        counters: (seed, split, step) of each model.
        progress: share of the training that is done.
    """
    # A fourth counter, because the first three alone seed the drawn positions.
    numbers = [np.random.default_rng([*counter, 1]).random(encoding.shared.auxiliary_numbers) for counter in counters]
    return encoding.auxiliary_losses(positions, torch.from_numpy(np.stack(numbers)).to(positions.device), progress)


def _stack_arrays(sets: Sequence[Examples], name: str, length: int) -> NDArray[Any]:
    """Stack one array of every training set, padded on the right: [M, N, length]."""
    arrays = [getattr(train_set, name) for train_set in sets]
    return np.stack([np.pad(array, ((0, 0), (0, length - array.shape[1]))) for array in arrays])
