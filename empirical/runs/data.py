"""Examples for training and evaluation, drawn by counters: equal arguments give equal examples on every machine.

The generator is Philox 4x64 with ten rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011),
which addresses a block of random bits by a key and a counter. The key is (seed, split). The counter has four words:
the first two count the blocks, the third is the scale, the fourth is 0 for samples and VARIED for their filler. So no
two of these streams overlap, and none depends on earlier draws. The third word 0, which is no scale, addresses the
streams that draw the scales and the changes of filler.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import UNDEFINED, Task

TRAIN, TEST, VALIDATION = 0, 1, 2
"""Split of a sample: the second word of the key."""
SAMPLED, VARIED = 0, 1
"""What a stream draws: the fourth word of the counter."""


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Token sequences of one or several scales.

    Attributes:
        tokens: uint8 [count, length], padded on the right with 0 to the longest sequence.
        is_step: bool [count, length], True at generated tokens, False at prompt tokens and padding.
        scales: int64 [count].
    """

    tokens: NDArray[np.uint8]
    is_step: NDArray[np.bool_]
    scales: NDArray[np.int64]

    @property
    def exists(self) -> NDArray[np.bool_]:
        """True where a sample has a step: bool [count, steps of the sample with most]; all samples have one scale."""
        return self.is_step[:, self.is_step.any(axis=0)]


def examples(task: Task, scales: Sequence[int], count: int, *, split: int, seed: int) -> Examples:
    """Draw `count` instances: scales uniformly from `scales`, prompts by the task's distribution at each scale.

    The task's name is not part of the counter: both formats of a task, and tasks with the same prompts, get the same
    instances. A sample is not a prefix of a larger sample with the same counters.

    Args:
        task: task in the wanted format.
        scales: scales to draw from.
        count: number of instances, at least 1.
        split: TRAIN, TEST or VALIDATION.
        seed: seed of the run, below 2**64; evaluations of all runs share seed 0.
    """
    index = stream(split, seed, scale=0).integers(len(scales), size=count)
    drawn_scales = np.asarray(scales, dtype=np.int64)[index]
    rows_of = {scale: np.flatnonzero(drawn_scales == scale) for scale in scales}
    sequences = {
        scale: task.sequences(scale, task.sample_prompts(scale, len(rows), stream(split, seed, scale)))
        for scale, rows in rows_of.items()
        if len(rows)
    }
    length = max(tokens.shape[1] for tokens in sequences.values())
    all_tokens = np.zeros((count, length), dtype=np.uint8)
    is_step = np.zeros((count, length), dtype=np.bool_)
    for scale, tokens in sequences.items():
        width, goes_on = tokens.shape[1], tokens != UNDEFINED
        all_tokens[rows_of[scale], :width] = np.where(goes_on, tokens, 0)
        goes_on[:, [position - 1 for position in task.given(scale)]] = False
        is_step[rows_of[scale], :width] = goes_on
    return Examples(tokens=all_tokens, is_step=is_step, scales=drawn_scales)


def stream(split: int, seed: int, scale: int, drawn: int = SAMPLED) -> np.random.Generator:
    """Random generator of the key (split, seed) and of the last two words of the counter, `scale` and `drawn`."""
    # Arrays of words, because numpy rounds large seeds of a list to floating-point numbers.
    key = np.array([seed, split], dtype=np.uint64)
    counter = np.array([0, 0, scale, drawn], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))
