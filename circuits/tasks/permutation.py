"""The control whose SRC must grow: another permutation of the alphabet at every step."""

import math

import numpy as np

from circuits.task import Task, Tokens


def permutation(base: int = 5) -> Task:
    """`x1 .. xn = y1 .. yn $` over digits below `base`, y_t = pi_t(x_t) (section 8 of docs/theory.md).

    pi_t is the t-th permutation of the digits in lexicographic order, beginning again after base! steps. No two of
    them fit one operator of one argument, so SRC(n) = min(n, base!) at arity 1.
    """
    digits = tuple(str(digit) for digit in range(base))

    def table(length: int) -> Tokens:
        return np.array([_nth_permutation(base, step % math.factorial(base)) for step in range(length)], np.uint8)

    def generate(prompt: tuple[str, ...]) -> list[str]:
        steps = enumerate(prompt[:-1])
        return [*(str(_nth_permutation(base, t % math.factorial(base))[int(symbol)]) for t, symbol in steps), "$"]

    def vectorised(prompts: Tokens) -> Tokens:
        length = prompts.shape[1] - 1
        output = table(length)[np.arange(length), prompts[:, :-1]]
        return np.concatenate([output, np.full((len(prompts), 1), base + 1, dtype=np.uint8)], axis=1)

    return Task(
        name="permutation",
        alphabet=(*digits, "=", "$"),
        prompt=lambda n: [digits] * n + [("=",)],
        generate=generate,
        vectorised=vectorised,
    )


def _nth_permutation(size: int, index: int) -> list[int]:
    """The permutation of 0..size-1 with the given index in lexicographic order."""
    left = list(range(size))
    found = []
    for remaining in range(size - 1, -1, -1):
        place, index = divmod(index, math.factorial(remaining))
        found.append(left.pop(place))
    return found
