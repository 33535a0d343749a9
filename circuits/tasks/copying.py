"""Copy."""

import numpy as np

from circuits.task import Task, Tokens


def copy(base: int = 2) -> Task:
    """`x1 .. xn = x1 .. xn $` over digits below `base` (section 8 of docs/theory.md).

    Unit operator: the identity, and '=' gives '$'; arity 1.
    """
    digits = tuple(str(digit) for digit in range(base))

    def vectorised(prompts: Tokens) -> Tokens:
        return np.concatenate([prompts[:, :-1], np.full((len(prompts), 1), base + 1, dtype=np.uint8)], axis=1)

    return Task(
        name="copy",
        alphabet=(*digits, "=", "$"),
        prompt=lambda n: [digits] * n + [("=",)],
        generate=lambda prompt: [*prompt[:-1], "$"],
        vectorised=vectorised,
    )
