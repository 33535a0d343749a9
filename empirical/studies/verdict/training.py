"""Training of many small models of different tasks together, each until it solves its training scales.

A run ends at the second of two consecutive checks at which it solves every training scale, on samples of its own that
are neither trained on nor tested, or after its last step.  So no test scale decides when training ends.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.loop import train
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST, VALIDATION
from lengthgen.empirical.experiment.stopping import EarlyStopping
from lengthgen.empirical.model.backend import CPU
from lengthgen.empirical.studies.verdict.preregistration import Check, Testing


def train_models(runs: Sequence[Run], setups: Sequence[Setup], check: Check) -> tuple[Ensemble, EarlyStopping]:
    """Train runs together, each to its end; return the models as they ended, and where each did.

    The result of each run is that of the run alone, up to rounding. The runs have the same encoding, model, training
    and scales; their tasks may differ, the lengths of their sequences may not.
    """
    ensemble, total = Ensemble(runs, setups, CPU, shuffled=False), runs[0].training.steps
    samples = [
        [
            setup.examples([scale], check.samples, split=VALIDATION, seed=run.seed)
            for run, setup in zip(runs, setups, strict=True)
        ]
        for scale in reversed(runs[0].train)
    ]
    stopping = EarlyStopping(samples, len(runs), times=check.times, threshold=check.threshold, last=total)
    _train(ensemble, stopping, 0, check)
    stopping.restore_weights(ensemble)
    return ensemble, stopping


def _train(ensemble: Ensemble, stopping: EarlyStopping, start: int, check: Check) -> None:
    """Train from a step on until all models have ended; once half of them have, the others go on alone."""
    total = ensemble.runs[0].training.steps
    for step, losses_M in enumerate(train(ensemble, range(start, total)), start + 1):
        if step % check.every and step != total:
            continue
        stopping.look(ensemble, step, losses_M.tolist())
        members = np.flatnonzero(stopping.running).tolist()
        if not members:
            return
        if 2 * len(members) <= len(ensemble.runs) and (others := _only(ensemble, members)):
            their_stopping = stopping.only(members)
            _train(others, their_stopping, step, check)
            stopping.take(their_stopping, members)
            return


def _only(ensemble: Ensemble, members: Sequence[int]) -> Ensemble | None:
    """Return an ensemble of some of the models as they are now; None if the largest tables are those of the others."""
    others = Ensemble(
        [ensemble.runs[member] for member in members],
        [ensemble.setups[member] for member in members],
        CPU,
        shuffled=ensemble.shuffled,
    )
    shapes = [[numbers.shape[1:] for numbers in each.decoder.parameters()] for each in (ensemble, others)]
    if shapes[0] != shapes[1]:
        return None
    others.load({name: value[members] if value.dim() else value for name, value in ensemble.state().items()})
    return others


def exact_match_by_scale(ensemble: Ensemble, test: Testing) -> NDArray[np.float64]:
    """Share of test samples that each model generates without an error at each test scale, float64 [M, scales].

    NaN at scales that were not tested, because the scales before them had failed.
    """
    scales = ensemble.runs[0].test
    shares = np.full((len(ensemble.runs), len(scales)), np.nan)
    failures = np.zeros(len(ensemble.runs), dtype=np.int64)
    for column, scale in enumerate(scales):
        goes_on = failures < test.failures
        if goes_on.any():
            shares[goes_on, column] = exact_match(ensemble, scale, test.samples)[goes_on]
            failures = np.where(shares[:, column] < test.threshold, failures + 1, np.where(goes_on, 0, failures))
    near = (shares >= test.near).all(axis=1)
    for column, scale in enumerate(scales):
        again = near & (shares[:, column] <= test.sure)
        if again.any():
            shares[again, column] = exact_match(ensemble, scale, test.samples_near)[again]
    return shares


def exact_match(ensemble: Ensemble, scale: int, samples: int) -> NDArray[np.float64]:
    """Share of test samples of a scale that each model generates without an error, float64 [M]."""
    distinct = {id(setup): setup for setup in ensemble.setups}  # models of one setup share their samples
    drawn = {key: setup.examples([scale], samples, split=TEST, seed=0) for key, setup in distinct.items()}
    data = [drawn[id(setup)] for setup in ensemble.setups]
    return teacher_forced(ensemble.decoder.eval(), ensemble.geometry, data).all(axis=2).mean(axis=1)
