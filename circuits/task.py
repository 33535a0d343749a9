"""Sequential tasks: the class that a user fills in to have a problem analysed.

An instance of scale n starts with a prompt; each step appends one token ([F], definitions of arXiv 2510.04130,
Def. 4). All tokens are visible, so a task is fully described by its prompts and by the tokens appended to each.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.system.errors import LengthgenError
from theory.system.userfile import Guarded, require_name, shown

Tokens = NDArray[np.uint8]


MAX_SYMBOLS = 254
"""Largest size of an alphabet. Token numbers are uint8, and 255 marks an undefined token."""
LONGEST_SYMBOL = 50
"""Largest number of characters of a symbol."""
LONGEST = 100_000
"""Largest number of positions of a prompt, and of symbols appended to it."""
MAX_TOKENS = 200_000_000
"""Largest number of tokens of a trace, and of the prompts or outputs that are computed at once."""
MAX_SLOTS = 64
"""Largest number of argument slots of a reference circuit's operators."""


class TaskError(LengthgenError):
    """Error of a task that breaks its own contract. The message is one line: what, where, how to mend it."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Circuit that is right at every scale because the task is defined by it.

    Attributes:
        arity: number of argument slots of every operator.
        steps: function from n to the steps in order. Each step is the name of its operator and its arguments: `arity`
            earlier positions, 1-based, which may repeat.
        apply: function from an operator's name and `arity` symbols to the symbol that the operator gives. Raises
            ValueError if the operator gives none.
    """

    arity: int
    steps: Callable[[int], Sequence[tuple[str, tuple[int, ...]]]]
    apply: Callable[[str, tuple[str, ...]], str]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Sequential task over a finite alphabet.

    The functions are the user's own code. The task wraps each of them, so that any exception in it and any malformed
    answer becomes a TaskError.

    Attributes:
        name: name on the command line and in tables; up to 100 printable characters.
        alphabet: all symbols of prompts and outputs; the token number of a symbol is its index. A symbol has 1 to 50
            printable characters. A single text stands for the tuple of its characters.
        prompt: function from n to the symbols allowed at each prompt position of scale n. Every combination of them is
            an instance.
        generate: function from one prompt, a tuple of symbols, to the symbols appended to it, one by one. Their number
            must be the same for all prompts of one scale.
        vectorised: optional fast version of `generate`, from read-only uint8 [count, prompt length] token numbers to
            integers [count, output length]. Part of every result is checked against `generate`.
        reference: optional circuit that computes the task at every scale. It is an upper bound of SRC at all scales.

    Raises:
        TaskError: a field is not as described.
    """

    name: str
    alphabet: tuple[str, ...]
    prompt: Callable[[int], Sequence[Sequence[str]]]
    generate: Callable[[tuple[str, ...]], Sequence[str]]
    vectorised: Callable[[Tokens], NDArray[Any]] | None = None
    reference: Reference | None = None

    def __post_init__(self) -> None:
        require_name(self.name, "name of a task", TaskError)
        object.__setattr__(self, "alphabet", self._symbols(self.alphabet))
        guarded: dict[str, Any] = {
            "prompt": self._guarded(self.prompt, self._read_prompt, "prompt", "at scale {}"),
            "generate": self._guarded(self.generate, self._read_output, "generate", "on prompt {}"),
        }
        if self.vectorised is not None:
            guarded["vectorised"] = self._guarded(
                self.vectorised, self._read_vectorised, "the vectorised function", "on {}"
            )
        if self.reference is not None:
            guarded["reference"] = self._guarded_reference(self.reference)
        for name, function in guarded.items():
            object.__setattr__(self, name, function)

    def choices(self, scale: int) -> list[tuple[int, ...]]:
        """Return the token numbers allowed at each prompt position of one scale.

        Raises:
            TaskError: there are no positions, some position allows nothing or one symbol twice, a symbol is not in the
                alphabet, or `prompt` fails.
        """
        if scale < 1:
            raise TaskError(f"task '{self.name}': a scale is at least 1, not {scale}")
        allowed = [tuple(symbols) for symbols in self.prompt(scale)]
        if not allowed or not all(allowed):
            raise TaskError(f"task '{self.name}': the prompt of scale {scale} allows nothing at some position")
        choices = [tuple(self._numbers(symbols, f"the prompt of scale {scale}")) for symbols in allowed]
        if any(len(set(symbols)) < len(symbols) for symbols in choices):
            raise TaskError(f"task '{self.name}': the prompt of scale {scale} allows a symbol twice at some position")
        return choices

    def all_prompts(self, scale: int) -> Tokens:
        """Return every prompt of one scale in lexicographic order, uint8 [count, prompt length]."""
        choices = self.choices(scale)
        stride = math.prod(len(symbols) for symbols in choices)
        rows = np.arange(stride)
        columns = []
        for symbols in choices:
            stride //= len(symbols)
            columns.append(np.array(symbols, dtype=np.uint8)[rows // stride % len(symbols)])
        return np.stack(columns, axis=1)

    def sample_prompts(self, scale: int, count: int, rng: np.random.Generator) -> Tokens:
        """Return `count` prompts of one scale drawn uniformly and independently, uint8 [count, prompt length].

        The array is position-major in memory, because tasks compute position by position. Positions with a single
        allowed symbol draw nothing from `rng`.
        """
        choices = self.choices(scale)
        prompts = np.empty((len(choices), count), dtype=np.uint8)
        # All positions with the same choices are drawn at once.
        for symbols in dict.fromkeys(choices):
            positions = [position for position, allowed in enumerate(choices) if allowed == symbols]
            indices = rng.integers(len(symbols), size=(len(positions), count), dtype=np.uint8)
            prompts[positions] = np.array(symbols, dtype=np.uint8).take(indices)
        return prompts.T

    def outputs(self, prompts: Tokens) -> Tokens:
        """Return the tokens appended to each prompt of one scale, uint8 [count, output length].

        Raises:
            TaskError: an output is empty, lengths differ, a symbol is not in the alphabet, `generate` fails, or the
                vectorised version disagrees with it.
        """
        # Compared rows are spread over the batch: neighbours in a lexicographic list differ in the last symbols only.
        rows = np.unique(np.linspace(0, len(prompts) - 1, 16).astype(np.int64))
        if self.vectorised is None:
            outputs = self._plain_outputs(prompts)
            repeated = self._plain_outputs(prompts[rows])
            if repeated.shape[1] != outputs.shape[1] or (repeated != outputs[rows]).any():
                raise TaskError(f"task '{self.name}': generate gives other output on a second call; make it a function")
            return outputs
        plain = self._plain_outputs(prompts[rows])
        read_only = prompts.view()
        read_only.flags.writeable = False  # else the function could change the prompts it is checked on
        outputs = self.vectorised(read_only)
        right = outputs.shape == (len(prompts), plain.shape[1]) and (outputs[rows] == plain).all()
        if not right or outputs.min() < 0 or outputs.max() >= len(self.alphabet):
            raise TaskError(f"task '{self.name}': the vectorised function disagrees with generate; mend or remove it")
        return outputs.astype(np.uint8)

    def text(self, tokens: Sequence[int] | Tokens) -> str:
        """Return token numbers as symbols, separated by blanks."""
        return " ".join(self.alphabet[token] for token in tokens)

    def _plain_outputs(self, prompts: Tokens) -> Tokens:
        """Return the outputs computed by `generate`, prompt by prompt: uint8 [count, output length]."""
        outputs = np.empty((0, 0), dtype=np.uint8)
        for row, prompt in enumerate(prompts):
            output = self.generate(tuple(self.alphabet[token] for token in prompt))
            if not output:
                raise TaskError(f"task '{self.name}': generate appends nothing to prompt {self.text(prompt)}")
            if row == 0:
                self.require_size(len(prompts), len(output))
                outputs = np.empty((len(prompts), len(output)), dtype=np.uint8)
            if len(output) != outputs.shape[1]:
                raise TaskError(
                    f"task '{self.name}': {outputs.shape[1]} and {len(output)} symbols are appended to prompts of one "
                    f"scale; give {self.text(prompt)} as many as {self.text(prompts[0])}"
                )
            outputs[row] = self._numbers(output, "the output")
        return outputs

    def require_size(self, sequences: int, positions: int) -> None:
        """Raise TaskError if `sequences` sequences of `positions` positions are more than memory may hold."""
        if sequences * positions > MAX_TOKENS:
            raise TaskError(
                f"task '{self.name}': {sequences:,} sequences of {positions:,} positions are more than {MAX_TOKENS:,} "
                "tokens; take smaller scales"
            )

    @cached_property
    def _number(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.alphabet)}

    def _numbers(self, symbols: Sequence[str], where: str) -> list[int]:
        try:
            return [self._number[symbol] for symbol in symbols]
        except Exception:  # not only KeyError: a value that is no symbol may be unhashable
            unknown = next(symbol for symbol in symbols if not isinstance(symbol, str) or symbol not in self.alphabet)
            raise TaskError(
                f"task '{self.name}': symbol {shown(unknown)} in {where} is not in the alphabet {self.alphabet}"
            ) from None

    def _symbols(self, alphabet: Any) -> tuple[str, ...]:
        """Return the alphabet as a tuple of plain strings."""
        if not isinstance(alphabet, tuple | list | str):
            raise TaskError(f"task '{self.name}': the alphabet must be a tuple of symbols, not {shown(alphabet)}")
        if len(alphabet) > MAX_SYMBOLS:
            raise TaskError(f"task '{self.name}': at most {MAX_SYMBOLS} symbols, not {len(alphabet):,}")
        for symbol in alphabet:
            if not isinstance(symbol, str) or not 0 < len(symbol) <= LONGEST_SYMBOL or not symbol.isprintable():
                raise TaskError(
                    f"task '{self.name}': a symbol is a text of 1 to {LONGEST_SYMBOL} printable characters, "
                    f"not {shown(symbol)}"
                )
        if not alphabet or len(set(alphabet)) != len(alphabet):
            raise TaskError(f"task '{self.name}': the alphabet must hold different symbols, at least one")
        return tuple(str.__str__(symbol) for symbol in alphabet)

    def _guarded(
        self, function: Any, read: Callable[[Any], Any], what: str, where: str, **options: Any
    ) -> Guarded[Any]:
        """Return a function of the task whose failures are one line: "task 'NAME': WHAT fails WHERE: ..."."""
        if not callable(function):
            raise TaskError(f"task '{self.name}': {what} must be a function, not {shown(function)}")

        def fails(*arguments: Any) -> str:
            return f"task '{self.name}': {what} fails {where.format(_argument_text(arguments[-1]))}"

        return Guarded(function, read=read, fails=fails, error=TaskError, **options)

    def _guarded_reference(self, reference: Any) -> Reference:
        if not isinstance(reference, Reference):
            raise TaskError(f"task '{self.name}': reference must be a Reference or None, not {shown(reference)}")
        if type(reference.arity) is not int or not 1 <= reference.arity <= MAX_SLOTS:
            raise TaskError(
                f"task '{self.name}': the reference circuit's arity must be 1 to {MAX_SLOTS}, "
                f"not {shown(reference.arity)}"
            )
        return Reference(
            arity=reference.arity,
            steps=self._guarded(reference.steps, self._read_steps, "the reference circuit's steps", "at scale {}"),
            apply=self._guarded(
                reference.apply, self._read_symbol, "the reference circuit's apply", "on {}", expected=(ValueError,)
            ),
        )

    def _read_prompt(self, answer: Any) -> list[tuple[str, ...]]:
        positions = self._as_list(answer, "positions of a prompt")
        if any(isinstance(symbols, set | frozenset) for symbols in positions):
            raise TaskError(f"task '{self.name}': prompt allows a set of symbols, which has no order; give a tuple")
        return [tuple(map(_plain, itertools.islice(symbols, MAX_SYMBOLS + 1))) for symbols in positions]

    def _read_output(self, answer: Any) -> list[str]:
        return [_plain(symbol) for symbol in self._as_list(answer, "symbols that generate appends to a prompt")]

    def _read_vectorised(self, answer: Any) -> NDArray[Any]:
        outputs = np.asarray(answer)
        if outputs.dtype.kind not in "biu":
            raise TaskError(f"task '{self.name}': the vectorised function must give integers, not {outputs.dtype}")
        return outputs

    def _read_steps(self, answer: Any) -> list[tuple[str, tuple[int, ...]]]:
        steps = []
        for name, arguments in self._as_list(answer, "steps of the reference circuit"):
            if not isinstance(name, str):
                raise TaskError(f"task '{self.name}': a reference circuit's operator has a name, not {shown(name)}")
            steps.append((_plain(name), tuple(map(operator.index, self._as_list(arguments, "arguments of a step")))))
        return steps

    def _read_symbol(self, answer: Any) -> str:
        if not isinstance(answer, str):
            raise TaskError(f"task '{self.name}': the reference circuit's apply gives {shown(answer)}, not a symbol")
        return str.__str__(answer)

    def _as_list(self, answer: Iterable[Any], what: str) -> list[Any]:
        """Return an answer as a list. Raise TaskError if it is longer than LONGEST."""
        items = list(itertools.islice(answer, LONGEST + 1))
        if len(items) > LONGEST:
            raise TaskError(f"task '{self.name}': more than {LONGEST:,} {what}")
        return items


def _plain(symbol: Any) -> Any:
    """Return a text as a plain str, without methods of a user's subclass; anything else unchanged."""
    return str.__str__(symbol) if isinstance(symbol, str) else symbol


def _argument_text(argument: Any) -> str:
    """Return an argument of a task's function as text for a message."""
    if isinstance(argument, np.ndarray):
        return f"{len(argument):,} prompts"
    return " ".join(argument) if isinstance(argument, tuple) else str(argument)
