"""Sequential tasks: what a user writes to have a problem analysed, and the traces that everything is computed from.

An instance of scale n starts with a prompt; each step appends one token ([F], definitions of arXiv 2510.04130,
Def. 4). All tokens are visible, so a task is fully described by its prompts and by what is appended to each.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.errors import LengthgenError

Tokens = NDArray[np.uint8]

MAX_EXHAUSTIVE = 20_000
"""Prompts of one scale up to which a trace holds all of them."""
SAMPLE = 4_096
"""About as many prompts a trace holds of a scale that has more."""

MAX_SYMBOLS = 254
"""Token numbers are uint8, and 255 marks what is undefined."""


class TaskError(LengthgenError):
    """A task that breaks its own contract; the message is one line: what, where, how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A circuit that is right at every scale because the task is defined by it.

    Attributes:
        arity: slots of every operator.
        steps: n -> for every step in order the name of its operator and its arguments: `arity` earlier positions,
            1-based, which may repeat.
        apply: an operator's name and `arity` symbols -> the symbol it gives; raises ValueError where it gives none.
    """

    arity: int
    steps: Callable[[int], Sequence[tuple[str, tuple[int, ...]]]]
    apply: Callable[[str, tuple[str, ...]], str]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A sequential task over a finite alphabet.

    Attributes:
        name: what the command line and the tables call it.
        alphabet: all symbols, prompt and output alike; a symbol's token number is its index.
        prompt: n -> the symbols allowed at each prompt position of scale n; every combination is an instance.
        generate: one prompt, as a tuple of symbols -> the symbols appended to it, one by one. Their number must be
            the same for all prompts of one scale.
        vectorised: optional fast twin of `generate`: uint8 [count, prompt length] of token numbers -> uint8
            [count, output length]. A part of everything it computes is checked against `generate`.
        reference: optional circuit that computes the task at every scale; it bounds SRC from above at all of them.
    """

    name: str
    alphabet: tuple[str, ...]
    prompt: Callable[[int], Sequence[Sequence[str]]]
    generate: Callable[[tuple[str, ...]], Sequence[str]]
    vectorised: Callable[[Tokens], NDArray[Any]] | None = None
    reference: Reference | None = None

    def __post_init__(self) -> None:
        if not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise TaskError(f"task '{self.name}': the alphabet must hold different symbols, at least one")
        if len(self.alphabet) > MAX_SYMBOLS:
            raise TaskError(f"task '{self.name}': at most {MAX_SYMBOLS} symbols, not {len(self.alphabet)}")

    def choices(self, scale: int) -> list[tuple[int, ...]]:
        """The token numbers allowed at each prompt position of one scale.

        Raises:
            TaskError: no positions, none allowed at some position, one allowed twice, a symbol outside the alphabet,
                or `prompt` fails.
        """
        if scale < 1:
            raise TaskError(f"task '{self.name}': a scale is at least 1, not {scale}")
        with self._told(f"prompt fails at scale {scale}"):
            allowed = [tuple(symbols) for symbols in self.prompt(scale)]
        if not allowed or not all(allowed):
            raise TaskError(f"task '{self.name}': the prompt of scale {scale} allows nothing at some position")
        if any(len(set(symbols)) < len(symbols) for symbols in allowed):
            raise TaskError(f"task '{self.name}': the prompt of scale {scale} allows a symbol twice at some position")
        return [tuple(self._numbers(symbols, f"the prompt of scale {scale}")) for symbols in allowed]

    def prompt_count(self, scale: int) -> int:
        """How many prompts scale n has."""
        return math.prod(len(symbols) for symbols in self.choices(scale))

    def all_prompts(self, scale: int) -> Tokens:
        """Every prompt of one scale, uint8 [count, prompt length], in lexicographic order."""
        choices = self.choices(scale)
        stride = math.prod(len(symbols) for symbols in choices)
        rows = np.arange(stride)
        columns = []
        for symbols in choices:
            stride //= len(symbols)
            columns.append(np.array(symbols, dtype=np.uint8)[rows // stride % len(symbols)])
        return np.stack(columns, axis=1)

    def sample_prompts(self, scale: int, count: int, rng: np.random.Generator) -> Tokens:
        """`count` prompts of one scale drawn uniformly and independently, uint8 [count, prompt length].

        The array is position-major in memory, since tasks compute position by position. Positions without a choice
        take nothing from `rng`.
        """
        choices = self.choices(scale)
        prompts = np.empty((len(choices), count), dtype=np.uint8)
        # All positions with the same choices are drawn at once.
        for symbols in dict.fromkeys(choices):
            positions = [position for position, allowed in enumerate(choices) if allowed == symbols]
            drawn = rng.integers(len(symbols), size=(len(positions), count), dtype=np.uint8)
            prompts[positions] = np.array(symbols, dtype=np.uint8).take(drawn)
        return prompts.T

    def outputs(self, prompts: Tokens) -> Tokens:
        """What is appended to each prompt of one scale: uint8 [count, output length].

        Raises:
            TaskError: empty output, lengths that differ, a symbol outside the alphabet, `generate` fails, or a
                vectorised twin disagrees with it.
        """
        # Spread over the batch: in a lexicographic list neighbours differ in their last symbols only.
        rows = np.unique(np.linspace(0, len(prompts) - 1, 16).astype(np.int64))
        if self.vectorised is None:
            outputs = self._plain_outputs(prompts)
            again = self._plain_outputs(prompts[rows])
            if again.shape[1] != outputs.shape[1] or (again != outputs[rows]).any():
                raise TaskError(f"task '{self.name}': generate gives other output when asked again; make it a function")
            return outputs
        found = np.asarray(self.vectorised(prompts))
        plain = self._plain_outputs(prompts[rows])
        right = found.shape == (len(prompts), plain.shape[1]) and (found[rows] == plain).all()
        if not right or found.min() < 0 or found.max() >= len(self.alphabet):
            raise TaskError(f"task '{self.name}': the vectorised twin disagrees with generate; mend or remove it")
        return found.astype(np.uint8)

    def text(self, tokens: Sequence[int] | Tokens) -> str:
        """Token numbers as symbols, separated by blanks."""
        return " ".join(self.alphabet[token] for token in tokens)

    def _plain_outputs(self, prompts: Tokens) -> Tokens:
        rows = []
        for row in prompts:
            with self._told(f"generate fails on prompt {self.text(row)}"):
                rows.append(list(self.generate(tuple(self.alphabet[token] for token in row))))
        for prompt, row in zip(prompts, rows, strict=True):
            if not row:
                raise TaskError(f"task '{self.name}': generate appends nothing to prompt {self.text(prompt)}")
            if len(row) != len(rows[0]):
                raise TaskError(
                    f"task '{self.name}': {len(rows[0])} and {len(row)} symbols are appended to prompts of one scale; "
                    f"give {self.text(prompt)} as many as {self.text(prompts[0])}"
                )
        return np.array([self._numbers(row, "the output") for row in rows], dtype=np.uint8)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Turns a failure of the user's own functions into one line that says where."""
        try:
            yield
        except TaskError:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise TaskError(f"task '{self.name}': {what}: {reason}") from error

    def _numbers(self, symbols: Sequence[str], where: str) -> list[int]:
        try:
            return [self.alphabet.index(symbol) for symbol in symbols]
        except ValueError:
            stranger = next(symbol for symbol in symbols if symbol not in self.alphabet)
            raise TaskError(
                f"task '{self.name}': symbol {stranger!r} in {where} is not in the alphabet {self.alphabet}"
            ) from None


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
    exhaustive = task.prompt_count(scale) <= MAX_EXHAUSTIVE
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
