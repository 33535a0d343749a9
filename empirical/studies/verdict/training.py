"""Training of many small models of different tasks together, each until it solves its training scales.

A run ends at the second of two consecutive checks at which it solves every training scale, on samples of its own that
are neither trained on nor tested, or after its last step.  So no test scale decides when training ends.  Models that
ended are left out of the next steps, which changes nothing for the others.

Shapes: M models, N scales, P parameters of a model.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.loop import train
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST, VALIDATION, Examples
from lengthgen.empirical.experiment.stopping import EarlyStopping
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.model.decoder import Decoder
from lengthgen.empirical.model.geometry import Geometry
from lengthgen.empirical.model.optimizer import hold
from lengthgen.empirical.studies.verdict.preregistration import Check, Testing


@dataclass(frozen=True, kw_only=True)
class TrainedModels:
    """Models that were trained together, any of which can be tested at a scale.

    Attributes:
        decoder, geometry: those of all models; `held` gives the decoder the parameters of some.
        setups: setup of each model.
        numbers_MP: parameters of each model, float32 [M, P].
        steps: number of training steps of each, int64 [M].
        solved: True for each that ended because it solved its training scales, bool [M].
        losses: mean cross-entropy of the last step of each, in nats per generated token, float64 [M].
    """

    decoder: Decoder
    geometry: Geometry
    setups: tuple[Setup, ...]
    numbers_MP: Tensor
    steps: NDArray[np.int64]
    solved: NDArray[np.bool_]
    losses: NDArray[np.float64]

    def tested(self, test: Testing) -> NDArray[np.float64]:
        """Share of test samples that each model generates without an error at each test scale, float64 [M, N].

        NaN at scales that were not tested, because the scales before them had failed.
        """
        scales, count = self.setups[0].run.test, len(self.setups)
        exact_match = np.full((count, len(scales)), np.nan)
        failures, near = np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.bool_)
        for column, scale in enumerate(scales):
            models = np.flatnonzero(failures < test.failures)
            shares = self.exact_match(models, scale, test.samples)
            exact_match[models, column] = shares
            failures[models] = np.where(shares < test.threshold, failures[models] + 1, 0)
            near[models] &= shares >= test.near
        near &= ~np.isnan(exact_match).any(axis=1)
        for column, scale in enumerate(scales):
            models = np.flatnonzero(near & (exact_match[:, column] <= test.sure))
            exact_match[models, column] = self.exact_match(models, scale, test.samples_near)
        return exact_match

    def exact_match(self, models: NDArray[np.int64], scale: int, samples: int) -> NDArray[np.float64]:
        """Share of samples that each of these models generates without an error, float64 [models]."""
        if not len(models):
            return np.empty(0)
        right_MBJ = teacher_forced(*self.held(models), self.examples(models, scale, samples))
        return right_MBJ.all(axis=2).mean(axis=1)

    def held(self, models: NDArray[np.int64]) -> tuple[Decoder, Geometry]:
        """Return the decoder with the parameters of these models, for use until the next call, and their geometry."""
        hold(self.decoder, self.numbers_MP[models])
        self.decoder.encoding.models = len(models)
        return self.decoder.eval(), self.geometry.of_models(models.tolist())

    def examples(self, models: NDArray[np.int64], scale: int, samples: int) -> list[Examples]:
        """Return test samples of a scale for each of these models; models of one setup share theirs."""
        setups = [self.setups[model] for model in models]
        distinct = {id(setup): setup for setup in setups}
        drawn = {key: setup.examples([scale], samples, split=TEST, seed=0) for key, setup in distinct.items()}
        return [drawn[id(setup)] for setup in setups]


def train_models(runs: Sequence[Run], setups: Sequence[Setup], check: Check) -> TrainedModels:
    """Train runs together, each to its end; the result of each run is that of the run alone, up to rounding.

    Args:
        runs: runs with the same encoding, model, training and scales.
        setups: setup of each run; tasks may differ, the lengths of their sequences may not.
        check: when training ends.

    Raises:
        ValueError: the sequences of the tasks have different lengths.
    """
    ensemble = Ensemble(runs, setups, CPU, shuffled=False)
    decoder, geometry, total = copy.deepcopy(ensemble.decoder), ensemble.geometry, runs[0].training.steps
    samples = [
        [
            setup.examples([scale], check.samples, split=VALIDATION, seed=run.seed)
            for run, setup in zip(runs, setups, strict=True)
        ]
        for scale in reversed(runs[0].train)
    ]
    stopping = EarlyStopping(samples, len(runs), times=check.times, threshold=check.threshold, last=total)
    for step, losses_M in enumerate(train(ensemble, range(total)), 1):
        if step % check.every == 0 or step == total:
            stopping.look(ensemble, step, losses_M.tolist())
            if stopping.drop_ended(ensemble):
                break
    assert stopping.kept is not None
    return TrainedModels(
        decoder=decoder,
        geometry=geometry,
        setups=tuple(setups),
        numbers_MP=stopping.kept,
        steps=np.array(stopping.ended, dtype=np.int64),
        solved=np.array(stopping.in_a_row) >= check.times,
        losses=np.array(stopping.losses),
    )
