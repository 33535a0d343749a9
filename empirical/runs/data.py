"""Examples for training and evaluation, drawn by counters: the same call gives the same examples, wherever it is made.

The generator is Philox 4x64 of ten rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011),
which numbers a block of random bits by a key and a counter. The key is (seed, split); of the counter's four words
the third is the scale, the fourth is 0, and the first two count the blocks. So no two of these streams
meet, and none depends on what was drawn before. The third word 0, which is no scale, is the stream of the scales.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuits.task import Task, Tokens

TRAIN, TEST = 0, 1
"""Which split a sample belongs to: the second word of the key."""


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

    The task's name is no counter: both formats of a task, and tasks with the same prompts, get the same instances.
    A sample is no prefix of a larger one with the same counters.

    Args:
        task: in the format wanted.
        scales: the scales to draw from.
        count: how many, at least 1.
        split: TRAIN or TEST.
        seed: the run's seed, below 2**64; evaluations of all runs share seed 0.
    """
    index = _stream(split, seed, scale=0).integers(len(scales), size=count)
    drawn = np.asarray(scales, dtype=np.int64)[index]
    rows_of = {scale: np.flatnonzero(drawn == scale) for scale in scales}
    sequences = {
        scale: _sequences(task, scale, len(rows), _stream(split, seed, scale))
        for scale, rows in rows_of.items()
        if len(rows)
    }
    length = max(tokens.shape[1] for tokens, _ in sequences.values())
    all_tokens = np.zeros((count, length), dtype=np.uint8)
    is_step = np.zeros((count, length), dtype=np.bool_)
    for scale, (tokens, prompt_length) in sequences.items():
        all_tokens[rows_of[scale], : tokens.shape[1]] = tokens
        is_step[rows_of[scale], prompt_length : tokens.shape[1]] = True
    return Examples(tokens=all_tokens, is_step=is_step, scales=drawn)


def _stream(split: int, seed: int, scale: int) -> np.random.Generator:
    # As arrays of words: in a list, numpy rounds large seeds to floating point numbers.
    key = np.array([seed, split], dtype=np.uint64)
    counter = np.array([0, 0, scale, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def _sequences(task: Task, scale: int, count: int, rng: np.random.Generator) -> tuple[Tokens, int]:
    """Instances of one scale, uint8 [count, length], and the length of their prompts."""
    prompts = task.sample_prompts(scale, count, rng)
    return np.concatenate([prompts, task.outputs(prompts)], axis=1), prompts.shape[1]
