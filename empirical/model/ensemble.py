"""Runs that differ in their seed, trained side by side: data, models and optimiser over one model axis.

Shapes: M run, N sample of a training set, B sample of a batch, L length, T step of an epoch.
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

from empirical.model.backend import Backend
from empirical.model.decoder import Decoder, stacked
from empirical.model.optimizer import ModelwiseAdamW
from empirical.model.setup import Setup
from empirical.runs.data import TRAIN, Examples, examples
from empirical.runs.run import Run


class Ensemble:
    """Models of runs of one group, their training sets and their optimiser."""

    def __init__(self, runs: Sequence[Run], setup: Setup, backend: Backend) -> None:
        """Each model starts as it would alone: from its run's seed."""
        self.runs, self.setup = tuple(runs), setup
        device = backend.device
        run = runs[0]
        self.train_sets = [
            examples(setup.task, run.train, run.training.samples, split=TRAIN, seed=one.seed) for one in runs
        ]
        lengths = [setup.analysis.traces[scale - 1] for scale in run.train]
        self.first_query = min(one.prompt_length for one in lengths) - 1
        self.decoder = stacked([self._model(one) for one in runs]).to(device)
        self.forward = backend.forward_of(self.decoder)
        self.optimizer = ModelwiseAdamW(self.decoder, run.training)
        length = max(one.length for one in lengths)
        self.tokens, self.is_step = (
            torch.from_numpy(_stack(self.train_sets, name, length)).flatten(0, 1).to(device)
            for name in ("tokens", "is_step")
        )
        rows = np.concatenate([setup.geometry.rows(data.scales) for data in self.train_sets])
        self.rows = torch.from_numpy(rows).to(device)
        self.scales = torch.from_numpy(np.concatenate([data.scales for data in self.train_sets])).to(device)

    def epoch(self, number: int) -> NDArray[np.float64]:
        """One pass over each training set, in an order drawn from (seed, epoch); the losses [T, M]."""
        training = self.runs[0].training
        steps = training.samples // training.batch
        first = training.samples * np.arange(len(self.runs))[:, None]
        orders = [np.random.default_rng([run.seed, number]).permutation(training.samples) for run in self.runs]
        batches = torch.from_numpy((np.stack(orders) + first).reshape(len(self.runs), steps, -1)).to(self.tokens.device)
        self.decoder.train()
        found = []
        for step in range(steps):
            at = number * steps + step
            rate = 0.5 * (1 + math.cos(math.pi * at / (training.epochs * steps)))
            self.optimizer.set_rate(training.learning_rate * rate)
            losses = self.losses(batches[:, step], at)
            self.optimizer.step(losses)
            found.append(losses.detach())
        return torch.stack(found).double().cpu().numpy()

    def losses(self, samples_MB: Tensor, step: int) -> Tensor:
        """Each model's mean cross-entropy [M] over the generated tokens of its samples.

        Args:
            samples_MB: int64, which samples, counted through all training sets.
            step: of the training, which says which positions are drawn, where they are.
        """
        geometry = self.setup.geometry
        tokens = self.tokens[samples_MB].long()
        positions = geometry.positions(tokens.shape[-1] - 1, [(run.seed, TRAIN, step) for run in self.runs])
        logits = self.forward(
            tokens[..., :-1],
            first_query=self.first_query,
            positions=positions,
            labels=geometry.labels(self.rows[samples_MB], positions),
            scales_MB=self.scales[samples_MB],
        )
        counted = self.is_step[samples_MB][..., self.first_query + 1 :]
        targets = tokens[..., self.first_query + 1 :]
        each = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none").view_as(targets)
        return (each * counted).sum((1, 2)) / counted.sum((1, 2))

    def weights(self, model: int) -> dict[str, Tensor]:
        """The numbers of one model by name, without model axis."""
        return {name: value[model].contiguous() for name, value in self.decoder.state_dict().items()}

    def state(self) -> dict[str, Tensor]:
        """What training goes on from; what has an axis has that of models."""
        return {"numbers": self.optimizer.numbers.detach()} | self.optimizer.state()

    def load(self, state: dict[str, Tensor]) -> None:
        """Goes on from a `state`.

        Raises:
            KeyError, RuntimeError, ValueError: it is none of such models.
        """
        with torch.no_grad():
            self.optimizer.numbers.copy_(state.pop("numbers"))
        self.optimizer.load(state)

    def _model(self, run: Run) -> Decoder:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(run.seed)
            encoding = self.setup.encoding()
            return Decoder(symbols=len(self.setup.task.alphabet), encoding=encoding, **asdict(run.model))


def _stack(sets: Sequence[Examples], name: str, length: int) -> NDArray[Any]:
    """[M, N, length] of one array of every training set, filled on the right."""
    arrays = [getattr(one, name) for one in sets]
    return np.stack([np.pad(array, ((0, 0), (0, length - array.shape[1]))) for array in arrays])
