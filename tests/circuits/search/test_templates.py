"""The chosen wiring is where the templates point, at scales of any layout, and the same in every process."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.determining import determines
from lengthgen.circuits.search.templates import MAX_PACE, choose_wirings, located_wiring, pace_of
from lengthgen.circuits.src import SRCResult, src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from lengthgen.circuits.trace import trace
from tests.circuits.examples import addition, random_task
from tests.oracles import sequences as oracle


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
    for n, steps in result.circuit.wirings.items():
        cut = task.segments(n)
        for step in steps:
            pointed = [[t.locate(step.position, cut) for t in slots] for slots in result.templates]
            assert any(_agree(step.arguments, places, step.position) for places in pointed)


def _agree(arguments: tuple[int, ...], pointed: list[int], position: int) -> bool:
    """True if the arguments are where templates point, but for slots whose template points to no earlier position."""
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
    assert result.circuit.wirings[2][0].arguments == (3,)


def _groups(each: int) -> Task:
    """Task that repeats every symbol of the prompt so many times, but for the fixed one at its end."""
    return Task(
        name=f"groups-of-{each}",
        alphabet=("0", "1", "="),
        prompt=lambda n: [*[("0", "1")] * n, ("=",)],
        generate=lambda prompt: [symbol for symbol in prompt[:-1] for _ in range(each)],
    )


@pytest.mark.parametrize(
    ("task", "pace"),
    [
        *((_groups(each), each) for each in range(1, MAX_PACE + 1)),
        (_groups(MAX_PACE + 1), 1),
        (copy(), 1),
        (addition(2), 1),
        (Task(name="shorter", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * 7, generate=lambda x: x[:3]), 1),
        (Task(name="fixed", alphabet=("0",), prompt=lambda n: [("0",)] * 2, generate=lambda _: "000000"), 1),
    ],
    ids=lambda part: getattr(part, "name", part),
)
def test_the_pace_is_the_number_of_steps_for_each_place_of_the_widest_operand(task: Task, pace: int) -> None:
    assert [pace_of(trace(task, n)) for n in (3, 5)] == [pace] * 2


@pytest.mark.parametrize("seed", [*range(12), 172, 220, 299])  # in these ways differ in size
def test_each_combination_serves_the_hardest_step_that_those_before_it_leave_open(seed: int) -> None:
    task = _sums(seed)
    sequences = {n: oracle.sequences(task.prompt, task.generate, n) for n in (1, 2, 3)}
    hardness = {
        (n, step): _hardness(rows, n, step)
        for n, rows in sequences.items()
        for step in range(len(task.prompt(n)) + 1, len(rows[0]) + 1)
    }
    traces = {n: trace(task, n) for n in sequences}
    wirings, combinations = choose_wirings([*traces.values()], 2, exact=False, clock=Clock())
    assert wirings.keys() == hardness.keys()
    open_steps = {*hardness}
    for combination in combinations:
        served = {
            (n, step)
            for n, step in open_steps
            if determines(traces[n], step, [place for place in located_wiring(combination, traces[n], step) if place])
        }
        worst = max(hardness[step] for step in open_steps)
        assert any(hardness[step] == worst for step in served)
        open_steps -= served
    assert not open_steps


def _sums(seed: int) -> Task:
    """Every step the sum modulo 2 of one or two earlier positions, or of one twice: often there are several ways."""
    laws = {
        n: [sorted(random.Random(f"{seed} {n} {step}").choices(range(n + 1 + step), k=2)) for step in range(2 * n)]
        for n in (1, 2, 3)
    }

    def generate(prompt: tuple[str, ...]) -> list[str]:
        bits = [*map(int, prompt)]
        for first, second in laws[len(prompt) - 1]:
            bits.append((bits[first] + bits[second]) % 2 if (first + second) % 3 else bits[first])
        return [*map(str, bits[len(prompt) :])]

    return Task(name=f"sums-{seed}", alphabet=("0", "1"), prompt=lambda n: [("0", "1")] * (n + 1), generate=generate)


def _hardness(rows: list[tuple[str, ...]], scale: int, step: int) -> tuple[int, int, int]:
    """Sort key of a step: the hardest needs most positions, then has the fewest ways, then the largest scale."""
    ways = {frozenset(wiring) for wiring in oracle.wirings(rows, step, 2)}
    if len({row[step - 1] for row in rows}) == 1:
        ways.add(frozenset())
    least = [way for way in ways if not any(other < way for other in ways)]
    return min(map(len, least)), -len(least), scale


CHOICE = """
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import Task

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
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(1, 5)
    ]
    assert len(set(answers)) == 1
