"""Sequential tasks: the class that a user fills in to have a problem analysed.

An instance of scale n starts with a prompt; each step appends one token ([F], definitions of arXiv 2510.04130,
Def. 4). All tokens are visible, so a task is fully described by its prompts and by the tokens appended to each.

Beyond the paper ([F]): prompts may be some combinations of symbols only, and drawn by a distribution of the task; an
output may end early; prompt tokens may come after outputs; several outputs may be right.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.answers import Answers
from lengthgen.infrastructure.brief import Brief
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.userfile import require_name, shown

Tokens = NDArray[np.uint8]

UNDEFINED = 255
"""Number that stands for no token: after the end of a sequence, or where an operator has no value."""
MAX_TOKENS = 200_000_000
"""Largest number of tokens of a trace, and of the prompts or outputs that are computed at once."""
MAX_SLOTS = 64
"""Largest number of argument slots of a reference circuit's operators."""
MAX_COMBINATIONS = 1 << 16
"""Largest number of combinations of symbols from which the valid prompts of a scale are all picked out."""
MAX_REJECTED = 1_000
"""Largest number of random combinations that are drawn for one valid prompt."""
COMPARED = 16
"""Number of rows of a batch on which a vectorised function is compared with the plain one."""

Step = tuple[str, tuple[int, ...]]
"""Step of a reference circuit: the name of its operator and its arguments, earlier positions from 1."""


class TaskError(LengthgenError):
    """Error of a task that breaks its own contract. The message is one line: what, where, how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Circuit that is right at every scale because the task is defined by it.

    Attributes:
        arity: number of argument slots of every operator.
        steps: function from n, or from both scales (`lengthgen.circuits.tasks.two_scales`), to the steps in order. Each
            step is the name of its operator and its arguments: `arity` earlier positions, 1-based, which may repeat.
        apply: function from an operator's name and `arity` symbols to the symbol that the operator gives. Raises
            ValueError if the operator gives none.
    """

    arity: int
    steps: Callable[..., Sequence[Step]]
    apply: Callable[[str, tuple[str, ...]], str]


@dataclass(frozen=True, kw_only=True)
class Segment:
    """Positions first..last (1-based) of a prompt: an operand, whose tokens vary, or fixed tokens between operands."""

    first: int
    last: int
    operand: bool

    @property
    def width(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class _Layout:
    """Prompt of one scale, position by position: the token numbers allowed there; None for an output."""

    positions: tuple[tuple[int, ...] | None, ...]

    @cached_property
    def given(self) -> dict[int, tuple[int, ...]]:
        """Position -> token numbers allowed there, for the prompt tokens; from 1, ascending."""
        positions = enumerate(self.positions, start=1)
        return {position: allowed for position, allowed in positions if allowed is not None}

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Operands, which are maximal runs of positions with a choice or an output, and the parts between."""
        parts: list[Segment] = []
        start = 1
        for operand, run in itertools.groupby(self.positions, key=lambda allowed: allowed is None or len(allowed) > 1):
            width = len(list(run))
            parts.append(Segment(first=start, last=start + width - 1, operand=operand))
            start += width
        return tuple(parts)


@dataclass(frozen=True, kw_only=True, repr=False)
class Task(Brief):
    """Sequential task over a finite alphabet.

    The functions are the user's own code. The task wraps each of them, so that any exception in it and any malformed
    answer becomes a TaskError.

    Attributes:
        name: name in tables and messages; up to 100 printable characters. A task of a file that a command loads gets
            the name of its variable there.
        alphabet: all symbols of prompts and outputs; the token number of a symbol is its index. A symbol has 1 to 50
            printable characters. A single text stands for the tuple of its characters.
        prompt: function from n to the symbols allowed at each prompt position of scale n. Every combination of them is
            an instance, unless `valid` says otherwise. An Ellipsis (...) stands for a place where the next symbol of
            the output goes; the other symbols of the output follow the last prompt position.
        generate: function from one prompt, a tuple of symbols, to the symbols appended to it, one by one. Their number
            must be the same for all prompts of one scale, unless there is an `end`.
        vectorised: optional fast version of `generate`, from read-only uint8 [count, prompt length] token numbers to
            integers [count, output length]. Part of every result is checked against `generate`. With an `end`, columns
            after it are ignored.
        reference: optional circuit that computes the task at every scale. It is an upper bound of SRC at all scales.
        end: symbol with which every output ends and that it holds nowhere else; outputs of one scale may then have
            different lengths. No step is computed after it.
        valid: function from a combination of symbols, a tuple, to True if it is a prompt. None if all are.
        draw: function from n and a random.Random to one prompt of scale n drawn with it: the distribution of training
            and test. None for the uniform distribution over the valid prompts. SRC depends on the prompts alone.
        vectorised_valid: optional fast version of `valid`, from uint8 [count, prompt length] to bool [count]. Part of
            every result is checked against `valid`.
        vectorised_draw: optional fast version of `draw`, from n, a count and a numpy.random.Generator to as many
            prompts of scale n, integers [count, prompt length]. Training and test draw with it in place of `draw`.
        right: function from one prompt to all its right outputs, that of `generate` among them. None if there is one.

    Raises:
        TaskError: a field is not as described.
    """

    name: str
    alphabet: tuple[str, ...]
    prompt: Callable[[int], Sequence[Sequence[str] | EllipsisType]]
    generate: Callable[[tuple[str, ...]], Sequence[str]]
    vectorised: Callable[[Tokens], NDArray[Any]] | None = None
    reference: Reference | None = None
    end: str | None = None
    valid: Callable[[tuple[str, ...]], bool] | None = None
    draw: Callable[[int, random.Random], Sequence[str]] | None = None
    right: Callable[[tuple[str, ...]], Sequence[Sequence[str]]] | None = None
    vectorised_valid: Callable[[Tokens], NDArray[np.bool_]] | None = None
    vectorised_draw: Callable[[int, int, np.random.Generator], NDArray[Any]] | None = None

    def __post_init__(self) -> None:
        require_name(self.name, "name of a task", TaskError)
        read = Answers(f"task '{self.name}'", TaskError)
        object.__setattr__(self, "alphabet", read.alphabet(self.alphabet))
        if self.end is not None and self.end not in self.alphabet:
            raise self.error(f"the end {shown(self.end)} is not in the alphabet {self.alphabet}")
        for name, reads, what, where in (
            ("prompt", read.prompt, "prompt", "at scale {}"),
            ("generate", read.output, "generate", "on prompt {}"),
            ("vectorised", read.vectorised, "the vectorised function", "on {}"),
            ("valid", read.valid, "valid", "on {}"),
            ("draw", read.output, "draw", "at scale {}"),
            ("right", read.right, "right", "on prompt {}"),
            ("vectorised_valid", read.vectorised, "the vectorised valid", "on {}"),
            ("vectorised_draw", read.vectorised, "the vectorised draw", "for {} prompts"),
        ):
            if (function := getattr(self, name)) is not None or name in ("prompt", "generate"):
                object.__setattr__(self, name, read.guarded(function, reads, what, where))
        for name in ("valid", "draw"):
            if getattr(self, f"vectorised_{name}") is not None and getattr(self, name) is None:
                raise self.error(f"vectorised_{name} is a fast version of `{name}`, which is missing: give both")
        if self.reference is not None:
            object.__setattr__(self, "reference", self._guarded_reference(self.reference, read))

    def error(self, text: str) -> TaskError:
        """Return the error of this task with a message."""
        return TaskError(f"task '{self.name}': {text}")

    def layout(self, scale: int) -> tuple[tuple[int, ...] | None, ...]:
        """Return the prompt of one scale, position by position: the token numbers allowed there; None for an output.

        Raise TaskError if there are no positions, some position allows nothing or one symbol twice, a symbol is not in
        the alphabet, or `prompt` fails.
        """
        return self._layout(scale).positions

    def _layout(self, scale: int) -> _Layout:
        """Return the layout of one scale, which is read from `prompt` and checked once."""
        if scale in self._layouts:
            return self._layouts[scale]
        if scale < 1:
            raise self.error(f"a scale is at least 1, not {scale}")
        allowed = self.prompt(scale)
        if not any(symbols is not ... for symbols in allowed) or not all(allowed):
            raise self.error(f"the prompt of scale {scale} allows nothing at some position")
        layout: list[tuple[int, ...] | None] = []
        for symbols in allowed:
            numbers = None if symbols is ... else tuple(self._numbers(symbols, f"the prompt of scale {scale}"))
            if numbers and len(set(numbers)) < len(numbers):
                raise self.error(f"the prompt of scale {scale} allows a symbol twice at some position")
            layout.append(numbers)
        if None in layout and self.end is not None:
            raise self.error(
                f"scale {scale} has prompt tokens after outputs, and outputs of different lengths; only one of both is "
                "possible yet: leave out `end`"
            )
        return self._layouts.setdefault(scale, _Layout(tuple(layout)))

    def choices(self, scale: int) -> list[tuple[int, ...]]:
        """Return the token numbers allowed at each prompt token of one scale, without the outputs between them.

        Raise TaskError as `layout`.
        """
        return list(self.given(scale).values())

    def given(self, scale: int) -> Mapping[int, tuple[int, ...]]:
        """Return position -> token numbers allowed there, for the prompt tokens of one scale; from 1, ascending.

        Raise TaskError as `layout`.
        """
        return self._layout(scale).given

    def segments(self, scale: int) -> tuple[Segment, ...]:
        """Return the prompt of one scale cut into operands and the parts between.

        Operands are maximal runs of positions with a choice; places of outputs count as such positions.

        Raise TaskError as `layout`.
        """
        return self._layout(scale).segments

    def reference_steps(self, scale: int) -> Sequence[Step]:
        """Return the steps of the reference circuit at one scale, which are computed once.

        Raise TaskError if there is no reference circuit, or its `steps` fail.
        """
        if scale not in self._reference_steps:
            if self.reference is None:
                raise TaskError(f"task '{self.name}' has no reference circuit")
            self._reference_steps[scale] = self.reference.steps(scale)
        return self._reference_steps[scale]

    def step_positions(self, scale: int) -> Iterator[int]:
        """Yield the positions of generated tokens of one scale, from 1, without end. Raise TaskError as `layout`."""
        layout = self.layout(scale)
        yield from (position for position, allowed in enumerate(layout, start=1) if allowed is None)
        yield from itertools.count(len(layout) + 1)

    def all_prompts(self, scale: int) -> Tokens | None:
        """Return every prompt of one scale in lexicographic order, uint8 [count, prompt tokens].

        None if there are more than MAX_COMBINATIONS combinations of which only some are prompts.

        Raise TaskError as `layout`, or no combination is valid.
        """
        choices = self.choices(scale)
        stride = math.prod(len(symbols) for symbols in choices)
        if self.valid is not None and stride > MAX_COMBINATIONS:
            return None
        rows = np.arange(stride)
        columns = []
        for symbols in choices:
            stride //= len(symbols)
            columns.append(np.array(symbols, dtype=np.uint8)[rows // stride % len(symbols)])
        prompts = np.stack(columns, axis=1)
        if self.valid is None:
            return prompts
        prompts = prompts[self.are_prompts(scale, prompts)]
        if not len(prompts):
            raise self.error(f"no prompt of scale {scale} is valid")
        return prompts

    def are_prompts(self, scale: int, combinations: Tokens) -> NDArray[np.bool_]:
        """Return which combinations of tokens are prompts of a scale: uint8 [count, prompt tokens] -> bool [count]."""
        are = np.ones(len(combinations), dtype=np.bool_)
        for tokens, allowed in zip(combinations.T, self.choices(scale), strict=True):
            are &= np.isin(tokens, allowed)
        if self.valid is not None:
            are[are] = self.are_valid(combinations[are])
        return are

    def are_valid(self, combinations: Tokens) -> NDArray[np.bool_]:
        """Return which combinations of tokens that one scale allows are valid, bool [count]; the task has a `valid`.

        Raise TaskError if the vectorised version disagrees with it.
        """
        if self.vectorised_valid is None or not len(combinations):
            return self._plain_valid(combinations)
        rows = _spread(len(combinations))
        are = self.vectorised_valid(_read_only(combinations))
        if are.shape != (len(combinations),) or (are[rows] != self._plain_valid(combinations[rows])).any():
            raise self.error("the vectorised valid disagrees with valid; mend or remove it")
        return are.astype(np.bool_)

    def sample_prompts(self, scale: int, count: int, rng: np.random.Generator) -> Tokens:
        """Return `count` prompts of one scale drawn independently by the task's distribution.

        The array is position-major in memory, because tasks compute position by position. Positions with a single
        allowed symbol draw nothing from `rng`.

        Returns:
            uint8 [count, prompt tokens].

        Raises:
            TaskError: as `layout`; `draw` or its vectorised version gives no prompt of the scale; or there is no
                `draw`, and hardly any combination of symbols is valid.
        """
        choices = self.choices(scale)
        if self.vectorised_draw is not None:
            prompts = self.vectorised_draw(scale, count, rng)
            right = prompts.shape == (count, len(choices)) and (prompts < UNDEFINED).all() and (prompts >= 0).all()
            if not right or not self.are_prompts(scale, prompts.astype(np.uint8)).all():
                raise self.error(f"the vectorised draw gives other than {count:,} prompts of scale {scale}")
            return prompts.astype(np.uint8).T.copy().T
        if self.draw is not None:
            source = random.Random(rng.bytes(16))
            drawn = np.array([self.drawn(scale, source) for _ in range(count)], dtype=np.uint8)
            prompts = drawn.reshape(count, len(choices))
            are = self.are_prompts(scale, prompts)
            if not are.all():
                raise self._no_prompt(scale, prompts[~are][0])
            return prompts.T.copy().T
        if self.valid is None:
            return combinations_of(choices, count, rng)
        prompts = np.empty((0, len(choices)), dtype=np.uint8)
        tried = 0
        while len(prompts) < count:
            drawn_now = combinations_of(choices, max(MAX_REJECTED, count), rng)
            prompts = np.concatenate([prompts, drawn_now[self.are_prompts(scale, drawn_now)]])
            tried += len(drawn_now)
            if tried > MAX_REJECTED * (len(prompts) + 1):
                raise self.error(
                    f"{len(prompts)} of {tried:,} random combinations of scale {scale} are valid; "
                    "give the task a function `draw` that draws a prompt"
                )
        return prompts[:count].T.copy().T

    def drawn(self, scale: int, source: random.Random) -> list[int]:
        """Return the tokens that `draw` gives for one scale. Raise TaskError unless they are as many as in a prompt."""
        assert self.draw is not None
        numbers = self._numbers(self.draw(scale, source), f"the prompt drawn for scale {scale}")
        if len(numbers) != len(self._layout(scale).given):
            raise self._no_prompt(scale, numbers)
        return numbers

    def _no_prompt(self, scale: int, tokens: Sequence[int] | Tokens) -> TaskError:
        return self.error(f"draw gives {self.text(tokens)}, which is no prompt of scale {scale}")

    def sequences(self, scale: int, prompts: Tokens) -> Tokens:
        """Return prompts with their outputs, each token at its position; UNDEFINED after the end of a sequence.

        Args:
            scale: scale of all prompts.
            prompts: uint8 [count, prompt tokens].

        Returns:
            uint8 [count, length].

        Raises:
            TaskError: as `outputs`, or there are fewer outputs than places for them between prompt tokens.
        """
        outputs, layout = self.outputs(prompts), self.layout(scale)
        between = layout.count(None)
        if not between:
            return np.concatenate([prompts, outputs], axis=1)
        if outputs.shape[1] < between:
            raise self.error(
                f"generate gives {outputs.shape[1]} symbols at scale {scale}, and the prompt has places for {between}"
            )
        if outputs.shape[1] == between and layout[-1] is not None:
            raise self.error(
                f"no output follows the last prompt tokens of scale {scale}; leave these out, or let generate give more"
            )
        tokens = np.empty((len(prompts), prompts.shape[1] + outputs.shape[1]), dtype=np.uint8)
        given = [position - 1 for position in self.given(scale)]
        tokens[:, given] = prompts
        tokens[:, np.setdiff1d(np.arange(tokens.shape[1]), given)] = outputs
        return tokens

    def outputs(self, prompts: Tokens) -> Tokens:
        """Return the tokens appended to each prompt of one scale, uint8 [count, longest output].

        Outputs that end early are filled with UNDEFINED.

        Raise TaskError if an output is empty, lengths differ without an `end`, an output does not end with it, a symbol
        is not in the alphabet, `generate` fails, or the vectorised version disagrees with it.
        """
        rows = _spread(len(prompts))
        if self.vectorised is None:
            outputs = self._plain_outputs(prompts)
            if not _equal_outputs(self._plain_outputs(prompts[rows]), outputs[rows]):
                raise self.error("generate gives other output on a second call; make it a function")
            return outputs
        plain = self._plain_outputs(prompts[rows])
        given = self.vectorised(_read_only(prompts))
        right, outputs = given.ndim == 2 and len(given) == len(prompts), given
        if right and self.end is not None:
            ends = given == self._number[self.end]
            after = np.cumsum(ends, axis=1) - ends > 0
            outputs = np.where(after, UNDEFINED, given)[:, ~after.all(axis=0)]
            right = bool(ends.any(axis=1).all())
        defined = outputs[outputs != UNDEFINED] if right and self.end is not None else outputs
        right = right and _equal_outputs(outputs[rows], plain)
        if not right or defined.min() < 0 or defined.max() >= len(self.alphabet):
            raise self.error("the vectorised function disagrees with generate; mend or remove it")
        return outputs.astype(np.uint8)

    def right_outputs(self, prompt: tuple[str, ...], output: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return all right outputs of one prompt as token numbers, in the order of `right`.

        Args:
            prompt: symbols of the prompt.
            output: token numbers of the output of `generate`.

        Raises:
            TaskError: `right` fails, or does not give the output of `generate`, or outputs of other lengths.
        """
        if self.right is None:
            return [output]
        every = [tuple(self._numbers(each, "a right output")) for each in self.right(prompt)]
        if output not in every:
            raise self.error(
                f"the output of generate on prompt {' '.join(prompt)} is not a right one; let `right` give it too"
            )
        if any(len(each) != len(output) for each in every):
            raise self.error(
                f"right outputs of prompt {' '.join(prompt)} have different lengths, which is not possible yet"
            )
        return list(dict.fromkeys(every))

    def text(self, tokens: Sequence[int] | Tokens) -> str:
        """Return token numbers as symbols, separated by blanks."""
        return " ".join(self.alphabet[token] for token in tokens)

    def _plain_outputs(self, prompts: Tokens) -> Tokens:
        """Return the outputs computed by `generate`, prompt by prompt: uint8 [count, output length]."""
        outputs = np.empty((0, 0), dtype=np.uint8)
        for row, prompt in enumerate(prompts.tolist()):
            output = self.generate(self._symbols_of(prompt))
            if not output:
                raise self.error(f"generate appends nothing to prompt {self.text(prompt)}")
            if self.end is not None and (output[-1] != self.end or output.index(self.end) < len(output) - 1):
                raise self.error(
                    f"the output of prompt {self.text(prompt)} must end with {shown(self.end)} and hold it nowhere else"
                )
            missing = len(output) - outputs.shape[1]
            if row and self.end is None and missing:
                raise self.error(
                    f"{outputs.shape[1]} and {len(output)} symbols are appended to prompts of one scale; give "
                    f"{self.text(prompt)} as many as {self.text(prompts[0])}, or give the task an `end`"
                )
            if missing > 0:
                self.require_size(len(prompts), len(output))
                more = np.full((len(prompts), missing), UNDEFINED, dtype=np.uint8)
                outputs = np.concatenate([outputs, more], axis=1) if row else more
            outputs[row, : len(output)] = self._numbers(output, "the output")
        return outputs

    def _plain_valid(self, combinations: Tokens) -> NDArray[np.bool_]:
        """Return which combinations `valid` takes for prompts, one by one: bool [count]."""
        assert self.valid is not None
        return np.array([self.valid(self._symbols_of(each)) for each in combinations.tolist()], dtype=np.bool_)

    def _symbols_of(self, tokens: Sequence[int]) -> tuple[str, ...]:
        return tuple(map(self.alphabet.__getitem__, tokens))

    def require_size(self, sequences: int, positions: int) -> None:
        """Raise TaskError if `sequences` sequences of `positions` positions are more than memory may hold."""
        if sequences * positions > MAX_TOKENS:
            raise self.error(
                f"{sequences:,} sequences of {positions:,} positions are more than {MAX_TOKENS:,} "
                "tokens; take smaller scales"
            )

    @cached_property
    def _layouts(self) -> dict[int, _Layout]:
        return {}

    @cached_property
    def _reference_steps(self) -> dict[int, Sequence[Step]]:
        return {}

    @cached_property
    def reference_entries(self) -> dict[str, NDArray[np.int64]]:
        """Entries of the reference circuit that were found right before (`lengthgen.circuits.reference`)."""
        return {}

    @cached_property
    def traces(self) -> dict[int, Any]:
        """Small traces of scales asked for before (`lengthgen.circuits.trace.trace`)."""
        return {}

    @cached_property
    def _number(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.alphabet)}

    def _numbers(self, symbols: Sequence[str], where: str) -> list[int]:
        try:
            return list(map(self._number.__getitem__, symbols))
        except Exception:  # not only KeyError: a value that is no symbol may be unhashable
            unknown = next(symbol for symbol in symbols if not isinstance(symbol, str) or symbol not in self.alphabet)
            raise self.error(f"symbol {shown(unknown)} in {where} is not in the alphabet {self.alphabet}") from None

    def _guarded_reference(self, reference: Any, read: Answers) -> Reference:
        if not isinstance(reference, Reference):
            raise self.error(f"reference must be a Reference or None, not {shown(reference)}")
        if type(reference.arity) is not int or not 1 <= reference.arity <= MAX_SLOTS:
            raise self.error(f"the reference circuit's arity must be 1 to {MAX_SLOTS}, not {shown(reference.arity)}")
        what = "the reference circuit's"
        return Reference(
            arity=reference.arity,
            steps=read.guarded(reference.steps, read.steps, f"{what} steps", "at scale {}"),
            apply=read.guarded(reference.apply, read.symbol, f"{what} apply", "on {}", expected=(ValueError,)),
        )

    def _brief(self) -> str:
        return f"{self.name}: symbols {' '.join(self.alphabet)}"


def combinations_of(choices: Sequence[tuple[int, ...]], count: int, rng: np.random.Generator) -> Tokens:
    """Return combinations of allowed tokens drawn uniformly, uint8 [count, prompt tokens], position-major."""
    prompts = np.empty((len(choices), count), dtype=np.uint8)
    # All positions with the same choices are drawn at once.
    for symbols in dict.fromkeys(choices):
        positions = [position for position, allowed in enumerate(choices) if allowed == symbols]
        indices = rng.integers(len(symbols), size=(len(positions), count), dtype=np.uint8)
        # As `symbols[indices]`, which would first turn each index into a number of eight bytes.
        drawn = indices.tobytes().translate(bytes(symbols).ljust(256, b"\0"))
        prompts[positions] = np.frombuffer(drawn, dtype=np.uint8).reshape(indices.shape)
    return prompts.T


def _spread(count: int) -> NDArray[np.int64]:
    """Return the rows of a batch that are compared with the plain version of a function.

    They are spread over the batch: neighbours in a lexicographic list differ in the last symbols only.
    """
    return np.unique(np.linspace(0, count - 1, COMPARED).astype(np.int64))


def _read_only(tokens: Tokens) -> Tokens:
    """Return a view that a user's function cannot change: it is checked on the same tokens."""
    view = tokens.view()
    view.flags.writeable = False
    return view


def _equal_outputs(first: NDArray[Any], second: NDArray[Any]) -> bool:
    """True if two arrays [count, length] of as many outputs are equal but for columns that are UNDEFINED throughout."""
    width = min(first.shape[1], second.shape[1])
    rest = [each[:, width:] == UNDEFINED for each in (first, second)]
    return bool((first[:, :width] == second[:, :width]).all() and all(each.all() for each in rest))
