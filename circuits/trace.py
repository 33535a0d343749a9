"""Traces: all tokens of many instances of one scale. Every result about a task is computed from its traces."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import UNDEFINED, Segment, Task, Tokens
from lengthgen.infrastructure.brief import Brief

MAX_EXHAUSTIVE = 20_000
"""Largest number of prompts of one scale for which a trace holds all of them."""
SAMPLE = 4_096
"""Approximate number of prompts in a trace of a scale with more than MAX_EXHAUSTIVE."""
KEPT = 1 << 20
"""Largest number of tokens of a trace that its task keeps."""
CLIMBING = 8
"""Number of prompts that are changed at once in the search for longer outputs."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Trace(Brief):
    """Tokens of many instances of one scale.

    Attributes:
        scale: the scale n.
        symbols: size of the alphabet; tokens are below it.
        tokens: uint8 [length, inputs], position-major; row p - 1 is position p, prompt and output. UNDEFINED after the
            end of an input.
        given: positions of the prompt tokens, 1-based, ascending; all others are steps.
        segments: the prompt, cut into operands and the parts between them.
        near: int64 [pairs, 2], pairs of inputs whose prompts differ little: in one position, or by an exchange of two
            neighbours.
        exhaustive: True if the inputs are all prompts of the scale.
        memory: results about the trace that were computed before, by key.
        memory_of_fewer: memory of the trace that `extended` made this one from; its inputs come first in this one.
    """

    scale: int
    symbols: int
    tokens: Tokens
    given: tuple[int, ...]
    segments: tuple[Segment, ...]
    near: NDArray[np.int64]
    exhaustive: bool
    memory: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    memory_of_fewer: Mapping[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def length(self) -> int:
        """Number of positions of the full sequence."""
        return len(self.tokens)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Generated positions, 1-based, ascending. The step at position p is computed at query p - 1."""
        return tuple(sorted({*range(1, self.length + 1)} - {*self.given}))

    @property
    def prompts(self) -> Tokens:
        """Prompts of the inputs, uint8 [inputs, prompt tokens]."""
        return self.tokens[[position - 1 for position in self.given]].T

    @cached_property
    def _ends_early(self) -> bool:
        """True if some sequence is shorter than the longest."""
        return bool((self.tokens[-1] == UNDEFINED).any())

    def inputs_at(self, position: int) -> NDArray[np.intp] | slice:
        """Return the inputs that have a token at a position, as an index of the second axis of `tokens`."""
        return np.flatnonzero(self.tokens[position - 1] != UNDEFINED) if self._ends_early else slice(None)

    def steps_by_inputs(self) -> list[tuple[Tokens, tuple[int, ...]]]:
        """Return groups of steps with the tokens of the inputs that have them, uint8 [length, inputs]."""
        if not self._ends_early:
            return [(self.tokens, self.steps)]
        return [(self.tokens_at(position), (position,)) for position in self.steps]

    def tokens_at(self, position: int) -> Tokens:
        """Return the tokens of the inputs that have one at a position, uint8 [length, those inputs].

        Rows up to the position hold no UNDEFINED.
        """
        return self.tokens[:, self.inputs_at(position)]

    def _brief(self) -> str:
        share = "all prompts" if self.exhaustive else "a sample"
        return f"scale {self.scale}: {self.tokens.shape[1]:,} inputs of {self.length} positions, {share}"


def trace(task: Task, scale: int) -> Trace:
    """Return the trace of every prompt of one scale if there are at most MAX_EXHAUSTIVE, else of a sample of them.

    A sample holds random prompts and all their neighbours at distance one: two inputs that differ little tell most
    about which earlier positions a step needs.

    It is the same each time, and a task keeps its small traces, without what is computed about them.

    Raise TaskError if the task breaks its contract.
    """
    if scale in task.traces:
        kept: Trace = task.traces[scale]
        return replace(kept, memory={})
    computed = _trace(task, scale)
    if computed.tokens.size <= KEPT:
        computed.tokens.flags.writeable = False
        task.traces[scale] = replace(computed, memory={})
    return computed


def _trace(task: Task, scale: int) -> Trace:
    choices = task.choices(scale)
    count = math.prod(map(len, choices))
    every = None
    if task.valid is not None:
        every = task.all_prompts(scale)
        count = MAX_EXHAUSTIVE + 1 if every is None else len(every)
    exhaustive = count <= MAX_EXHAUSTIVE
    operands = sum(len(symbols) > 1 for symbols in choices)
    task.require_size(count if exhaustive else max(SAMPLE, operands), len(choices))
    if not exhaustive:
        prompts, near = _sample(task, scale, choices)
    elif every is not None:
        prompts, near = every, _near_among(every, choices)
    else:
        all_prompts = task.all_prompts(scale)
        assert all_prompts is not None
        # Those that differ in one position by neighbouring symbols: the list of all is lexicographic.
        prompts, rows, stride, pairs = all_prompts, np.arange(count), count, []
        for symbols in choices:
            stride //= len(symbols)
            first = rows[rows // stride % len(symbols) < len(symbols) - 1]
            pairs.append(np.stack([first, first + stride], axis=1))
        near = np.concatenate(pairs)
    return Trace(
        scale=scale,
        symbols=len(task.alphabet),
        tokens=_tokens(task, scale, prompts),
        given=tuple(task.given(scale)),
        segments=task.segments(scale),
        near=near,
        exhaustive=exhaustive,
    )


def extended(task: Task, base: Trace, prompts: Tokens) -> Trace:
    """Return the trace with more prompts, uint8 [count, prompt tokens]; they refuted a result of the smaller trace."""
    more = _tokens(task, base.scale, prompts)
    length = max(base.length, len(more))
    tokens = np.concatenate([_lengthened(base.tokens, length), _lengthened(more, length)], axis=1)
    return replace(base, tokens=tokens, memory={}, memory_of_fewer=base.memory)


def of_prompts(task: Task, like: Trace, prompts: Tokens) -> Trace:
    """Return the trace of these prompts alone, of the scale of another trace, uint8 [count, prompt tokens].

    It is at least as long as the other trace.
    """
    tokens = _tokens(task, like.scale, prompts)
    tokens = _lengthened(tokens, max(like.length, len(tokens)))
    return replace(like, tokens=tokens, near=like.near[:0], memory={}, memory_of_fewer={})


def _tokens(task: Task, scale: int, prompts: Tokens) -> Tokens:
    return np.ascontiguousarray(task.sequences(scale, prompts).T)


def _lengthened(tokens: Tokens, length: int) -> Tokens:
    """Return tokens [length, inputs] with rows of UNDEFINED up to a length."""
    if len(tokens) == length:
        return tokens
    return np.pad(tokens, ((0, length - len(tokens)), (0, 0)), constant_values=UNDEFINED)


def _near_among(prompts: Tokens, choices: list[tuple[int, ...]]) -> NDArray[np.int64]:
    """Return pairs of some prompts that differ in one position, or by an exchange of two neighbouring tokens.

    int64 [pairs, 2]; `choices` has the tokens allowed at each prompt position, of which MAX_COMBINATIONS combinations
    exist at most.
    """
    # A combination as a number, the last position first: each token adds its place among those allowed.
    strides = np.cumprod([1, *(len(symbols) for symbols in choices)])
    added = np.full((len(choices), UNDEFINED), -strides[-1])
    for position, symbols in enumerate(choices):
        added[position, list(symbols)] = np.arange(len(symbols)) * strides[position]

    def numbers(combinations: Tokens) -> NDArray[np.int64]:
        """Return the numbers of combinations, negative where a token is not allowed."""
        each: NDArray[np.int64] = added[np.arange(len(choices)), combinations]
        return np.asarray(each.sum(axis=1))

    row_of = np.full(strides[-1], -1)
    row_of[numbers(prompts)] = rows = np.arange(len(prompts))
    exchanged, of = _exchanged(prompts)
    own, others, first = numbers(prompts), [numbers(exchanged)], [of]
    for position, symbols in enumerate(choices):
        place = own // strides[position] % len(symbols)
        others.append(own + ((place + 1) % len(symbols) - place) * strides[position])
        first.append(rows)
    number = np.concatenate(others)
    pairs = np.stack([np.concatenate(first), np.where(number < 0, -1, row_of[np.maximum(number, 0)])], axis=1)
    near: NDArray[np.int64] = pairs[(pairs[:, 1] >= 0) & (pairs[:, 0] != pairs[:, 1])]
    return near


def _exchanged(prompts: Tokens) -> tuple[Tokens, NDArray[np.int64]]:
    """Return each prompt with each two neighbouring tokens exchanged that differ, and the row of that prompt."""
    changes, rows = [prompts[:0]], [np.empty(0, dtype=np.int64)]
    for position in range(prompts.shape[1] - 1):
        differ = np.flatnonzero(prompts[:, position] != prompts[:, position + 1])
        changed = prompts[differ]
        changed[:, [position, position + 1]] = changed[:, [position + 1, position]]
        changes.append(changed)
        rows.append(differ)
    return np.concatenate(changes), np.concatenate(rows)


def _sample(task: Task, scale: int, choices: list[tuple[int, ...]]) -> tuple[Tokens, NDArray[np.int64]]:
    """Return distinct prompts of one scale, and the pairs of them that differ little (`Trace.near`)."""
    rng = np.random.default_rng(scale)
    operands = [position for position, symbols in enumerate(choices) if len(symbols) > 1]
    bases = task.sample_prompts(scale, max(1, SAMPLE // (2 * (1 + len(operands)))), rng)
    near = np.repeat(bases[None], len(operands), axis=0)
    for changed, position in zip(near, operands, strict=True):
        symbols = np.array(choices[position], dtype=np.uint8)
        place = np.searchsorted(symbols, bases[:, position], sorter=np.argsort(symbols))
        other = (place + rng.integers(1, len(symbols), len(bases))) % len(symbols)
        changed[:, position] = np.sort(symbols)[other]
    changed = np.concatenate([*near, bases[:0]])
    first = np.tile(np.arange(len(bases)), len(operands))
    if task.valid is not None:
        exchanged, of = _exchanged(bases)
        changed, first = np.concatenate([changed, exchanged]), np.concatenate([first, of])
        valid = task.are_prompts(scale, changed)
        changed, first = changed[valid], first[valid]
    prompts = np.concatenate([bases, changed, task.sample_prompts(scale, SAMPLE // 2, rng)])
    if task.end is not None:
        prompts = np.concatenate([prompts, _with_longer_outputs(task, scale, choices, prompts)])
    pairs = np.stack([first, len(bases) + np.arange(len(first))], axis=1)
    unique_rows, row_of = distinct_rows(prompts)
    return prompts[unique_rows], row_of[pairs]


def distinct_rows(rows: Tokens) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows of uint8 [rows, columns] in lexicographic order, and of each row its number among them.

    Both are indices: of the first of equal rows, int64 [distinct], and int64 [rows].
    """
    # Five times as fast as np.unique over an axis: eight tokens are compared as one number.
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : rows.shape[1]] = rows
    words = padded.view(">u8").astype(np.uint64)
    order = np.lexsort(words.T[::-1])
    begins = np.ones(len(rows), dtype=np.bool_)
    begins[1:] = (words[order][1:] != words[order][:-1]).any(axis=1)
    row_of = np.empty(len(rows), dtype=np.int64)
    row_of[order] = np.cumsum(begins) - 1
    return order[begins], row_of


def _with_longer_outputs(task: Task, scale: int, choices: list[tuple[int, ...]], prompts: Tokens) -> Tokens:
    """Return prompts of ever longer outputs: the ones with longest outputs change until none is longer.

    They change in one position, and at once in all positions in which a change makes the output longer, if that makes
    it longer still. Random prompts alone would hardly show the last steps of a task whose outputs end early.
    """

    def output_lengths(combinations: Tokens) -> NDArray[np.int64]:
        """Lengths of the outputs of combinations of tokens, int64 [count]; -1 for one that is no prompt."""
        valid = task.are_prompts(scale, combinations)
        lengths = np.full(len(combinations), -1, dtype=np.int64)
        if valid.any():
            lengths[valid] = (task.outputs(combinations[valid]) != UNDEFINED).sum(axis=1)
        return lengths

    longer = [prompts[:0]]
    lengths = (task.outputs(prompts) != UNDEFINED).sum(axis=1)
    places = [(position, symbol) for position, symbols in enumerate(choices) for symbol in symbols if len(symbols) > 1]
    task.require_size(CLIMBING * len(places), len(choices))
    while True:
        order = np.argsort(-lengths, kind="stable")[:CLIMBING]
        bases, base_lengths = prompts[order], lengths[order]
        changes = np.repeat(bases[None], len(places), axis=0)
        for changed, (position, symbol) in zip(changes, places, strict=True):
            changed[:, position] = symbol
        changed_lengths = output_lengths(changes.reshape(-1, len(choices))).reshape(len(places), -1)
        at_once = bases.copy()
        for (position, symbol), better in zip(places, changed_lengths > base_lengths, strict=True):
            at_once[better, position] = symbol
        lengths_at_once = output_lengths(at_once)
        longest = lengths_at_once > changed_lengths.max(axis=0)
        before = lengths.max()
        prompts = np.concatenate([bases, changes.reshape(-1, len(choices)), at_once[longest]])
        lengths = np.concatenate([base_lengths, changed_lengths.ravel(), lengths_at_once[longest]])
        if lengths.max() == before:
            return np.concatenate(longer)
        longer.append(prompts[lengths > before])
