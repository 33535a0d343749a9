"""Traces: all tokens of many instances of one scale, from which everything about a task is computed."""

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits.task import Task, Tokens

MAX_EXHAUSTIVE = 20_000
"""Prompts of one scale up to which a trace holds all of them."""
SAMPLE = 4_096
"""About as many prompts a trace holds of a scale that has more."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Positions first..last (1-based) of a prompt: an operand, whose tokens vary, or fixed tokens between operands."""

    first: int
    last: int
    operand: bool

    @property
    def width(self) -> int:
        return self.last - self.first + 1


def segments(task: Task, scale: int) -> tuple[Segment, ...]:
    """The prompt of one scale cut into operands (maximal runs of positions with a choice) and what is between."""
    found = []
    start = 1
    for operand, run in itertools.groupby(task.choices(scale), key=lambda symbols: len(symbols) > 1):
        width = len(list(run))
        found.append(Segment(first=start, last=start + width - 1, operand=operand))
        start += width
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """All tokens of many instances of one scale.

    Attributes:
        scale: n.
        symbols: size of the alphabet; tokens are below it.
        tokens: uint8 [length, inputs], position-major; row p - 1 is position p, prompt and output.
        segments: the prompt, cut into operands and what is between them; the rest are steps.
        near: int64 [pairs, 2], pairs of inputs whose prompts differ in one position only.
        exhaustive: whether the inputs are all prompts of the scale.
        memory: what was found out about the trace and will be asked again.
    """

    scale: int
    symbols: int
    tokens: Tokens
    segments: tuple[Segment, ...]
    near: NDArray[np.int64]
    exhaustive: bool
    memory: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def prompt_length(self) -> int:
        """Positions 1..prompt_length are the prompt."""
        return self.segments[-1].last

    @property
    def length(self) -> int:
        """Positions of the whole sequence."""
        return len(self.tokens)

    @property
    def steps(self) -> range:
        """The generated positions, 1-based. The step at position p is computed at query p - 1."""
        return range(self.prompt_length + 1, self.length + 1)


def trace(task: Task, scale: int) -> Trace:
    """The trace of every prompt of one scale where there are at most MAX_EXHAUSTIVE, else of a sample of them.

    A sample is made of random prompts and all their neighbours at distance one: two inputs that differ little tell
    most about which earlier positions a step needs.

    Raises:
        TaskError: the task breaks its contract.
    """
    choices = task.choices(scale)
    operands = sum(len(symbols) > 1 for symbols in choices)
    count = math.prod(len(symbols) for symbols in choices)
    exhaustive = count <= MAX_EXHAUSTIVE
    task.require_size(count if exhaustive else max(SAMPLE, operands), len(choices))
    if exhaustive:
        prompts, near = task.all_prompts(scale), _near_of_all([len(symbols) for symbols in choices])
    else:
        prompts, near = _sample(task, scale, choices)
    return Trace(
        scale=scale,
        symbols=len(task.alphabet),
        tokens=_tokens(task, prompts),
        segments=segments(task, scale),
        near=near,
        exhaustive=exhaustive,
    )


def extended(task: Task, one: Trace, prompts: Tokens) -> Trace:
    """The trace with more prompts, uint8 [count, prompt length]: those that refuted what the others allowed."""
    return replace(one, tokens=np.concatenate([one.tokens, _tokens(task, prompts)], axis=1), memory={})


def _tokens(task: Task, prompts: Tokens) -> Tokens:
    return np.ascontiguousarray(np.concatenate([prompts, task.outputs(prompts)], axis=1).T)


def _near_of_all(counts: list[int]) -> NDArray[np.int64]:
    """Pairs of rows of the lexicographic list of all prompts that differ in one position, by neighbouring symbols."""
    rows = np.arange(math.prod(counts))
    pairs, stride = [], len(rows)
    for count in counts:
        stride //= count
        first = rows[rows // stride % count < count - 1]
        pairs.append(np.stack([first, first + stride], axis=1))
    return np.concatenate(pairs)


def _sample(task: Task, scale: int, choices: list[tuple[int, ...]]) -> tuple[Tokens, NDArray[np.int64]]:
    """Different prompts, and the pairs of them that were made to differ in one position."""
    rng = np.random.default_rng(scale)
    operands = [position for position, symbols in enumerate(choices) if len(symbols) > 1]
    bases = task.sample_prompts(scale, max(1, SAMPLE // (2 * (1 + len(operands)))), rng)
    near = np.repeat(bases[None], len(operands), axis=0)
    for changed, position in zip(near, operands, strict=True):
        symbols = np.array(choices[position], dtype=np.uint8)
        place = np.searchsorted(symbols, bases[:, position], sorter=np.argsort(symbols))
        other = (place + rng.integers(1, len(symbols), len(bases))) % len(symbols)
        changed[:, position] = np.sort(symbols)[other]
    prompts = np.concatenate([bases, *near, task.sample_prompts(scale, SAMPLE // 2, rng)])
    first = np.tile(np.arange(len(bases)), len(operands))
    pairs = np.stack([first, len(bases) + np.arange(len(first))], axis=1)
    kept, row_of = np.unique(_as_rows(prompts), return_index=True, return_inverse=True)[1:]
    return prompts[kept], row_of.reshape(-1)[pairs]


def _as_rows(prompts: Tokens) -> NDArray[np.void]:
    """Each row as one value, which sorts faster than rows do."""
    return np.ascontiguousarray(prompts).view(np.dtype((np.void, prompts.shape[1]))).reshape(-1)
