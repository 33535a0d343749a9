"""Training loop: gradient steps of M models side by side, each step at the rate of a schedule.

Every training of the project is this loop: that of runs, which resumes and may end early (train.py), that of random
tasks together (verdict/training.py), of language models (text/) and of classifiers (modular_addition/).
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from torch import Tensor

from lengthgen.empirical.model.optimizer import ModelwiseAdamW
from lengthgen.infrastructure.errors import LengthgenError


class TrainingError(LengthgenError):
    """Training cannot begin or continue; the message says why in one line."""


class Learner(Protocol):
    """M models with their data."""

    optimizer: ModelwiseAdamW

    def rate(self, step: int) -> float:
        """Learning rate of a step, from 0."""

    def losses_at(self, step: int) -> tuple[Tensor, Tensor | None]:
        """Loss of each model on the data of a step, and the auxiliary loss of its encoding, if it has one: [M] each."""


def train(learner: Learner, steps: Iterable[int]) -> Iterator[Tensor]:
    """Make these training steps; yield the losses of the models before each, [M]."""
    for step in steps:
        learner.optimizer.rate = learner.rate(step)
        yield descend(learner.optimizer, *learner.losses_at(step))


def descend(optimizer: ModelwiseAdamW, losses_M: Tensor, auxiliary_M: Tensor | None = None) -> Tensor:
    """Make one step down the gradient of the losses; return them, [M].

    An auxiliary loss is trained too, but only shows in the answer if it is not finite.
    """
    if auxiliary_M is None:
        optimizer.step(losses_M)
        return losses_M.detach()
    optimizer.step(losses_M + auxiliary_M)
    return losses_M.detach() + 0 * auxiliary_M.detach()


def losses_of_all(learner: Learner, steps: int, seeds: Sequence[int], what: str = "") -> list[list[float]]:
    """Train from the first step to the last; return the losses of each model by step.

    Raises:
        TrainingError: a loss is not finite; the message begins with `what`.
    """
    losses = []
    for step, losses_M in enumerate(train(learner, range(steps))):
        values = losses_M.double().cpu().numpy()
        if not np.isfinite(values).all():
            seed = seeds[int(np.argmin(np.isfinite(values)))]
            raise TrainingError(
                f"{what}the loss of seed {seed} is not finite at step {step + 1}; lower the learning rate"
            )
        losses.append(values.tolist())
    return losses


def cosine(rate: float, step: int, steps: int, *, warm_up: int = 1) -> float:
    """Learning rate that rises to `rate` in the first `warm_up` steps, and falls to 0 by a half cosine over all."""
    decay = 0.5 * (1 + math.cos(math.pi * step / steps))
    return rate * min(1.0, (step + 1) / warm_up) * decay
