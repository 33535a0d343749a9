"""Early stopping: each run of an ensemble ends where it has solved its training scales, and no test scale has a say.

At each checkpoint the training scales are measured on samples of a split of their own, VALIDATION. A run ends at the
checkpoint that is the n-th in a row at which every training scale reaches the threshold (n = `stop_when_solved`). Its
weights are kept as they are then. The ensemble goes on with all its models, so that the bits of the others do not
depend on who has ended; the place of an ended model is computed and ignored.

A run that may end early is measured at the test scales once, where it ends. A measurement of them at each checkpoint
would cost more than the training between two checkpoints, and would offer a choice among checkpoints by test scales.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.model.ensemble import Ensemble
from lengthgen.empirical.model.setup import Setup
from lengthgen.empirical.runs.data import VALIDATION
from lengthgen.empirical.runs.run import Run
from lengthgen.empirical.training.evaluation import teacher_forced

KEPT = "kept"
"""Name of the kept weights among the tensors of a state."""


class EarlyStopping:
    """Epochs at which the models of an ensemble end, with the weights they have there.

    Attributes:
        ended: epoch at which each model ended; None while it trains.
    """

    def __init__(self, run: Run, setup: Setup, models: int) -> None:
        """Draw the samples that decide; `run` is any run of the ensemble."""
        self.run, self.setup = run, setup
        # The largest scale first, since it is solved last: while no model solves it, the others are not looked at.
        self.samples = {
            scale: setup.examples([scale], run.evaluation.samples, split=VALIDATION, seed=0)
            for scale in sorted(run.train, reverse=True)
        }
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
        return np.array([epoch is None for epoch in self.ended])

    def look(self, ensemble: Ensemble, epoch: int, losses_M: NDArray[np.float64]) -> None:
        """Measure the training scales at a checkpoint; keep the weights of each model that ends there.

        Args:
            ensemble: the models as they are at the checkpoint.
            epoch: number of finished epochs.
            losses_M: mean training loss of each model over the epoch that ended.
        """
        numbers = ensemble.optimizer.numbers.detach()
        if self.kept is None:
            self.kept = torch.zeros_like(numbers)
        solved = self._solved(ensemble)
        for model in np.flatnonzero(self.running):
            self.in_a_row[model] = self.in_a_row[model] + 1 if solved[model] else 0
            last = epoch == self.run.training.epochs
            if last or self.in_a_row[model] == self.run.training.stop_when_solved:
                self.ended[model] = epoch
                self.losses[model] = float(losses_M[model])
                self.kept[model] = numbers[model]

    def restore_weights(self, ensemble: Ensemble) -> None:
        """Give every model of an ensemble the weights with which it ended; all have ended."""
        assert self.kept is not None
        with torch.no_grad():
            ensemble.optimizer.numbers.copy_(self.kept)

    def progress(self, models: slice) -> dict[str, Any]:
        """Counts, epochs and losses of some models, as JSON."""
        return {"in_a_row": self.in_a_row[models], "ended": self.ended[models], "losses": self.losses[models]}

    def tensors(self) -> dict[str, Tensor]:
        """Kept weights by name, with the models first; none before the first checkpoint."""
        return {} if self.kept is None else {KEPT: self.kept}

    def load(self, progress: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Resume from `progress` and `tensors`, which are taken out of the given ones.

        Raises:
            KeyError, TypeError: they are not those of an early stopping.
        """
        self.in_a_row = [int(count) for count in progress["in_a_row"]]
        self.ended = [None if epoch is None else int(epoch) for epoch in progress["ended"]]
        self.losses = [float(loss) for loss in progress["losses"]]
        kept = tensors.pop(KEPT, None)
        self.kept = None if kept is None else kept.to(self.setup.geometry.device)

    def _solved(self, ensemble: Ensemble) -> NDArray[np.bool_]:
        """True for each model that still trains and reaches the threshold at every training scale: bool [M]."""
        ensemble.decoder.eval()
        solved = self.running
        for data in self.samples.values():
            if not solved.any():
                break
            # Another seed than that of the tests, so that drawn positions differ from theirs too.
            right_MBJ = teacher_forced(ensemble.decoder, self.setup.geometry, data, seed=VALIDATION)
            solved &= right_MBJ.all(axis=2).mean(axis=1) >= self.run.evaluation.threshold
        return solved
