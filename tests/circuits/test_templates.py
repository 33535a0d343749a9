"""The wiring chosen is where the templates point, at scales of any layout, and the same in every process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from circuits.src import SRCResult, src, traces_up_to
from circuits.task import Task
from circuits.tasks.copying import copy
from circuits.tasks.counter import parity
from circuits.tasks.growing import permutation
from circuits.trace import segments
from tests.circuits.examples import addition, random_task


def _src(task: Task, scale: int, arity: int) -> SRCResult:
    return src(task, traces_up_to(task, scale), arity)


TASKS = [
    (copy(), 5, 1),
    (parity(), 5, 2),
    (permutation(3), 4, 1),
    (addition(2), 2, 4),
    *((random_task(seed, symbols=2, arity=2, scales=3), 3, 2) for seed in range(12)),
]


@pytest.mark.parametrize(("task", "scale", "arity"), TASKS, ids=lambda part: getattr(part, "name", part))
def test_every_step_is_wired_where_one_of_the_templates_points(task: Task, scale: int, arity: int) -> None:
    result = _src(task, scale, arity)
    assert result.circuit is not None
    for n, steps in result.circuit.wirings.items():
        cut = segments(task, n)
        for step in steps:
            pointed = [[t.locate(step.position, cut) for t in slots] for slots in result.templates]
            assert any(_agree(step.arguments, places, step.position) for places in pointed)


def _agree(arguments: tuple[int, ...], pointed: list[int], position: int) -> bool:
    """Whether the arguments are where templates point, but for slots whose template points to no earlier position."""
    return all(
        argument == place or not 0 < place < position for argument, place in zip(arguments, pointed, strict=True)
    )


def test_copy_and_parity_need_one_template_a_slot() -> None:
    assert [len(_src(copy(), 6, 1).templates), len(_src(parity(), 6, 2).templates)] == [1, 1]


def test_scales_may_have_other_numbers_of_segments() -> None:
    """Scale 1 is one segment of fixed tokens, scale 2 has three: a template for the third has no place at scale 1."""
    task = Task(
        name="layout",
        alphabet=("0", "1", "="),
        prompt=lambda n: [("0",), ("0",)] if n == 1 else [("0", "1"), ("=",), ("0", "1")],
        generate=lambda prompt: [prompt[-1]],
    )
    result = _src(task, 2, 1)
    assert result.values == {1: 1, 2: 1}
    assert result.circuit is not None
    assert result.circuit.wirings[2][0].arguments == (3,)


CHOICE = """
from circuits.src import src, traces_up_to
from circuits.task import Task

task = Task(
    name="tie",
    alphabet=("0", "1"),
    prompt=lambda n: [("0", "1")] * 5,
    generate=lambda prompt: [prompt[i] for i in (4, 2, 1, 4, 2, 4)],
)
print(src(task, traces_up_to(task, 1), 1).circuit.wirings)
"""


def test_the_choice_is_the_same_in_every_process() -> None:
    """The fifth step reads x_3 at two before its number or its copy at two after: a tie that must be broken by rule."""
    answers = [
        subprocess.run(
            [sys.executable, "-c", CHOICE],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(1, 5)
    ]
    assert len(set(answers)) == 1
