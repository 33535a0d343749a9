"""Filler of training samples that differs in kind and in amount, so that steps also meet what long samples hold.

In the filled format (`lengthgen.circuits.formats`) each filler is drawn by itself, and all samples are equally long. So
training shows no long operand, no end of an operand where a longer one has it, and each step after as many keys as
possible. Some models fail on long samples for that alone (docs/results/filled-addition). Two settings of `Training`
change this, and neither changes a step or the label of a key: `prompts_as_filler` and `leave_out`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.formats import FilledTask
from lengthgen.circuits.task import Task
from lengthgen.empirical.runs.data import TRAIN, VARIED, Examples, stream
from lengthgen.empirical.runs.profile import ProfileError, Training


def require_filler(training: Training, task: Task, train: Sequence[int]) -> None:
    """Raise ProfileError if settings of filler do not suit a task, or the scales that it is trained on."""
    if not isinstance(task, FilledTask):
        raise ProfileError(
            "training.prompts_as_filler and training.leave_out are about filler, which only the filled format has: "
            f"'{task.name}' has none; leave them out, or train it in a protocol of its own"
        )
    first = fillers_before(task, train)
    if training.leave_out and training.leave_out > first:
        raise ProfileError(
            f"training.leave_out = {training.leave_out}: some samples of '{task.name}' begin with {first} fillers; "
            f"leave out at most {first}"
        )


def fillers_before(task: FilledTask, scales: Sequence[int]) -> int:
    """Number of fillers with which a sample of each of some scales begins, at least."""
    return min(task.place(scale, 1) - 1 for scale in scales)


def with_prompts_as_filler(
    data: Examples, task: FilledTask, *, largest_scale: int, share: float, seed: int
) -> Examples:
    """Return training samples, some of them with filler that is cut out of prompts.

    The prompts, as many of each scale up to the largest, stand in random order one after the other, without filler. A
    sample's filler is the next piece of this text, so that none is met twice.

    Args:
        data: samples of a run.
        task: the task that they are of.
        largest_scale: largest scale of the prompts.
        share: mean share of samples that are changed.
        seed: seed of the run.
    """
    draw = stream(TRAIN, seed, 0, VARIED)
    changed = np.flatnonzero(draw.random(len(data.tokens)) < share)
    places = {scale: _filler_places(task, scale) for scale in np.unique(data.scales).tolist()}
    lengths = np.array([len(places[scale]) for scale in data.scales[changed].tolist()], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    text = _text(task.core, largest_scale, int(lengths.sum()), draw, seed)
    tokens = data.tokens.copy()
    for scale, of_scale in places.items():
        pieces = data.scales[changed] == scale
        tokens[changed[pieces, None], of_scale] = text[starts[pieces, None] + np.arange(len(of_scale))]
    return replace(data, tokens=tokens)


def _filler_places(task: FilledTask, scale: int) -> list[int]:
    """Indices of the filler in a sample of a scale."""
    return [place - 1 for place, fills in zip(task.given(scale), task.is_filler(scale), strict=True) if fills]


def _text(core: Task, largest_scale: int, length: int, draw: np.random.Generator, seed: int) -> NDArray[np.uint8]:
    """Prompts in random order, as many of each scale, with at least `length` tokens."""
    scales = range(1, largest_scale + 1)
    count = math.ceil(length / sum(len(core.given(scale)) for scale in scales)) or 1  # one too where none is changed
    prompts = [row for scale in scales for row in core.sample_prompts(scale, count, stream(TRAIN, seed, scale, VARIED))]
    return np.concatenate([prompts[index] for index in draw.permutation(len(prompts))])


def left_out(training: Training, step: int) -> int:
    """Number of first tokens that a training step leaves out, equal for all runs."""
    if training.leave_out is None:
        return 0
    return int(np.random.default_rng([step, VARIED]).integers(training.leave_out + 1))
