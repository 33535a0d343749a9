"""Instructions that are carried out: commands that stand for actions, as in SCAN, and operations on a stack."""

import random
from collections.abc import Callable
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Task, Tokens

VERBS = ("walk", "run", "jump", "look")
ADVERBS = ("once", "twice", "thrice")
_ACTIONS = tuple(verb.upper() for verb in VERBS)
_SCAN = (*VERBS, *ADVERBS, "=", *_ACTIONS, "$")


def scan() -> Task:
    """`v1 m1 .. vn mn = actions $`: each verb v as an action, once, twice or thrice as its adverb m says.

    `walk twice jump once = WALK WALK JUMP $`. It is a task like SCAN (arXiv 1711.00350), not that data set [F]: the
    scale is the number of commands; "once" is written, and "and" is not, which would be the only conjunction. The
    output ends early. No arity is enough at all scales, because the verb of an action depends on all adverbs before it.
    """
    return Task(
        name="scan",
        alphabet=_SCAN,
        prompt=lambda n: [*[VERBS, ADVERBS] * n, ("=",)],
        generate=lambda symbols: _of_one(_actions, _SCAN, symbols),
        vectorised=_actions,
        end="$",
    )


def _actions(prompts: Tokens) -> NDArray[Any]:
    """Actions of many prompts, uint8 [count, prompt tokens] -> uint8 [count, most actions + 1]; '$' fills a row."""
    verbs, times = prompts[:, :-1:2], prompts[:, 1::2] - (len(VERBS) - 1)
    places = np.arange(verbs.shape[1] * len(ADVERBS) + 1)
    actions = np.full((len(prompts), len(places)), len(_SCAN) - 1, dtype=np.uint8)
    actions[places < times.sum(axis=1)[:, None]] = np.repeat(verbs + _SCAN.index(_ACTIONS[0]), times.ravel())
    return actions


_PUSHES = ("+0", "+1")
_POP = "-"
_STACK = ("0", "1", *_PUSHES, _POP, "=", "$")


def stack() -> Task:
    """`x1 .. xk a1 .. a(n-k) = y1 .. ym $`: a stack of bits x, operations a on it, and the final stack y.

    This is "stack manipulation" of arXiv 2207.02098: the first stack is given bottom to top, `+0` and `+1` push, `-`
    pops and does nothing to an empty stack, and the final stack is given top to bottom. As there, the scale is the
    number of bits and operations together, and k is drawn uniformly from 1 to n - 1, each bit and operation uniformly.
    The output ends early. No arity is enough at all scales, because the top depends on all operations.
    """

    def draw(n: int, source: random.Random) -> list[str]:
        bits = source.randint(1, max(n - 1, 1))
        return [*source.choices(_STACK[:2], k=bits), *source.choices((*_PUSHES, _POP), k=n - bits), "="]

    def vectorised_valid(prompts: Tokens) -> NDArray[np.bool_]:
        is_bit = prompts < 2
        return np.asarray(~(is_bit[:, 1:] & ~is_bit[:, :-1]).any(axis=1))

    return Task(
        name="stack",
        alphabet=_STACK,
        prompt=lambda n: [("0", "1"), *[_STACK[:5]] * (n - 2), *[(*_PUSHES, _POP)] * (n > 1), ("=",)],
        generate=lambda symbols: _of_one(_final_stacks, _STACK, symbols),
        vectorised=_final_stacks,
        end="$",
        valid=lambda symbols: (
            not any(before in (*_PUSHES, _POP) and after in _STACK[:2] for before, after in pairwise(symbols))
        ),
        draw=draw,
        vectorised_valid=vectorised_valid,
    )


def _final_stacks(prompts: Tokens) -> NDArray[Any]:
    """Final stacks of many prompts, uint8 [count, prompt tokens] -> uint8 [count, prompt tokens]; '$' fills a row."""
    content = np.zeros(prompts.shape, dtype=np.uint8)
    heights = np.zeros(len(prompts), dtype=np.int64)
    rows = np.arange(len(prompts))
    for tokens in prompts[:, :-1].T:
        pops = tokens == _STACK.index(_POP)
        content[rows[~pops], heights[~pops]] = tokens[~pops] % 2
        heights = np.maximum(heights + np.where(pops, -1, 1), 0)
    places = heights[:, None] - 1 - np.arange(prompts.shape[1])
    values = np.take_along_axis(content, np.maximum(places, 0), axis=1)
    return np.where(places >= 0, values, len(_STACK) - 1)


def _of_one(fast: Callable[[Tokens], NDArray[Any]], alphabet: tuple[str, ...], prompt: tuple[str, ...]) -> list[str]:
    """Output of one prompt by a function of many, up to '$'."""
    output = fast(np.array([[*map(alphabet.index, prompt)]], dtype=np.uint8))[0]
    return [*takewhile("$".__ne__, map(alphabet.__getitem__, output)), "$"]
