"""Cost of runs before they are trained, measured once per machine and kept in a cache."""

import platform
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from time import perf_counter, process_time

import torch

from lengthgen.circuits.tasks import TaskSpec
from lengthgen.empirical.experiment.ensemble import Ensemble, Setup
from lengthgen.empirical.experiment.evaluation import teacher_forced
from lengthgen.empirical.experiment.loop import train
from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.samples import TEST, TRAIN, examples
from lengthgen.empirical.model.backend import Backend
from lengthgen.infrastructure.cache import UserCached
from lengthgen.infrastructure.digests import source_digest
from lengthgen.infrastructure.files import seal, user_cache
from lengthgen.infrastructure.shapes import NUMBER

STEPS, SAMPLES = 3, 50
"""Numbers of training steps, after one to warm up, and of test samples that are timed."""


def seconds_of_runs(runs: Sequence[Run], backend: Backend) -> float:
    """Estimate the seconds that one core of this machine, or its GPU, needs for all these runs, each trained alone.

    One run of each encoding and model size is timed, the one with the shortest sequences, for a few steps and one test;
    the time of the others is taken to grow as their tokens do. Training in an ensemble, and runs that end early, make
    the true cost smaller.
    """
    tokens = {task: _tokens(task, runs[0].test[-1]) for task in {run.task for run in runs}}
    total = 0.0
    alike = sorted(runs, key=_kind)
    for _, kind in groupby(alike, key=_kind):
        members = list(kind)
        timed = min(members, key=lambda run: tokens[run.task])
        total += _seconds(timed, backend) * sum(tokens[run.task] for run in members) / tokens[timed.task]
    return total


def _kind(run: Run) -> tuple[str, str]:
    """Return what the timed run has in common with others."""
    return run.encoding, str(run.model)


def _tokens(task: TaskSpec, scale: int) -> int:
    """Number of tokens of a sequence at one scale."""
    return int(examples(task.laid_out(scale), [scale], 1, split=TRAIN, seed=0).tokens.shape[1])


def _seconds(run: Run, backend: Backend) -> float:
    """Estimate the seconds of one run; measured once for each shape of run and machine."""
    inputs = [run.config | {"seed": 0}, backend.device, platform.node()]
    name = seal(inputs)[:16]
    entry = UserCached(path=user_cache("costs") / f"{name}.json", code=source_digest("empirical"), inputs=inputs)
    seconds: float = entry.computed(partial(_timed, run, backend), NUMBER)
    return seconds


def _timed(run: Run, backend: Backend) -> float:
    """Time a few steps and a test at the last scale; return the seconds of the whole run."""
    clock = perf_counter if backend.is_cuda else process_time  # on a busy machine a core's own time
    torch.set_num_threads(1)
    setup = Setup.of(run, backend.device)
    ensemble = Ensemble([run], setup, Backend(backend.device))
    test = setup.examples([run.test[-1]], min(SAMPLES, run.evaluation.samples), split=TEST, seed=0)
    steps, tests = [], []
    for _ in range(1 + STEPS):
        begun = clock()
        [losses] = train(ensemble, [0])
        float(losses.sum())  # a number, so that a GPU has finished
        stepped = clock()
        teacher_forced(ensemble.decoder, setup.geometry, test)
        steps.append(stepped - begun)
        tests.append(clock() - stepped)
    training = run.training
    looks = len(run.checkpoints) + 1
    # A run that may end early is looked at on its training scales, and tested once.
    scales = [*run.test, *(run.train * looks if training.stop_when_solved else run.test * (looks - 1))]
    tested = run.evaluation.samples / len(test.tokens) * sum(scale / run.test[-1] for scale in scales)
    return training.steps * min(steps[1:]) + tested * min(tests[1:])
