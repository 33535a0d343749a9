"""Commands that stand for actions, in the manner of SCAN."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.task import Task, Tokens

VERBS = ("walk", "run", "jump", "look")
ADVERBS = ("once", "twice", "thrice")
_ACTIONS = tuple(verb.upper() for verb in VERBS)
_ALPHABET = (*VERBS, *ADVERBS, "=", *_ACTIONS, "$")


def scan() -> Task:
    """`v1 m1 .. vn mn = actions $`: each verb v as an action, once, twice or thrice as its adverb m says.

    `walk twice jump once = WALK WALK JUMP $`. It is a task like SCAN (arXiv 1711.00350), not that data set [F]: the
    scale is the number of commands; "once" is written, and "and" is not, which would be the only conjunction. The
    output ends early. No arity is enough at all scales, because the verb of an action depends on all adverbs before it.
    """

    def generate(symbols: tuple[str, ...]) -> list[str]:
        pairs = zip(symbols[:-1:2], symbols[1::2], strict=True)
        return [*(verb.upper() for verb, adverb in pairs for _ in range(1 + ADVERBS.index(adverb))), "$"]

    return Task(
        name="scan",
        alphabet=_ALPHABET,
        prompt=lambda n: [*[VERBS, ADVERBS] * n, ("=",)],
        generate=generate,
        vectorised=_actions,
        end="$",
    )


def _actions(prompts: Tokens) -> NDArray[Any]:
    """Actions of many prompts, uint8 [count, prompt tokens] -> uint8 [count, most actions + 1]; '$' fills a row."""
    verbs, times = prompts[:, :-1:2], prompts[:, 1::2] - (len(VERBS) - 1)
    places = np.arange(verbs.shape[1] * len(ADVERBS) + 1)
    actions = np.full((len(prompts), len(places)), len(_ALPHABET) - 1, dtype=np.uint8)
    actions[places < times.sum(axis=1)[:, None]] = np.repeat(verbs + _ALPHABET.index(_ACTIONS[0]), times.ravel())
    return actions
