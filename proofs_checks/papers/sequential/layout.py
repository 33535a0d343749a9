"""Parity with chain of thought at every scale at once: the positions that its steps read, and the tokens there.

A layout has the bits x_1 .. x_n at positions 1 .. n, padding up to the width w, '=' at w + 1 and y_t at w + 1 + t; the
step t = n + 1 writes '$'. Block layout: w = n. Aligned layout: w > n, the same at all scales.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import sympy as sp

from lengthgen.circuits.formats import PAD
from lengthgen.circuits.task import Task

Word = tuple[int, ...]

Slots = Callable[[Any, Any], tuple[Any, ...]]
"""(t, w), numbers or expressions -> the positions that step t reads."""
Key = tuple[str, ...]
Bits = frozenset[sp.Expr]
"""A token that is the sum modulo 2 of the prefix parities y_i with these indices i."""


def word_task(name: str, symbols: int, output: Callable[[Word], Sequence[int]], *, longer: int = 0) -> Task:
    """Return a task whose prompts of scale n are all words of length n + `longer` over the symbols 0 .. symbols - 1."""
    alphabet = tuple(map(str, range(symbols)))
    return Task(
        name=name,
        alphabet=alphabet,
        prompt=lambda n: [alphabet] * (n + longer),
        generate=lambda word: [str(value) for value in output(tuple(map(int, word)))],
    )


def parity_of(word: Word) -> list[int]:
    """Return the sum modulo 2, as the only output."""
    return [sum(word) % 2]


def parities_of(word: Word) -> list[int]:
    """Return the sums modulo 2 of all prefixes."""
    return [sum(word[: t + 1]) % 2 for t in range(len(word))]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A group of steps at all scales: step t of scale n in a layout of width w, as expressions in symbols >= 0."""

    name: str
    t: sp.Expr
    n: sp.Expr
    w: sp.Expr

    def token(self, position: sp.Expr) -> str | Bits:
        """Return the token at a position: a mark, or bits.

        Raises `ValueError` if the symbols do not decide it, or if the position is not earlier than the step.
        """
        if not (_at_least(position, 1) and _at_least(self.w + self.t, position)):
            raise ValueError(f"{self.name} step: position {position} is not one of the earlier")
        if _at_least(self.n, position):
            return frozenset({sp.expand(position), sp.expand(position - 1)} - {sp.Integer(0)})
        if _at_least(self.w, position):
            return PAD
        if sp.expand(position - self.w - 1) == 0:
            return "="
        return frozenset({sp.expand(position - self.w - 1)} - {sp.Integer(0)})

    def wanted(self) -> str | Bits:
        """Token that the step must write."""
        return frozenset({sp.expand(self.t)}) if _at_least(self.n, self.t) else "$"


def steps(*, aligned: bool) -> tuple[Step, ...]:
    """Return the first step, the later ones and the last, of every scale: together these are all steps."""
    r, s, gap = sp.symbols("r s gap", integer=True, nonnegative=True)

    def step(name: str, t: sp.Expr, n: sp.Expr) -> Step:
        return Step(name=name, t=t, n=n, w=n + 1 + gap if aligned else n)

    return (step("first", sp.Integer(1), 1 + s), step("later", 2 + r, 2 + r + s), step("end", 2 + s, 1 + s))


def cases(step: Step, slots: Slots) -> Iterator[tuple[Key, str]]:
    """Yield the keys that a step can meet, each with the token to write; the prefix parities y_i take all values.

    Raises `ValueError` if two indices may be equal.
    """
    tokens = [step.token(position) for position in slots(step.t, step.w)]
    wanted = step.wanted()
    indices = sorted({i for token in (*tokens, wanted) if isinstance(token, frozenset) for i in token}, key=str)
    for first, second in product(indices, repeat=2):
        if first != second and not sp.expand(first - second).is_nonzero:
            raise ValueError(f"{step.name} step: y_{first} and y_{second} may be one")
    for values in product((0, 1), repeat=len(indices)):
        value = dict(zip(indices, values, strict=True))
        yield tuple(_read(token, value) for token in tokens), _read(wanted, value)


def sequence(bits: Sequence[int], *, width: int) -> list[str]:
    """Return the whole sequence of one prompt."""
    tokens = [*map(str, bits), *[PAD] * (width - len(bits)), "="]
    return [*tokens, *(str(sum(bits[: t + 1]) % 2) for t in range(len(bits))), "$"]


def slots_of_parity(t: Any, w: Any) -> tuple[Any, Any]:
    """Positions of x_t and y_(t-1); '=' stands for y_0, and after the bits comes '=' or padding."""
    return t, w + t


def xor(key: Key) -> str:
    """Unit operator: (x_t, y_(t-1)) -> y_t, and '$' after the bits."""
    x, y = key
    return "$" if x in ("=", PAD) else str(int(x) ^ (0 if y == "=" else int(y)))


def _read(token: str | Bits, parities: Mapping[sp.Expr, int]) -> str:
    """Token for these values of the prefix parities."""
    return token if isinstance(token, str) else str(sum(parities[i] for i in token) % 2)


def _at_least(larger: sp.Expr, smaller: sp.Expr | int) -> bool:
    """True if larger >= smaller. Raises `ValueError` if the symbols do not decide it."""
    difference = sp.expand(larger - smaller)
    if difference.is_nonnegative:
        return True
    if difference.is_negative:
        return False
    raise ValueError(f"the symbols do not say whether {larger} >= {smaller}")
