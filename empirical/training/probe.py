"""Are runs trained faster together or one after the other? Measured once per machine, then read from a cache.

The last bits of a run's numbers may depend on how many runs are trained together. Because one machine decides once
for runs of one shape, a repeated training gives the same bits.
"""

import platform
from collections.abc import Sequence
from contextlib import nullcontext
from time import perf_counter

import torch

from lengthgen.empirical.model.backend import Backend
from lengthgen.empirical.model.ensemble import Ensemble
from lengthgen.empirical.model.setup import Setup
from lengthgen.empirical.runs.run import Run
from lengthgen.infrastructure.cache import UserCached, can_keep
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.files import locked, seal, user_cache
from lengthgen.infrastructure.shapes import NUMBER, record

STEPS = 3
"""Timed steps of each kind."""


def seconds_of_step(runs: Sequence[Run], setup: Setup, backend: Backend) -> dict[str, float]:
    """Seconds of a training step of the first run alone ("alone") and of all ("together"), for runs of one group."""
    run = runs[0]
    shape = [run.encoding, setup.geometry.length, run.training.batch, str(run.model), len(runs), list(run.train)]
    inputs = [shape, str(run.task), backend.device, backend.compiled, platform.node()]
    path = user_cache("probes") / f"{seal(inputs)[:16]}.json"
    entry = UserCached(path=path, code=source_digest("empirical"), inputs=inputs)
    parts = {"alone": runs[:1], "together": runs}
    waits = locked(path.with_suffix(".lock"), "measures the time of a training step")
    with waits if can_keep(path.parent) else nullcontext():
        seconds: dict[str, float] = entry.computed(
            lambda: {kind: _seconds(Ensemble(part, setup, backend)) for kind, part in parts.items()},
            record(**dict.fromkeys(parts, NUMBER)),
        )
    return seconds


def _seconds(ensemble: Ensemble) -> float:
    """Shortest time of a step, after one step to warm up."""
    training = ensemble.runs[0].training
    first = training.samples * torch.arange(len(ensemble.runs), device=ensemble.tokens.device)[:, None]
    samples = first + torch.arange(training.batch, device=ensemble.tokens.device)
    times = []
    for _ in range(1 + STEPS):
        start = perf_counter()
        ensemble.step(samples, 0)
        times.append(perf_counter() - start)
    return min(times[1:])
