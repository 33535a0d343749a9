"""Parity with chain of thought."""

import numpy as np

from circuits.task import Task, Tokens


def parity() -> Task:
    """`x1 .. xn = y1 .. yn $` over bits, y_t = x_1 xor .. xor x_t (section 8 of docs/theory.md).

    Unit operator: y_t = y_(t-1) xor x_t where '=' counts as 0, and the end of the operand gives '$'; arity 2.
    """

    def generate(prompt: tuple[str, ...]) -> list[str]:
        running, output = 0, []
        for bit in prompt[:-1]:
            running ^= bit == "1"
            output.append(str(int(running)))
        return [*output, "$"]

    def vectorised(prompts: Tokens) -> Tokens:
        running = np.bitwise_xor.accumulate(prompts[:, :-1], axis=1)
        return np.concatenate([running, np.full((len(prompts), 1), 3, dtype=np.uint8)], axis=1)

    return Task(
        name="parity",
        alphabet=("0", "1", "=", "$"),
        prompt=lambda n: [("0", "1")] * n + [("=",)],
        generate=generate,
        vectorised=vectorised,
    )
