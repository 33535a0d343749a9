"""Stack manipulation: a stack, operations on it, and what is on it then."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Task, Tokens

_PUSHES = ("+0", "+1")
_POP = "-"
_ALPHABET = ("0", "1", *_PUSHES, _POP, "=", "$")


def stack() -> Task:
    """`x1 .. xk a1 .. a(n-k) = y1 .. ym $`: a stack of bits x, operations a on it, and the final stack y.

    This is "stack manipulation" of arXiv 2207.02098: the first stack is given bottom to top, `+0` and `+1` push, `-`
    pops and does nothing to an empty stack, and the final stack is given top to bottom. As there, the scale is the
    number of bits and operations together, and k is drawn uniformly from 1 to n - 1, each bit and operation uniformly.
    The output ends early. No arity is enough at all scales, because the top depends on all operations.
    """

    def draw(n: int, source: random.Random) -> list[str]:
        bits = source.randint(1, max(n - 1, 1))
        return [*source.choices(_ALPHABET[:2], k=bits), *source.choices((*_PUSHES, _POP), k=n - bits), "="]

    return Task(
        name="stack",
        alphabet=_ALPHABET,
        prompt=lambda n: [("0", "1"), *[_ALPHABET[:5]] * (n - 2), *[(*_PUSHES, _POP)] * (n > 1), ("=",)],
        generate=_final_stack,
        vectorised=_final_stacks,
        end="$",
        valid=lambda symbols: (
            not any(before in (*_PUSHES, _POP) and after in _ALPHABET[:2] for before, after in pairwise(symbols))
        ),
        draw=draw,
    )


def _final_stack(symbols: tuple[str, ...]) -> list[str]:
    """Final stack of one prompt, top to bottom, and '$'."""
    content: list[str] = []
    for symbol in symbols[:-1]:
        if symbol != _POP:
            content.append(symbol[-1])
        elif content:
            content.pop()
    return [*reversed(content), "$"]


def _final_stacks(prompts: Tokens) -> NDArray[Any]:
    """Final stacks of many prompts, uint8 [count, prompt tokens] -> uint8 [count, prompt tokens]; '$' fills a row."""
    content = np.zeros(prompts.shape, dtype=np.uint8)
    heights = np.zeros(len(prompts), dtype=np.int64)
    rows = np.arange(len(prompts))
    for tokens in prompts[:, :-1].T:
        pops = tokens == _ALPHABET.index(_POP)
        content[rows[~pops], heights[~pops]] = tokens[~pops] % 2
        heights = np.maximum(heights + np.where(pops, -1, 1), 0)
    places = heights[:, None] - 1 - np.arange(prompts.shape[1])
    values = np.take_along_axis(content, np.maximum(places, 0), axis=1)
    return np.where(places >= 0, values, len(_ALPHABET) - 1)
