"""Sequential tasks: what a user writes to have a problem analysed, and the traces that everything is computed from.

An instance of scale n starts with a prompt; each step appends one token ([F], definitions of arXiv 2510.04130,
Def. 4). All tokens are visible, so a task is fully described by its prompts and by what is appended to each.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
        return np.array(list(itertools.product(*self.choices(scale))), dtype=np.uint8)

    def sample_prompts(self, scale: int, count: int, rng: np.random.Generator) -> Tokens:
        """`count` prompts of one scale drawn uniformly and independently, uint8 [count, prompt length]."""
        columns = [np.array(symbols, dtype=np.uint8) for symbols in self.choices(scale)]
        return np.stack([rng.choice(column, count) for column in columns], axis=1)

    def outputs(self, prompts: Tokens) -> Tokens:
        """What is appended to each prompt of one scale: uint8 [count, output length].

        Raises:
            TaskError: empty output, lengths that differ, a symbol outside the alphabet, `generate` fails, or a
                vectorised twin disagrees with it.
        """
        if self.vectorised is None:
            return self._plain_outputs(prompts)
        found = np.asarray(self.vectorised(prompts))
        # Spread over the batch: in a lexicographic list neighbours differ in their last symbols only.
        rows = np.unique(np.linspace(0, len(prompts) - 1, 16).astype(np.int64))
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
class Trace:
    """All tokens of many instances of one scale.

    Attributes:
        scale: n.
        tokens: uint8 [length, inputs], position-major; row p - 1 is position p, prompt and output.
        prompt_length: positions 1..prompt_length are the prompt, the rest are steps.
        near: int64 [pairs, 2], pairs of inputs whose prompts differ in one position only.
        exhaustive: whether the inputs are all prompts of the scale.
    """

    scale: int
    tokens: Tokens
    prompt_length: int
    near: NDArray[np.int64]
    exhaustive: bool

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
        prompts = task.all_prompts(scale)
    else:
        rng = np.random.default_rng(scale)
        neighbours = sum(len(symbols) - 1 for symbols in choices)
        bases = task.sample_prompts(scale, max(1, SAMPLE // (2 * (1 + neighbours))), rng)
        loose = task.sample_prompts(scale, SAMPLE // 2, rng)
        prompts = np.concatenate([bases, _neighbours(bases, choices), loose])
    prompts = np.unique(prompts, axis=0)
    tokens = np.concatenate([prompts, task.outputs(prompts)], axis=1).T
    return Trace(
        scale=scale,
        tokens=np.ascontiguousarray(tokens),
        prompt_length=len(choices),
        near=_near_pairs(prompts),
        exhaustive=exhaustive,
    )


def _neighbours(prompts: Tokens, choices: list[tuple[int, ...]]) -> Tokens:
    found = []
    for position, symbols in enumerate(choices):
        for symbol in symbols:
            changed = prompts.copy()
            changed[:, position] = symbol
            found.append(changed)
    return np.concatenate(found)


def _near_pairs(prompts: Tokens) -> NDArray[np.int64]:
    """Pairs of rows that differ in one column: neighbours in the order that compares that column last."""
    pairs = []
    for column in range(prompts.shape[1]):
        rest = np.delete(prompts, column, axis=1)
        order = np.lexsort((prompts[:, column], *rest.T))
        same = (rest[order[1:]] == rest[order[:-1]]).all(axis=1)
        pairs.append(np.stack([order[:-1][same], order[1:][same]], axis=1))
    return np.concatenate(pairs)
