"""Samples for training and evaluation, drawn by counters: equal arguments give equal samples on every machine.

The generator is Philox 4x64 with ten rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011),
which addresses a block of random bits by a key and a counter. The key is (seed, split). The counter has four words:
the first two count the blocks, the third is the scale, the fourth is 0 for samples and VARIED for their filler. So no
two of these streams overlap, and none depends on earlier draws. The third word 0, which is no scale, addresses the
streams that draw the scales and the changes of filler.

In the filled format (`circuits.formats`) each filler is drawn by itself, and all samples are equally long. So training
shows no long operand, no end of an operand where a longer one has it, and each step after as many keys as possible.
Some models fail on long samples for that alone (docs/results/filled-addition). Two settings of `Training` change this,
and neither changes a step or the label of a key: `prompts_as_filler` and `leave_out`. A third, `fill_padding`, is for
the padded format: it shows digits in training where otherwise only larger scales have them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.formats import CLOSING, PAD, FilledTask
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.empirical.experiment.protocol import Training
from lengthgen.infrastructure.settings import ProfileError

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


def require_filler(training: Training, task: Task, train: Sequence[int], largest_scale: int) -> None:
    """Raise ProfileError if settings of filler or padding do not suit a task, or the scales that it is trained on."""
    if training.fill_padding is not None:
        _require_padding(training, task, train, largest_scale)
    if training.prompts_as_filler is None and training.leave_out is None:
        return
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


def _require_padding(training: Training, task: Task, train: Sequence[int], largest_scale: int) -> None:
    """Raise ProfileError unless a task has padding that `fill_padding` can fill."""
    if isinstance(task, FilledTask) or PAD not in task.alphabet:
        raise ProfileError(
            "training.fill_padding is about padding, which only the aligned format has: "
            f"'{task.name}' has none; leave it out, or train it in a protocol of its own"
        )
    reach = training.fill_padding_to or largest_scale
    if not max(train) < reach <= largest_scale:
        raise ProfileError(
            f"training.fill_padding_to = {reach}: padding is filled as at a scale beyond those of training (to "
            f"{max(train)}), up to the largest, {largest_scale}"
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


def with_filled_padding(data: Examples, task: Task, *, reach: int, share: float, seed: int) -> Examples:
    """Return training samples of a padded task, some of them with symbols in place of padding.

    A PAD gets a symbol that its place may hold at scale `reach`, drawn uniformly; the two PADs that close an operand
    stay. No step reads what is changed, so that the right outputs stay as they are.
    """
    draw = stream(TRAIN, seed, 0, VARIED)
    changed = draw.random(len(data.tokens)) < share
    tokens = data.tokens.copy()
    for scale in np.unique(data.scales).tolist():
        rows = np.flatnonzero(changed & (data.scales == scale))
        for place, symbols in _paddings(task, scale, reach).items():
            tokens[rows, place - 1] = np.array(symbols, dtype=np.uint8)[draw.integers(len(symbols), size=len(rows))]
    return replace(data, tokens=tokens)


def _paddings(task: Task, scale: int, reach: int) -> dict[int, tuple[int, ...]]:
    """Places of padding at a scale that are none at scale `reach`, without those that close operands: symbols there."""
    only_pad = (task.alphabet.index(PAD),)
    given, larger = task.given(scale), task.given(reach)
    return {
        place: larger[place]
        for place in given
        if larger.get(place, only_pad) != only_pad
        and all(given.get(before) == only_pad for before in range(place - CLOSING, place + 1))
    }


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
