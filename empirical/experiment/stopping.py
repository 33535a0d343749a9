"""Early stopping: each model of an ensemble ends where it has solved its training scales; no test scale has a say.

At each check the training scales are measured on samples of a split of their own, VALIDATION. A model ends at the check
that is the n-th in a row at which every training scale reaches the threshold. Its weights are kept as they are then.

The runs of a store may end early (`train.py`), and are then measured at the test scales once, where they end. A
measurement at each checkpoint would cost more than the training between two checkpoints, and would offer a choice among
checkpoints by test scales. There an ensemble goes on with all its models, so that the bits of the others do not depend
on who has ended.
"""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.experiment.ensemble import Ensemble
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.samples import Examples

KEPT = "kept"
"""Name of the kept weights among the tensors of a state."""


class EarlyStopping:
    """Places at which the models of an ensemble end, with the weights they have there.

    Attributes:
        ended: epoch or step at which each model ended; None while it trains.
        in_a_row: number of last checks at which each model solved its training scales.
        losses: training loss of each model where it ended.
        kept: weights of the models that ended, [M, numbers]; None before the first check.
    """

    def __init__(
        self,
        samples: Sequence[Examples | Sequence[Examples]],
        models: int,
        *,
        times: int,
        threshold: float,
        last: int,
        seed: int = 0,
    ) -> None:
        """Begin with models none of which has ended.

        Args:
            samples: samples of each training scale, for all models or for each. The scale that is solved last comes
                first: while no model solves it, the others are not looked at.
            models: number of models.
            times: checks in a row at which a model that ends solves every training scale.
            threshold: exact match from which on a scale counts as solved.
            last: end of the training, where all models end.
            seed: determines the drawn positions, if positions are drawn.
        """
        self.samples, self.times, self.threshold, self.last, self.seed = samples, times, threshold, last, seed
        self.begin(models)

    def begin(self, models: int) -> None:
        """Forget everything: no model has ended or solved anything."""
        self.in_a_row = [0] * models
        self.ended: list[int | None] = [None] * models
        self.losses = [0.0] * models
        self.kept: Tensor | None = None

    @property
    def running(self) -> NDArray[np.bool_]:
        """True for each model that has not ended: bool [M]."""
        return np.array([place is None for place in self.ended])

    def look(self, ensemble: Ensemble, place: int, losses: Sequence[float] | NDArray[np.float64]) -> None:
        """Measure the training scales; keep the weights of each model that ends here, or whose loss is not finite.

        Args:
            ensemble: the models as they are now.
            place: number of finished epochs or steps.
            losses: training loss of each model of the ensemble.
        """
        numbers = ensemble.optimizer.numbers.detach()
        if self.kept is None:
            self.kept = torch.zeros_like(numbers)
        solved = self._solved(ensemble)
        for model in np.flatnonzero(self.running).tolist():
            self.in_a_row[model] = self.in_a_row[model] + 1 if solved[model] else 0
            if place == self.last or self.in_a_row[model] >= self.times or not math.isfinite(losses[model]):
                self.ended[model], self.losses[model] = place, float(losses[model])
                self.kept[model] = numbers[model]

    def only(self, members: Sequence[int]) -> Self:
        """Return the stopping of some of the models, as they are now; there are samples for each model."""
        samples = [
            [of_scale[member] for member in members] for of_scale in self.samples if not isinstance(of_scale, Examples)
        ]
        others = type(self)(
            samples, len(members), times=self.times, threshold=self.threshold, last=self.last, seed=self.seed
        )
        others.in_a_row = [self.in_a_row[member] for member in members]
        return others

    def take(self, others: Self, members: Sequence[int]) -> None:
        """Take over where some of the models ended, and their weights, from the stopping that saw them end."""
        assert self.kept is not None and others.kept is not None
        for place, member in enumerate(members):
            self.in_a_row[member], self.ended[member] = others.in_a_row[place], others.ended[place]
            self.losses[member], self.kept[member] = others.losses[place], others.kept[place]

    def restore_weights(self, ensemble: Ensemble) -> None:
        """Give every model of an ensemble the weights with which it ended; all have ended."""
        assert self.kept is not None
        with torch.no_grad():
            ensemble.optimizer.numbers.copy_(self.kept)

    def progress(self, models: slice) -> dict[str, Any]:
        """Counts, ends and losses of some models, as JSON."""
        return {"in_a_row": self.in_a_row[models], "ended": self.ended[models], "losses": self.losses[models]}

    def tensors(self) -> dict[str, Tensor]:
        """Kept weights by name, with the models first; none before the first check."""
        return {} if self.kept is None else {KEPT: self.kept}

    def load(self, progress: dict[str, Any], tensors: dict[str, Tensor], device: str) -> None:
        """Resume from `progress` and `tensors`, which are taken out of the given ones.

        Raises:
            KeyError, TypeError: they are not those of an early stopping.
        """
        self.in_a_row = [int(count) for count in progress["in_a_row"]]
        self.ended = [None if epoch is None else int(epoch) for epoch in progress["ended"]]
        self.losses = [float(loss) for loss in progress["losses"]]
        kept = tensors.pop(KEPT, None)
        self.kept = None if kept is None else kept.to(device)

    def _solved(self, ensemble: Ensemble) -> NDArray[np.bool_]:
        """True for each model of the ensemble that still trains and solves every training scale."""
        ensemble.decoder.eval()
        solved = self.running
        for data in self.samples:
            if not solved.any():
                break
            right_MBJ = teacher_forced(ensemble.decoder, ensemble.geometry, data, seed=self.seed)
            solved &= right_MBJ.all(axis=2).mean(axis=1) >= self.threshold
        return solved
