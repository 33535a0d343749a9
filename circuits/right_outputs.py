"""SRC of tasks with several right outputs: the least SRC of any choice of one right output for each prompt ([F]).

A circuit is right if its output on every prompt is one of the right ones. So SRC(f, n) is the minimum of SRC(g, n) over
all functions g that choose one right output for each prompt. Few choices are all tried, and SRC is exact. Of many, some
are tried, which gives an upper bound: the outputs of `generate`, and for each k the k-th right output of every prompt,
in the order of the task, from the least up, and from the greatest down. The prompts with a single right output give a
lower bound, since every choice agrees on them.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from circuits.clock import Clock
from circuits.src import MAX_ARITY, SRCResult, minimal_arity, src, traces_up_to
from circuits.task import Task, TaskError, Tokens
from circuits.trace import Trace, of_prompts

MAX_CHOICES = 1_000
"""Largest number of choices that are all tried."""
MAX_RANKS = 8
"""Largest k for which the k-th right output of every prompt is tried if there are more choices."""

Output = tuple[int, ...]
"""Token numbers of an output."""


def choice_src(
    task: Task, scale: int, arity: int | None = None, *, mode: str = "free", clock: Clock | None = None
) -> SRCResult:
    """Return SRC at every scale up to the last, as the least over choices of one right output for each prompt.

    The circuit, and all that describes it, is that of the best choice at the last scale. The status is "exact" if the
    bounds meet and every prompt was tried, "sampled" if they meet on the prompts tried, else "bounds".

    Args:
        task: the task; `right` gives its right outputs.
        scale: the last scale.
        arity: number of slots of every operator; None for the least with which some choice has a circuit.
        mode: one of circuits.modes.Mode.
        clock: time limit; once it has passed, no more choices are tried.

    Raises:
        TaskError: the task breaks its contract, or no arity is given and more than MAX_ARITY is needed by each choice
            that was tried.
    """
    clock = clock or Clock()
    traces = traces_up_to(task, scale, clock)
    right = {trace.scale: [task.right_outputs(prompt) for prompt in trace.prompts] for trace in traces}
    if arity is None:
        arity = _least_arity(task, traces, right)
    bounds: dict[int, tuple[float, float]] = {}
    lower: float = 1
    best: SRCResult | None = None
    for count in range(1, len(traces) + 1):
        choices, complete = _choices(task, traces[:count], right)
        upper: float = math.inf
        best = None
        for choice in choices:
            if best and clock.over():
                complete = False
                break
            result = src(choice, traces_up_to(choice, count), arity, mode=mode, clock=clock)
            low, high = result.bounds[count]
            complete &= low == high
            if best is None or high < upper:
                upper, best = high, result
            if upper == lower:
                break
        lower = max(lower, _single_lower(task, traces[:count], right, arity, mode, clock), upper if complete else 1)
        bounds[count] = lower, upper
    assert best is not None, "there is a trace of scale 1 at least, and a choice"
    status = "exact" if all(trace.exhaustive for trace in traces) else "sampled"
    met = all(low == high for low, high in bounds.values())
    return replace(best, bounds=bounds, status=status if met else "bounds", hardest=(), seconds=dict(clock.seconds))


def chosen_task(task: Task, name: str, choose: Callable[[tuple[str, ...]], Sequence[str]]) -> Task:
    """Return the task with one right output, given by a function from prompts, and "-NAME" added to its name."""
    return replace(task, name=f"{task.name}-{name}", generate=choose, vectorised=None, reference=None, right=None)


def _choices(
    task: Task, traces: Sequence[Trace], right: Mapping[int, Sequence[Sequence[Output]]]
) -> tuple[Iterator[Task], bool]:
    """Return tasks that choose one right output for each prompt of some traces, and whether these are all choices."""
    prompts = [tuple(task.alphabet[token] for token in prompt) for trace in traces for prompt in trace.prompts]
    outputs = [
        [tuple(task.alphabet[token] for token in output) for output in every]
        for trace in traces
        for every in right[trace.scale]
    ]
    complete = all(trace.exhaustive for trace in traces) and math.prod(map(len, outputs)) <= MAX_CHOICES
    if complete:
        tables = (dict(zip(prompts, each, strict=True)) for each in itertools.product(*outputs))
        return (chosen_task(task, f"choice-{n}", table.__getitem__) for n, table in enumerate(tables, 1)), True

    def ranked(order: Callable[[list[Output]], list[Output]], rank: int) -> Callable[[tuple[str, ...]], list[str]]:
        def choose(prompt: tuple[str, ...]) -> list[str]:
            numbers = order(task.right_outputs(_numbers(task, prompt)))
            return [task.alphabet[token] for token in numbers[min(rank, len(numbers) - 1)]]

        return choose

    ranks = range(min(MAX_RANKS, max(map(len, outputs))))
    orders: list[Callable[[list[Output]], list[Output]]] = [list, sorted, lambda every: sorted(every, reverse=True)]
    chosen = [task.generate, *(ranked(order, rank) for rank, order in itertools.product(ranks, orders))]
    return (chosen_task(task, f"choice-{n}", choose) for n, choose in enumerate(chosen, 1)), False


def _numbers(task: Task, prompt: tuple[str, ...]) -> Tokens:
    return np.array([task.alphabet.index(symbol) for symbol in prompt], dtype=np.uint8)


def _least_arity(task: Task, traces: Sequence[Trace], right: Mapping[int, Sequence[Sequence[Output]]]) -> int:
    """Return the least arity with which a choice that is tried has a circuit. Raise TaskError if there is none."""
    least = []
    for choice in _choices(task, traces, right)[0]:
        arity = minimal_arity(traces_up_to(choice, len(traces)))
        least += [] if arity is None else [arity]
        if arity == 1:
            break
    if not least:
        raise TaskError(
            f"task '{task.name}': each choice of right outputs that was tried needs more than {MAX_ARITY} arguments; "
            "choose an arity to get bounds"
        )
    return min(least)


def _single_lower(
    task: Task,
    traces: Sequence[Trace],
    right: Mapping[int, Sequence[Sequence[Output]]],
    arity: int,
    mode: str,
    clock: Clock,
) -> float:
    """Return a lower bound of SRC from the prompts that have a single right output; 1 if a scale has none."""
    restricted = []
    for trace in traces:
        single = [row for row, every in enumerate(right[trace.scale]) if len(every) == 1]
        if not single or (mode == "typed" and len(single) < len(trace.prompts)):
            return 1
        restricted.append(of_prompts(task, trace, trace.prompts[single]))
    return src(replace(task, right=None, reference=None), restricted, arity, mode=mode, clock=clock).bounds[
        len(traces)
    ][0]
