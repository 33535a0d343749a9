"""Answers of the functions of a user's task, read into plain values; a malformed one is refused in one line."""

import itertools
import operator
import random
from collections.abc import Callable, Iterable
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.userfile import Guarded, shown

MAX_SYMBOLS = 254
"""Largest size of an alphabet. Token numbers are uint8, of which `lengthgen.circuits.task.UNDEFINED` is none."""
LONGEST_SYMBOL = 50
"""Largest number of characters of a symbol."""
LONGEST = 100_000
"""Largest number of positions of a prompt, and of symbols appended to it."""
MAX_RIGHT = 10_000
"""Largest number of right outputs of one prompt."""


class Answers:
    """Reader of the answers of one task: a method for each kind of answer, which raises `error` if it is malformed.

    A text becomes a plain str, without methods of a user's subclass.
    """

    def __init__(self, owner: str, error: type[LengthgenError]) -> None:
        """Take `owner`, with which a message begins, such as "task 'parity'", and the exception to raise."""
        self.owner, self.error = owner, error

    def guarded(self, function: Any, read: Callable[[Any], Any], what: str, where: str, **options: Any) -> Guarded[Any]:
        """Return a function of the task whose failures are one line: "OWNER: WHAT fails WHERE: ...".

        `read` is a method of this class, and `where` names the last argument by {}.
        """
        if not callable(function):
            raise self.error(f"{self.owner}: {what} must be a function, not {shown(function)}")

        def fails(*arguments: Any) -> str:
            sources = random.Random | np.random.Generator
            last = next(each for each in reversed(arguments) if not isinstance(each, sources))
            if isinstance(last, np.ndarray):
                last = f"{len(last):,} prompts"
            elif isinstance(last, tuple):
                last = " ".join(last)
            return f"{self.owner}: {what} fails {where.format(last)}"

        return Guarded(function, read=read, fails=fails, error=self.error, **options)

    def alphabet(self, alphabet: Any) -> tuple[str, ...]:
        """Return an alphabet as a tuple of different symbols, at least one."""
        if not isinstance(alphabet, tuple | list | str):
            raise self.error(f"{self.owner}: the alphabet must be a tuple of symbols, not {shown(alphabet)}")
        if len(alphabet) > MAX_SYMBOLS:
            raise self.error(f"{self.owner}: at most {MAX_SYMBOLS} symbols, not {len(alphabet):,}")
        for symbol in alphabet:
            if not isinstance(symbol, str) or not 0 < len(symbol) <= LONGEST_SYMBOL or not symbol.isprintable():
                raise self.error(
                    f"{self.owner}: a symbol is a text of 1 to {LONGEST_SYMBOL} printable characters, "
                    f"not {shown(symbol)}"
                )
        if not alphabet or len(set(alphabet)) != len(alphabet):
            raise self.error(f"{self.owner}: the alphabet must hold different symbols, at least one")
        return tuple(str.__str__(symbol) for symbol in alphabet)

    def prompt(self, answer: Any) -> list[tuple[str, ...] | EllipsisType]:
        """Return the symbols allowed at each position of a prompt; an Ellipsis stays one."""
        positions = self._as_list(answer, "positions of a prompt")
        if any(isinstance(symbols, set | frozenset) for symbols in positions):
            raise self.error(f"{self.owner}: prompt allows a set of symbols, which has no order; give a tuple")
        return [
            ... if symbols is ... else tuple(map(_plain, itertools.islice(symbols, MAX_SYMBOLS + 1)))
            for symbols in positions
        ]

    def output(self, answer: Any) -> list[str]:
        """Return the symbols of an output, or of a prompt that was drawn."""
        symbols = self._as_list(answer, "symbols that generate appends to a prompt")
        # A call for each of a million symbols that are plain already would take most of the time.
        return [symbol if type(symbol) is str else _plain(symbol) for symbol in symbols]

    def right(self, answer: Any) -> list[list[str]]:
        """Return all right outputs of a prompt."""
        outputs = list(itertools.islice(answer, MAX_RIGHT + 1))
        if len(outputs) > MAX_RIGHT:
            raise self.error(f"{self.owner}: more than {MAX_RIGHT:,} right outputs of one prompt")
        return [self.output(output) for output in outputs]

    def valid(self, answer: Any) -> bool:
        """Return whether a combination of symbols is a prompt."""
        if not isinstance(answer, bool | np.bool_):
            raise self.error(f"{self.owner}: valid must give True or False, not {shown(answer)}")
        return bool(answer)

    def vectorised(self, answer: Any) -> NDArray[Any]:
        """Return what a vectorised function gives for many prompts: integers, True or False, of any shape."""
        array = np.asarray(answer)
        if array.dtype.kind not in "biu":
            raise self.error(f"{self.owner}: a vectorised function must give integers, not {array.dtype}")
        return array

    def steps(self, answer: Any) -> list[tuple[str, tuple[int, ...]]]:
        """Return the steps of a reference circuit: operator and arguments."""
        steps = []
        for name, arguments in self._as_list(answer, "steps of the reference circuit"):
            if not isinstance(name, str):
                raise self.error(f"{self.owner}: a reference circuit's operator has a name, not {shown(name)}")
            steps.append((_plain(name), tuple(map(operator.index, self._as_list(arguments, "arguments of a step")))))
        return steps

    def symbol(self, answer: Any) -> str:
        """Return the symbol that an operator of a reference circuit gives."""
        if not isinstance(answer, str):
            raise self.error(f"{self.owner}: the reference circuit's apply gives {shown(answer)}, not a symbol")
        return str.__str__(answer)

    def _as_list(self, answer: Iterable[Any], what: str) -> list[Any]:
        """Return an answer as a list. Raise `error` if it is longer than LONGEST."""
        items = list(itertools.islice(answer, LONGEST + 1))
        if len(items) > LONGEST:
            raise self.error(f"{self.owner}: more than {LONGEST:,} {what}")
        return items


def _plain(symbol: Any) -> Any:
    """Return a text as a plain str, without methods of a user's subclass; anything else unchanged."""
    return str.__str__(symbol) if isinstance(symbol, str) else symbol
