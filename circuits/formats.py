"""Formats: how the operands of a task are laid out over scales.

Unaligned is the task as written. Aligned pads every operand to one width, so that a token's position no longer
depends on the scale ([P], docs/theory.md, Roles). A format is a task itself: whatever can be asked of a task
can be asked of its aligned form.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from circuits.task import Reference, Task, TaskError, Tokens
from circuits.trace import segments

PAD = "_"
"""The symbol that fills an operand up to its width."""


CLOSING = 2
"""PADs after an operand at the largest scale."""


def aligned(task: Task, largest_scale: int) -> Task:
    """The task with every operand padded to its width at the largest scale, and two PADs more.

    They close the operand at the largest scale too. Without them its end would look different there than at every
    smaller scale, and the last steps, which look for the place after the operand and, where an output has a digit
    more than its operands, for the one after that, would meet it for the first time.

    Raises:
        TaskError: the alphabet already holds PAD, or (when scales are asked for) scales beyond the largest, operands
            that shrink, or another number of operands than at the largest scale.
    """
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
        plain = [tuple(symbols) for symbols in task.prompt(scale)]
        width_of = dict(zip(operands, widths, strict=True))
        padded: list[Sequence[str]] = []
        for segment in cut:
            padded += plain[segment.first - 1 : segment.last]
            padded += [(PAD,)] * (width_of.get(segment, segment.width) - segment.width)
        return padded

    pad = len(task.alphabet)
    plain_vectorised = task.vectorised

    def vectorised(prompts: Tokens) -> Tokens:
        assert plain_vectorised is not None
        # Transposed, so that what is position-major in memory stays so.
        return np.asarray(plain_vectorised(prompts.T[prompts[0] != pad].T))

    def place(scale: int, position: int) -> int:
        """Position in the padded sequence of a position of the plain one."""
        places = [index for index, allowed in enumerate(prompt(scale), start=1) if tuple(allowed) != (PAD,)]
        beyond = position - len(places)
        return len(prompt(scale)) + beyond if beyond > 0 else places[position - 1]

    return replace(
        task,
        name=f"{task.name}-aligned-{largest_scale}",
        alphabet=(*task.alphabet, PAD),
        prompt=prompt,
        generate=lambda symbols: task.generate(tuple(symbol for symbol in symbols if symbol != PAD)),
        vectorised=vectorised if plain_vectorised else None,
        reference=_moved(task.reference, place) if task.reference else None,
    )


def _moved(reference: Reference, place: Callable[[int, int], int]) -> Reference:
    """The circuit of the padded sequence: it reads the same tokens where they lie now, and no PAD."""

    def steps(scale: int) -> list[tuple[str, tuple[int, ...]]]:
        moved = cache(lambda position: place(scale, position))
        return [(operator, tuple(map(moved, arguments))) for operator, arguments in reference.steps(scale)]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        if PAD in symbols:
            raise ValueError(f"'{operator}' does not read {PAD}")
        return reference.apply(operator, symbols)

    return replace(reference, steps=steps, apply=apply)


FORMATS = ("aligned", "unaligned")


def in_format(task: Task, name: str, *, largest_scale: int) -> Task:
    """The task in the named format.

    Raises:
        TaskError: the format is not one of FORMATS, or the task cannot be aligned.
    """
    if name not in FORMATS:
        raise TaskError(f"unknown format '{name}': choose one of {', '.join(FORMATS)}")
    return aligned(task, largest_scale) if name == "aligned" else task
