"""Examples for training and evaluation, drawn by counters: the same (task, split, seed) gives the same examples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuits.task import Task

TRAIN, TEST = 0, 1
"""The first counter: which split a sample belongs to."""


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Token sequences of one or several scales.

    Attributes:
        tokens: uint8 [count, length], filled on the right with 0 where a sequence is shorter than the longest.
        is_step: bool [count, length], True at generated tokens; the others are prompt or filling.
        scales: int64 [count].
    """

    tokens: NDArray[np.uint8]
    is_step: NDArray[np.bool_]
    scales: NDArray[np.int64]


def examples(task: Task, scales: Sequence[int], count: int, *, split: int, seed: int) -> Examples:
    """`count` instances, their scales drawn uniformly from `scales`, their prompts uniformly at each scale.

    Args:
        task: in the format wanted.
        scales: the scales to draw from.
        count: how many.
        split: TRAIN or TEST.
        seed: the run's seed; evaluations of all runs share seed 0.
    """
    drawn = np.random.default_rng([split, seed]).choice(np.asarray(scales), count)
    parts = {int(scale): _of_scale(task, int(scale), int((drawn == scale).sum()), split, seed) for scale in set(drawn)}
    length = max(tokens.shape[1] for tokens, _ in parts.values())
    all_tokens = np.zeros((count, length), dtype=np.uint8)
    is_step = np.zeros((count, length), dtype=np.bool_)
    for scale, (tokens, prompt_length) in parts.items():
        rows = np.flatnonzero(drawn == scale)[:, None]
        all_tokens[rows, np.arange(tokens.shape[1])] = tokens
        is_step[rows, np.arange(prompt_length, tokens.shape[1])] = True
    return Examples(tokens=all_tokens, is_step=is_step, scales=drawn.astype(np.int64))


def _of_scale(task: Task, scale: int, count: int, split: int, seed: int) -> tuple[NDArray[np.uint8], int]:
    prompts = task.sample_prompts(scale, count, np.random.default_rng([split, seed, scale]))
    return np.concatenate([prompts, task.outputs(prompts)], axis=1), prompts.shape[1]
