"""Formats: the layout of a task's operands over scales.

The unaligned format is the task as written. The aligned format pads every operand to one width, so that a token's
position no longer depends on the scale ([P], docs/theory/circuits.md, Roles). The filled format ([F]) has random
symbols where the aligned one has padding, so that training already shows every symbol at every distance. A task in a
format is a Task itself and supports the same operations.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from types import EllipsisType

import numpy as np

from lengthgen.circuits.task import Reference, Task, TaskError, Tokens
from lengthgen.circuits.trace import SAMPLE, Trace, segments, trace

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
    return _padded(task, _aligned_prompt(task, largest_scale, to_width=True))


Prompt = Callable[[int], list[Sequence[str] | EllipsisType]]
"""Function from n to the symbols allowed at each place of a prompt, as `Task.prompt` gives them."""


def _aligned_prompt(task: Task, largest_scale: int, *, to_width: bool) -> Prompt:
    """Return the prompt with two PADs after every operand and, if `to_width`, as many more as its width needs."""
    widths = [segment.width + CLOSING for segment in segments(task, largest_scale) if segment.operand]

    def prompt(scale: int) -> list[Sequence[str] | EllipsisType]:
        cut = segments(task, scale)
        operands = [segment for segment in cut if segment.operand]
        if len(operands) != len(widths) or any(s.width > w - CLOSING for s, w in zip(operands, widths, strict=True)):
            raise TaskError(
                f"task '{task.name}': the operands of scale {scale} do not fit those of scale {largest_scale}; "
                "align to the largest scale in use, or use the unaligned format"
            )
        plain = [tuple(symbols) for symbols in task.prompt(scale) if symbols is not ...]
        width_of = dict(zip(operands, widths, strict=True))
        padded: list[Sequence[str] | EllipsisType] = []
        for segment in cut:
            padded += plain[segment.first - 1 : segment.last]
            if segment.operand:
                padded += [(PAD,)] * (width_of[segment] - segment.width if to_width else CLOSING)
        return padded

    return prompt


def _padded(task: Task, prompt: Prompt) -> Task:
    """Return the task with PADs where a prompt has them beyond those of the task.

    Raises:
        TaskError: the alphabet already holds PAD.
    """
    if PAD in task.alphabet:
        raise TaskError(f"task '{task.name}': '{PAD}' fills operands in the aligned format; rename that symbol")
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
        return [index for index, allowed in enumerate(padded, start=1) if not _is_pad(allowed)], len(padded)

    @cache
    def pads(scale: int) -> list[bool]:
        """Return which tokens of the padded prompt are PADs."""
        return [_is_pad(allowed) for allowed in prompt(scale) if allowed is not ...]

    def plain_prompt(symbols: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(symbol for symbol in symbols if symbol != PAD)

    def draw(scale: int, rng: random.Random) -> list[str]:
        assert plain_draw is not None
        drawn = iter(plain_draw(scale, rng))
        return [PAD if is_pad else next(drawn) for is_pad in pads(scale)]

    def place(scale: int, position: int) -> int:
        """Return the position in the padded sequence of a position of the plain sequence."""
        places, length = prompt_places(scale)
        steps_after = position - len(places)
        return length + steps_after if steps_after > 0 else places[position - 1]

    return replace(
        task,
        alphabet=(*task.alphabet, PAD),
        prompt=prompt,
        generate=lambda symbols: task.generate(plain_prompt(symbols)),
        vectorised=vectorised if plain_vectorised else None,
        valid=(lambda symbols: plain_valid(plain_prompt(symbols))) if plain_valid else None,
        draw=draw if plain_draw else None,
        right=(lambda symbols: plain_right(plain_prompt(symbols))) if plain_right else None,
        reference=_moved_reference(task.reference, place) if task.reference else None,
    )


def _is_pad(allowed: Sequence[str] | EllipsisType) -> bool:
    """True if a place of a prompt allows PAD alone."""
    return allowed is not ... and tuple(allowed) == (PAD,)


def _moved_reference(reference: Reference, place: Callable[[int, int], int]) -> Reference:
    """Return the circuit that reads the same tokens at their new positions, and no PAD."""

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


@dataclass(frozen=True, kw_only=True)
class FilledTask(Task):
    """Task in the filled format. No step depends on its filler, so that its circuits are those of its core.

    Attributes:
        core: the task without filler: a PAD, then the prompt with two PADs after every operand.
        place: function from n and a position in the core's sequence to its position in the filled sequence.
        is_filler: function from n to True for each given token that is filler.
    """

    core: Task
    place: Callable[[int, int], int]
    is_filler: Callable[[int], Sequence[bool]]

    def filled_trace(self, core_trace: Trace) -> Trace:
        """Return a trace of the core, once with one filler and then with at least SAMPLE random ones.

        Sequences with equal filler are needed to see that a view which holds filler does not decide a token. The trace
        counts as exhaustive if all prompts of the core are in it, although filler is always a sample.
        """
        inputs = core_trace.tokens.shape[1]
        copies = 1 + -(-SAMPLE // inputs)
        tokens = np.tile(core_trace.tokens, (1, copies))
        places = [self.place(core_trace.scale, position) - 1 for position in range(1, core_trace.length + 1)]
        length = places[-1] + 1
        self.require_size(tokens.shape[1], length)
        filler = np.array([self.alphabet.index(symbol) for symbol in _filler(self.core)], dtype=np.uint8)
        rng = np.random.default_rng(core_trace.scale)
        all_tokens = filler[rng.integers(len(filler), size=(length, tokens.shape[1]), dtype=np.uint8)]
        all_tokens[:, :inputs] = all_tokens[:, :1]
        all_tokens[places] = tokens
        return Trace(
            scale=core_trace.scale,
            symbols=core_trace.symbols,
            tokens=all_tokens,
            given=tuple(self.given(core_trace.scale)),
            segments=segments(self, core_trace.scale),
            near=np.empty((0, 2), dtype=np.int64),
            exhaustive=core_trace.exhaustive,
        )


def _filler(core: Task) -> tuple[str, ...]:
    """Return the symbols that filler is drawn from: all but the end, which no key ever holds."""
    return tuple(symbol for symbol in core.alphabet if symbol != core.end)


def filled(task: Task, largest_scale: int) -> FilledTask:
    """Return the task with filler after every operand's two PADs up to its width, and before the prompt.

    Filler is any symbol but the task's end, PAD included: at a larger scale digits, padding, fixed tokens and outputs
    all come to stand at distances where smaller scales have filler. The first PAD after an operand is its end. The
    filler before the prompt makes all sequences as long as the longest, so that all distances occur at every scale; a
    PAD separates it from the prompt. What filler holds changes no output. Where prompt tokens come after outputs, no
    operand is a piece of the prompt, and filler comes before the prompt alone.

    Raises:
        TaskError: the alphabet already holds PAD. Later, when a prompt is computed: as for `aligned`, or the number of
            fixed tokens between operands changes with the scale.
    """
    between = None in task.layout(largest_scale)
    closed = task.prompt if between else _aligned_prompt(task, largest_scale, to_width=False)
    core = _padded(task, lambda scale: [(PAD,), *closed(scale)])
    last_cut = segments(task, largest_scale)
    widths = [segment.width + CLOSING * segment.operand for segment in last_cut]
    filler = _filler(core)

    @cache
    def length(scale: int) -> int:
        """Return the length of the longest sequence without the filler before the prompt."""
        if core.end is not None:
            core_length = trace(core, scale).length
        else:
            core_length = core.sequences(scale, core.sample_prompts(scale, 1, np.random.default_rng(scale))).shape[1]
        return core_length if between else core_length - len(core.layout(scale)) + 1 + sum(widths)

    @cache
    def prompt_places(scale: int) -> tuple[list[int], int]:
        """Return the places of the core's prompt positions in the filled prompt, and the length of that."""
        core_width = len(core.layout(scale))  # raises TaskError if the operands do not fit
        before = max(map(length, range(1, largest_scale + 1))) - length(scale)
        if between:
            return [*range(before + 1, before + core_width + 1)], before + core_width
        places = [before := before + 1]
        for segment, width, last in zip(segments(task, scale), widths, last_cut, strict=False):
            if segment.operand != last.operand or (not segment.operand and segment.width != width):
                break
            places += range(before + 1, before + segment.width + CLOSING * segment.operand + 1)
            before += width
        if len(places) != core_width:
            raise TaskError(
                f"task '{task.name}': the fixed tokens of scale {scale} are not as many as those of scale "
                f"{largest_scale}, which the filled format needs; use the aligned or the unaligned format"
            )
        return places, before

    def kept(is_pad: list[bool]) -> list[int]:
        """Return the indices of the core's tokens in a filled prompt, from the places of PAD in it."""
        if between:
            return [*range(len(is_pad) - 1 - is_pad[::-1].index(True), len(is_pad))]
        start = len(is_pad) - sum(widths)
        indices = [start - 1]
        for width, segment in zip(widths, last_cut, strict=True):
            held = is_pad.index(True, start) - start + CLOSING if segment.operand else width
            indices += range(start, start + held)
            start += width
        return indices

    def core_prompt(symbols: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(symbols[index] for index in kept([symbol == PAD for symbol in symbols]))

    def place(scale: int, position: int) -> int:
        places, width = prompt_places(scale)
        steps_after = position - len(places)
        return width + steps_after if steps_after > 0 else places[position - 1]

    def prompt(scale: int) -> list[Sequence[str] | EllipsisType]:
        places, width = prompt_places(scale)
        choices: list[Sequence[str] | EllipsisType] = [filler] * width
        for position, allowed in zip(places, core.prompt(scale), strict=True):
            choices[position - 1] = allowed
        return choices

    @cache
    def is_filler(scale: int) -> list[bool]:
        """Return which tokens of the filled prompt are filler."""
        places = {*prompt_places(scale)[0]}
        given = enumerate(prompt(scale), start=1)
        return [position not in places for position, allowed in given if allowed is not ...]

    pad = core.alphabet.index(PAD)
    core_vectorised, core_valid, core_draw, core_right = core.vectorised, core.valid, core.draw, core.right

    def vectorised(prompts: Tokens) -> Tokens:
        assert core_vectorised is not None
        # Transposed to keep the position-major layout in memory.
        return np.asarray(core_vectorised(prompts.T[kept((prompts[0] == pad).tolist())].T))

    def draw(scale: int, rng: random.Random) -> list[str]:
        assert core_draw is not None
        drawn = iter(core_draw(scale, rng))
        return [rng.choice(filler) if fills else next(drawn) for fills in is_filler(scale)]

    shared = {field.name: getattr(core, field.name) for field in fields(core)}
    changed = {
        "prompt": prompt,
        "generate": lambda symbols: core.generate(core_prompt(symbols)),
        "vectorised": vectorised if core_vectorised else None,
        "valid": (lambda symbols: core_valid(core_prompt(symbols))) if core_valid else None,
        "draw": draw if core_draw else None,
        "right": (lambda symbols: core_right(core_prompt(symbols))) if core_right else None,
        "reference": _moved_reference(core.reference, place) if core.reference else None,
    }
    return FilledTask(**(shared | changed), core=core, place=place, is_filler=is_filler)


def searched(task: Task) -> Task:
    """Return the task whose circuits are searched for: the core of a filled task, and any other task itself."""
    return task.core if isinstance(task, FilledTask) else task


FORMATS = ("aligned", "unaligned", "filled")


def in_format(task: Task, name: str, *, largest_scale: int) -> Task:
    """Return the task in the named format.

    Raises:
        TaskError: the format is not one of FORMATS, or the task cannot be aligned.
    """
    if name not in FORMATS:
        raise TaskError(f"unknown format '{name}': choose one of {', '.join(FORMATS)}")
    if name == "unaligned":
        return task
    return aligned(task, largest_scale) if name == "aligned" else filled(task, largest_scale)
