"""Formats: the layout of a task's operands over scales.

The unaligned format is the task as written. The aligned format pads every operand to one width, so that a token's
position no longer depends on the scale ([P], docs/theory.md, Roles). A task in a format is a Task itself and supports
the same operations.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from circuits.task import Reference, Task, TaskError, Tokens
from circuits.trace import segments

PAD = "_"
"""Symbol that fills an operand up to its width."""


CLOSING = 2
"""Number of PADs after an operand at the largest scale."""


def aligned(task: Task, largest_scale: int) -> Task:
    """Return the task with every operand padded to its width at the largest scale, plus two PADs.

    The two PADs close the operand at the largest scale too. Without them its end would look different there than at
    every smaller scale. The last steps read the place after the operand and, if an output has one digit more than its
    operands, the place after that; they would meet this end for the first time.

    Raises:
        TaskError: the alphabet already holds PAD, or prompt tokens come after outputs. Later, when a prompt is
            computed: the scale is beyond the largest, an operand is wider than at the largest scale, or the number of
            operands differs.
    """
    if None in task.layout(largest_scale):
        raise TaskError(
            f"task '{task.name}': prompt tokens after outputs cannot be aligned yet, as an operand is then no piece of "
            "the prompt; use the unaligned format"
        )
    if PAD in task.alphabet:
        raise TaskError(f"task '{task.name}': '{PAD}' fills operands in the aligned format; rename that symbol")
    widths = [segment.width + CLOSING for segment in segments(task, largest_scale) if segment.operand]

    def prompt(scale: int) -> list[Sequence[str]]:
        cut = segments(task, scale)
        operands = [segment for segment in cut if segment.operand]
        if len(operands) != len(widths) or any(s.width > w - CLOSING for s, w in zip(operands, widths, strict=True)):
            raise TaskError(
                f"task '{task.name}': the operands of scale {scale} do not fit those of scale {largest_scale}; "
                "align to the largest scale in use, or use the unaligned format"
            )
        plain = [tuple(symbols) for symbols in task.prompt(scale) if symbols is not ...]
        width_of = dict(zip(operands, widths, strict=True))
        padded: list[Sequence[str]] = []
        for segment in cut:
            padded += plain[segment.first - 1 : segment.last]
            padded += [(PAD,)] * (width_of.get(segment, segment.width) - segment.width)
        return padded

    pad = len(task.alphabet)
    plain_vectorised, plain_valid, plain_draw, plain_right = task.vectorised, task.valid, task.draw, task.right

    def vectorised(prompts: Tokens) -> Tokens:
        assert plain_vectorised is not None
        # Transposed to keep the position-major layout in memory.
        return np.asarray(plain_vectorised(prompts.T[prompts[0] != pad].T))

    @cache
    def prompt_places(scale: int) -> tuple[list[int], int]:
        """Return the places of the plain prompt's positions in the padded prompt, and the length of that."""
        padded = prompt(scale)
        return [index for index, allowed in enumerate(padded, start=1) if tuple(allowed) != (PAD,)], len(padded)

    def plain_prompt(symbols: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(symbol for symbol in symbols if symbol != PAD)

    def draw(scale: int, rng: random.Random) -> list[str]:
        assert plain_draw is not None
        places, length = prompt_places(scale)
        padded = [PAD] * length
        for position, symbol in zip(places, plain_draw(scale, rng), strict=True):
            padded[position - 1] = symbol
        return padded

    def place(scale: int, position: int) -> int:
        """Return the position in the padded sequence of a position of the plain sequence."""
        places, length = prompt_places(scale)
        steps_after = position - len(places)
        return length + steps_after if steps_after > 0 else places[position - 1]

    return replace(
        task,
        name=f"{task.name}-aligned-{largest_scale}",
        alphabet=(*task.alphabet, PAD),
        prompt=prompt,
        generate=lambda symbols: task.generate(plain_prompt(symbols)),
        vectorised=vectorised if plain_vectorised else None,
        valid=(lambda symbols: plain_valid(plain_prompt(symbols))) if plain_valid else None,
        draw=draw if plain_draw else None,
        right=(lambda symbols: plain_right(plain_prompt(symbols))) if plain_right else None,
        reference=_padded_reference(task.reference, place) if task.reference else None,
    )


def _padded_reference(reference: Reference, place: Callable[[int, int], int]) -> Reference:
    """Return the circuit of the padded sequence: it reads the same tokens at their new positions, and no PAD."""

    def steps(scale: int) -> list[tuple[str, tuple[int, ...]]]:
        return [
            (operator, tuple(place(scale, position) for position in arguments))
            for operator, arguments in reference.steps(scale)
        ]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        if PAD in symbols:
            raise ValueError(f"'{operator}' does not read {PAD}")
        return reference.apply(operator, symbols)

    return replace(reference, steps=steps, apply=apply)


FORMATS = ("aligned", "unaligned")


def in_format(task: Task, name: str, *, largest_scale: int) -> Task:
    """Return the task in the named format.

    Raises:
        TaskError: the format is not one of FORMATS, or the task cannot be aligned.
    """
    if name not in FORMATS:
        raise TaskError(f"unknown format '{name}': choose one of {', '.join(FORMATS)}")
    return aligned(task, largest_scale) if name == "aligned" else task
