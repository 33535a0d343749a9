"""The aligned format pads operands and changes nothing else."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lengthgen.circuits.formats import PAD, aligned, filled, in_format
from lengthgen.circuits.task import Segment, Task, TaskError
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from tests.circuits.examples import addition, direct_parity

LARGEST = 4
LAST = replace(
    direct_parity(), name="last", generate=lambda prompt: prompt[-1:], vectorised=lambda prompts: prompts[:, -1:]
)
"""Its vectorised twin would output a PAD if the prompt's last symbol were one."""
TASKS = [parity(), copy(3), permutation(3), addition(2), addition(3), direct_parity(), LAST]
in_table = pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name}-{len(task.alphabet)}")


def _operands(task: Task, scale: int) -> list[Segment]:
    return [segment for segment in task.segments(scale) if segment.operand]


@in_table
def test_alignment_adds_pads_to_the_prompt_and_leaves_the_output(task: Task) -> None:
    padded = aligned(task, LARGEST)
    assert padded.alphabet == (*task.alphabet, PAD)
    for scale in range(1, LARGEST + 1):
        for plain, wide in zip(
            itertools.product(*task.prompt(scale)), itertools.product(*padded.prompt(scale)), strict=True
        ):
            assert tuple(symbol for symbol in wide if symbol != PAD) == plain
            assert list(padded.generate(wide)) == list(task.generate(plain))


@in_table
def test_operands_begin_at_the_same_position_at_every_scale_and_end_in_a_pad(task: Task) -> None:
    padded = aligned(task, LARGEST)
    assert len({len(padded.prompt(scale)) for scale in range(1, LARGEST + 1)}) == 1
    assert len({tuple(o.first for o in _operands(padded, scale)) for scale in range(1, LARGEST + 1)}) == 1
    for scale in range(1, LARGEST + 1):
        prompt = padded.prompt(scale)
        for operand, plain in zip(_operands(padded, scale), _operands(task, scale), strict=True):
            assert operand.width == plain.width
            assert tuple(prompt[operand.last]) == (PAD,)


def test_the_layout_of_two_operands() -> None:
    padded = aligned(addition(2), 3)
    layout = ["".join(choice) for choice in padded.prompt(2)]
    assert layout == ["01", "01", "_", "_", "_", "+", "01", "01", "_", "_", "_", "="]
    assert padded.segments(2) == (
        Segment(first=1, last=2, operand=True),
        Segment(first=3, last=6, operand=False),
        Segment(first=7, last=8, operand=True),
        Segment(first=9, last=12, operand=False),
    )


def test_alignment_can_be_named_by_format() -> None:
    task = parity()
    assert in_format(task, "unaligned", largest_scale=4) is task
    assert len(in_format(parity(), "aligned", largest_scale=6).prompt(1)) == 9
    with pytest.raises(TaskError, match="unknown format 'diagonal': choose one of aligned, unaligned, filled"):
        in_format(parity(), "diagonal", largest_scale=4)


def _shrinking(n: int) -> list[tuple[str, ...]]:
    return [("0", "1")] * (6 - n) + [("=",)]


def _more_operands(n: int) -> list[tuple[str, ...]]:
    return [("0", "1"), ("=",)] * n


@pytest.mark.parametrize(
    ("task", "scale", "says"),
    [
        (parity(), LARGEST + 1, "scale 5 do not fit those of scale 4"),
        (addition(2), LARGEST + 3, "scale 7 do not fit"),
        (replace(parity(), prompt=_shrinking, vectorised=None), 1, "scale 1 do not fit"),
        (replace(parity(), prompt=_more_operands, vectorised=None), 2, "scale 2 do not fit"),
        (parity(), 0, "at least 1"),
    ],
)
@pytest.mark.parametrize("padded", [aligned, filled])
def test_scales_that_do_not_fit_are_refused(
    padded: Callable[[Task, int], Task], task: Task, scale: int, says: str
) -> None:
    with pytest.raises(TaskError, match=says):
        padded(task, LARGEST).choices(scale)


@pytest.mark.parametrize("padded", [aligned, filled])
def test_an_alphabet_that_holds_the_pad_is_refused(padded: Callable[[Task, int], Task]) -> None:
    with pytest.raises(TaskError, match="'_' fills operands"):
        padded(replace(parity(), alphabet=("0", "1", "=", "$", PAD)), LARGEST)


def test_no_room_for_the_pad_is_refused() -> None:
    full = replace(copy(), alphabet=(*map(str, range(252)), "=", "$"), vectorised=None)
    with pytest.raises(TaskError, match="at most 254"):
        aligned(full, LARGEST)


def test_segments_of_a_prompt_without_a_choice() -> None:
    fixed = replace(parity(), prompt=lambda n: [("=",)] * n, vectorised=None)
    assert fixed.segments(3) == (Segment(first=1, last=3, operand=False),)
    assert np.array_equal(aligned(fixed, 3).all_prompts(3), [[2, 2, 2]])


@pytest.mark.parametrize("padded", [aligned, filled])
@pytest.mark.parametrize("drawn", [["1", "="], ["1", "0", "1", "="]])
def test_a_draw_that_is_no_prompt_of_the_task_is_refused_in_its_own_symbols(
    padded: Callable[[Task, int], Task], drawn: list[str]
) -> None:
    task = padded(replace(copy(), draw=lambda scale, source: drawn), 4)
    with pytest.raises(TaskError, match=f"draw gives {' '.join(drawn)}, which is no prompt"):
        task.sample_prompts(2, 1, np.random.default_rng(0))
