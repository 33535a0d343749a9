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
from typing import Any

import numpy as np

from lengthgen.circuits.task import Step, Task, TaskError, Tokens, combinations_of
from lengthgen.circuits.trace import SAMPLE, Trace, trace

PAD = "_"
"""Symbol that fills an operand up to its width."""
CLOSING = 2
"""Number of PADs after an operand at the largest scale."""


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Prompt of one scale in a format.

    Attributes:
        prompt: symbols allowed at each place, as `Task.prompt` gives them.
        places: place of each position of the task's own prompt, from 1, ascending; the format adds all others.
    """

    prompt: list[Sequence[str] | EllipsisType]
    places: list[int]

    def place(self, position: int) -> int:
        """Return the place in a sequence of a position of the task's own sequence."""
        steps_after = position - len(self.places)
        return len(self.prompt) + steps_after if steps_after > 0 else self.places[position - 1]

    def given(self) -> list[tuple[bool, Sequence[str]]]:
        """Return, for each token of a prompt, whether the format adds it, and the symbols allowed there."""
        own = {*self.places}
        places = enumerate(self.prompt, start=1)
        return [(place not in own, allowed) for place, allowed in places if allowed is not ...]


_Layouts = Callable[[int], _Layout]
"""Function from n to the layout of scale n."""


def aligned(task: Task, largest_scale: int) -> Task:
    """Return the task with every operand padded to its width at the largest scale, plus two PADs.

    The two PADs close the operand at the largest scale too. Without them its end would look different there than at
    every smaller scale. The last steps read the place after the operand and, if an output has one digit more than its
    operands, the place after that; they would meet this end for the first time.

    Raise TaskError if the alphabet already holds PAD, or prompt tokens come after outputs. Later, when a prompt is
    computed: the scale is beyond the largest, an operand is wider than at the largest scale, or the number of operands
    differs.
    """
    if None in task.layout(largest_scale):
        raise task.error(
            "prompt tokens after outputs cannot be aligned yet, as an operand is then no piece of "
            "the prompt; use the unaligned format"
        )
    return _padded(task, _closed(task, largest_scale, to_width=True))


def _closed(task: Task, largest_scale: int, *, to_width: bool) -> _Layouts:
    """Return the layouts with two PADs after every operand and, if `to_width`, as many more as its width needs."""
    widths = [segment.width + CLOSING for segment in task.segments(largest_scale) if segment.operand]

    @cache
    def layout(scale: int) -> _Layout:
        cut = task.segments(scale)
        operands = [segment for segment in cut if segment.operand]
        if len(operands) != len(widths) or any(s.width > w - CLOSING for s, w in zip(operands, widths, strict=True)):
            raise task.error(
                f"the operands of scale {scale} do not fit those of scale {largest_scale}; "
                "align to the largest scale in use, or use the unaligned format"
            )
        width_of = dict(zip(operands, widths, strict=True))
        own = _symbols(task, scale)
        prompt: list[Sequence[str] | EllipsisType] = []
        places: list[int] = []
        for segment in cut:
            places += range(len(prompt) + 1, len(prompt) + segment.width + 1)
            prompt += own[segment.first - 1 : segment.last]
            if segment.operand:
                prompt += [(PAD,)] * (width_of[segment] - segment.width if to_width else CLOSING)
        return _Layout(prompt=prompt, places=places)

    return layout


def _symbols(task: Task, scale: int) -> list[Sequence[str] | EllipsisType]:
    """Return the symbols allowed at each position of a task's prompt, as `Task.prompt` gives them."""
    layout = task.layout(scale)
    return [... if allowed is None else tuple(task.alphabet[token] for token in allowed) for allowed in layout]


def _padded(task: Task, layout: _Layouts) -> Task:
    """Return the task with PADs where layouts have them. Raise TaskError if the alphabet already holds PAD."""
    if PAD in task.alphabet:
        raise task.error(f"'{PAD}' fills operands in the aligned format; rename that symbol")
    return replace(task, **_fields(task, layout, lambda is_pad: [i for i, pad in enumerate(is_pad) if not pad]))


def _fields(task: Task, layout: _Layouts, kept: Callable[[list[bool]], list[int]]) -> dict[str, Any]:
    """Return the fields of a task in a format, which read and write its own tokens among those that the format adds.

    `kept` is a function from "is this a PAD?" for each token of a prompt to the indices of the task's own tokens.
    """
    pad, alphabet = len(task.alphabet), (*task.alphabet, PAD)
    own_vectorised, own_valid, own_right = task.vectorised, task.valid, task.right

    def own(symbols: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(symbols[index] for index in kept([symbol == PAD for symbol in symbols]))

    def own_tokens(prompts: Tokens) -> Tokens:
        """Return the task's own tokens in prompts of one scale, which have them at the same places."""
        # Transposed to keep the position-major layout in memory.
        return prompts.T[kept((prompts[0] == pad).tolist())].T

    def vectorised(prompts: Tokens) -> Tokens:
        assert own_vectorised is not None
        return np.asarray(own_vectorised(own_tokens(prompts)))

    def vectorised_draw(scale: int, count: int, rng: np.random.Generator) -> Tokens:
        added = [added for added, _ in given(scale)]
        numbers = [tuple(map(alphabet.index, allowed)) for added, allowed in given(scale) if added]
        prompts = np.empty((len(added), count), dtype=np.uint8)
        prompts[np.flatnonzero(np.invert(added))] = task.sample_prompts(scale, count, rng).T
        prompts[np.flatnonzero(added)] = combinations_of(numbers, count, rng).T
        return prompts.T

    @cache
    def given(scale: int) -> list[tuple[bool, Sequence[str]]]:
        return layout(scale).given()

    def draw(scale: int, rng: random.Random) -> list[str]:
        drawn = iter(task.drawn(scale, rng))
        return [
            task.alphabet[next(drawn)] if not added else allowed[0] if len(allowed) == 1 else rng.choice(allowed)
            for added, allowed in given(scale)
        ]

    def steps(scale: int) -> list[Step]:
        place = layout(scale).place
        return [(operator, tuple(map(place, arguments))) for operator, arguments in task.reference_steps(scale)]

    def apply(operator: str, symbols: tuple[str, ...]) -> str:
        assert task.reference is not None
        if PAD in symbols:
            raise ValueError(f"'{operator}' does not read {PAD}")
        return task.reference.apply(operator, symbols)

    return {
        "alphabet": alphabet,
        "prompt": lambda scale: layout(scale).prompt,
        "generate": lambda symbols: task.generate(own(symbols)),
        "vectorised": vectorised if own_vectorised else None,
        "valid": (lambda symbols: own_valid(own(symbols))) if own_valid else None,
        "draw": draw if task.draw else None,
        "vectorised_valid": (lambda prompts: task.are_valid(own_tokens(prompts))) if own_valid else None,
        "vectorised_draw": vectorised_draw if task.vectorised_draw else None,
        "right": (lambda symbols: own_right(own(symbols))) if own_right else None,
        "reference": replace(task.reference, steps=steps, apply=apply) if task.reference else None,
    }


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
            segments=self.segments(core_trace.scale),
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

    Raise TaskError if the alphabet already holds PAD. Later, when a prompt is computed: as for `aligned`, or the number
    of fixed tokens between operands changes with the scale.
    """
    between = None in task.layout(largest_scale)

    def unclosed(scale: int) -> _Layout:
        own = _symbols(task, scale)
        return _Layout(prompt=own, places=[*range(1, len(own) + 1)])

    closed = unclosed if between else _closed(task, largest_scale, to_width=False)

    @cache
    def core_layout(scale: int) -> _Layout:
        after = closed(scale)
        return _Layout(prompt=[(PAD,), *after.prompt], places=[place + 1 for place in after.places])

    core = _padded(task, core_layout)
    last_cut = task.segments(largest_scale)
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
    def of_core(scale: int) -> _Layout:
        """Return the layout of the core's prompt in the filled one."""
        core_width = len(core.layout(scale))  # raises TaskError if the operands do not fit
        before = max(map(length, range(1, largest_scale + 1))) - length(scale)
        if between:
            places, width = [*range(before + 1, before + core_width + 1)], before + core_width
        else:
            places = [before := before + 1]
            for segment, segment_width, last in zip(task.segments(scale), widths, last_cut, strict=False):
                if segment.operand != last.operand or (not segment.operand and segment.width != segment_width):
                    break
                places += range(before + 1, before + segment.width + CLOSING * segment.operand + 1)
                before += segment_width
            width = before
        if len(places) != core_width:
            raise task.error(
                f"the fixed tokens of scale {scale} are not as many as those of scale "
                f"{largest_scale}, which the filled format needs; use the aligned or the unaligned format"
            )
        prompt: list[Sequence[str] | EllipsisType] = [filler] * width
        for place, allowed in zip(places, core_layout(scale).prompt, strict=True):
            prompt[place - 1] = allowed
        return _Layout(prompt=prompt, places=places)

    @cache
    def layout(scale: int) -> _Layout:
        """Return the layout of the task's own prompt in the filled one."""
        in_core = of_core(scale)
        return _Layout(prompt=in_core.prompt, places=list(map(in_core.place, core_layout(scale).places)))

    def kept(is_pad: list[bool]) -> list[int]:
        """Return the indices of the task's own tokens in a filled prompt, from the places of PAD in it."""
        if between:
            return [*range(len(is_pad) - is_pad[::-1].index(True), len(is_pad))]
        start = len(is_pad) - sum(widths)
        indices: list[int] = []
        for width, segment in zip(widths, last_cut, strict=True):
            held = is_pad.index(True, start) - start if segment.operand else width
            indices += range(start, start + held)
            start += width
        return indices

    shared = {field.name: getattr(core, field.name) for field in fields(core)}
    return FilledTask(
        **(shared | _fields(task, layout, kept)),
        core=core,
        place=lambda scale, position: of_core(scale).place(position),
        is_filler=cache(lambda scale: [added for added, _ in of_core(scale).given()]),
    )


def searched(task: Task) -> Task:
    """Return the task whose circuits are searched for: the core of a filled task, and any other task itself."""
    return task.core if isinstance(task, FilledTask) else task


FORMATS = ("aligned", "unaligned", "filled")


def in_format(task: Task, name: str, *, largest_scale: int) -> Task:
    """Return the task in the named format.

    Raise TaskError if the format is not one of FORMATS, or the task cannot be aligned.
    """
    if name not in FORMATS:
        raise TaskError(f"unknown format '{name}': choose one of {', '.join(FORMATS)}")
    if name == "unaligned":
        return task
    return aligned(task, largest_scale) if name == "aligned" else filled(task, largest_scale)
