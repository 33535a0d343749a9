"""Traces: all tokens of many instances of one scale. Every result about a task is computed from its traces."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits.task import Task, Tokens

MAX_EXHAUSTIVE = 20_000
"""Largest number of prompts of one scale for which a trace holds all of them."""
SAMPLE = 4_096
"""Approximate number of prompts in a trace of a scale with more than MAX_EXHAUSTIVE."""


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Positions first..last (1-based) of a prompt: an operand, whose tokens vary, or fixed tokens between operands."""

    first: int
    last: int
    operand: bool

    @property
    def width(self) -> int:
        """Number of positions."""
        return self.last - self.first + 1


def segments(task: Task, scale: int) -> tuple[Segment, ...]:
    """Return the prompt of one scale cut into operands and the parts between.

    Operands are maximal runs of positions with a choice.
    """
    parts = []
    start = 1
    for operand, run in itertools.groupby(task.choices(scale), key=lambda symbols: len(symbols) > 1):
        width = len(list(run))
        parts.append(Segment(first=start, last=start + width - 1, operand=operand))
        start += width
    return tuple(parts)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Tokens of many instances of one scale.

    Attributes:
        scale: the scale n.
        symbols: size of the alphabet; tokens are below it.
        tokens: uint8 [length, inputs], position-major; row p - 1 is position p, prompt and output.
        segments: the prompt, cut into operands and the parts between them; later positions are steps.
        near: int64 [pairs, 2], pairs of inputs whose prompts differ in one position only.
        exhaustive: True if the inputs are all prompts of the scale.
        memory: results about the trace that were computed before, by key.
        memory_of_fewer: memory of the trace that `extended` made this one from; its inputs come first in this one.
    """

    scale: int
    symbols: int
    tokens: Tokens
    segments: tuple[Segment, ...]
    near: NDArray[np.int64]
    exhaustive: bool
    memory: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    memory_of_fewer: Mapping[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def prompt_length(self) -> int:
        """Length of the prompt: positions 1..prompt_length."""
        return self.segments[-1].last

    @property
    def length(self) -> int:
        """Number of positions of the full sequence."""
        return len(self.tokens)

    @property
    def steps(self) -> range:
        """Generated positions, 1-based. The step at position p is computed at query p - 1."""
        return range(self.prompt_length + 1, self.length + 1)


def trace(task: Task, scale: int) -> Trace:
    """Return the trace of every prompt of one scale if there are at most MAX_EXHAUSTIVE, else of a sample of them.

    A sample holds random prompts and all their neighbours at distance one: two inputs that differ little tell most
    about which earlier positions a step needs.

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


def extended(task: Task, base: Trace, prompts: Tokens) -> Trace:
    """Return the trace with more prompts, uint8 [count, prompt length]; they refuted a result of the smaller trace."""
    tokens = np.concatenate([base.tokens, _tokens(task, prompts)], axis=1)
    return replace(base, tokens=tokens, memory={}, memory_of_fewer=base.memory)


def of_prompts(task: Task, like: Trace, prompts: Tokens) -> Trace:
    """Return the trace of these prompts alone, of the scale of another trace, uint8 [count, prompt length]."""
    return replace(like, tokens=_tokens(task, prompts), near=like.near[:0], memory={}, memory_of_fewer={})


def _tokens(task: Task, prompts: Tokens) -> Tokens:
    return np.ascontiguousarray(np.concatenate([prompts, task.outputs(prompts)], axis=1).T)


def _near_of_all(counts: list[int]) -> NDArray[np.int64]:
    """Return the pairs of prompts that differ in one position by neighbouring symbols: int64 [pairs, 2].

    Each entry is a row of the lexicographic list of all prompts.
    """
    rows = np.arange(math.prod(counts))
    pairs, stride = [], len(rows)
    for count in counts:
        stride //= count
        first = rows[rows // stride % count < count - 1]
        pairs.append(np.stack([first, first + stride], axis=1))
    return np.concatenate(pairs)


def _sample(task: Task, scale: int, choices: list[tuple[int, ...]]) -> tuple[Tokens, NDArray[np.int64]]:
    """Return distinct prompts of one scale, and the pairs of them that differ in one position."""
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
    unique_rows, row_of = np.unique(_as_rows(prompts), return_index=True, return_inverse=True)[1:]
    return prompts[unique_rows], row_of.reshape(-1)[pairs]


def _as_rows(prompts: Tokens) -> NDArray[np.void]:
    """Return each row as one value, because such values sort faster than rows."""
    return np.ascontiguousarray(prompts).view(np.dtype((np.void, prompts.shape[1]))).reshape(-1)
