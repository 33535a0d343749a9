"""SRC of tasks with several right outputs: the least SRC of any choice of one right output for each prompt ([F]).

A circuit is right if its output on every prompt is one of the right ones. So SRC(f, n) is the minimum of SRC(g, n) over
all functions g that choose one right output for each prompt. Few choices are all tried, and SRC is exact. Of many, some
are tried, which gives an upper bound: the outputs of `generate`, and for each k the k-th right output of every prompt,
in the order of the task, from the least up, and from the greatest down. The prompts with a single right output give a
lower bound, since every choice agrees on them.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.src import MAX_ARITY, SRCResult, minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task
from lengthgen.circuits.trace import Trace, of_prompts

MAX_CHOICES = 1_000
"""Largest number of choices that are all tried."""
MAX_RANKS = 8
"""Largest k for which the k-th right output of every prompt is tried if there are more choices."""

RightOutputs = Mapping[tuple[str, ...], list[tuple[int, ...]]]
"""Prompt of one scale -> its right outputs, as token numbers; in the order of a trace."""


def choice_src(
    task: Task, scale: int, arity: int | None = None, *, mode: str = "free", clock: Clock | None = None
) -> SRCResult:
    """Return SRC at every scale up to the last, as the least over choices of one right output for each prompt.

    The circuit, and all that describes it, is that of the best choice at the last scale. The status is "exact" if the
    bounds meet and every prompt was tried, "sampled" if they meet on the prompts tried, else "bounds". By default the
    arity is the least with which some choice has a circuit. Once the limit has passed, no more choices are tried.

    Raise TaskError if the task breaks its contract, or no arity is given and more than MAX_ARITY is needed by each
    choice that was tried.
    """
    clock = clock or Clock()
    traces = traces_up_to(task, scale, clock)
    right = [_right_of(task, trace) for trace in traces]
    numbers = itertools.accumulate((math.prod(map(len, each.values())) for each in right), operator.mul)
    exhaustive = itertools.accumulate((trace.exhaustive for trace in traces), operator.and_)
    few = [n for n, each in enumerate(zip(exhaustive, numbers, strict=True), 1) if each[0] and each[1] <= MAX_CHOICES]
    if arity is None:
        arity = _least_arity(task, traces, right, few)
    bounds: dict[int, tuple[float, float]] = {}
    lower: float = 1
    best: SRCResult | None = None
    for count in few:
        tried, best = _best_of(_all_choices(task, right[:count]), [count], lower, arity, mode, clock)
        lower = max(lower, tried[count][0])
        bounds[count] = lower, tried[count][1]
    others = [count for count in range(1, len(traces) + 1) if count not in few]
    if others:
        tried, best = _best_of(_some_choices(task, right), others, lower, arity, mode, clock)
        for count in others:
            lower = max(lower, _single_lower(task, traces[:count], right[:count], arity, mode, clock))
            bounds[count] = lower, tried[count][1]
    assert best is not None, "there is a trace of scale 1 at least, and a choice"
    status = "exact" if all(trace.exhaustive for trace in traces) else "sampled"
    met = all(low == high for low, high in bounds.values())
    return replace(best, bounds=bounds, status=status if met else "bounds", hardest=(), seconds=dict(clock.seconds))


def _right_of(task: Task, trace: Trace) -> RightOutputs:
    """Return the right outputs of every prompt of a trace, by its symbols."""
    steps = [position - 1 for position in trace.steps]
    return {
        prompt: task.right_outputs(prompt, tuple(tokens[steps].tolist()))
        for tokens in trace.tokens.T
        for prompt in [tuple(task.alphabet[token] for token in tokens[[position - 1 for position in trace.given]])]
    }


def _best_of(
    choices: Iterator[Task], scales: Sequence[int], lower: float, arity: int, mode: str, clock: Clock
) -> tuple[dict[int, tuple[float, float]], SRCResult | None]:
    """Return the least bounds of any choice at some scales, and the result of the choice that is best at the last.

    The lower of two bounds holds for every choice only if all are tried to the end, else it is 1. No more choices are
    tried once one attains the lower bound that is known.
    """
    least = dict.fromkeys(scales, (math.inf, math.inf))
    best: SRCResult | None = None
    for choice in choices:
        if best is not None and clock.over():
            least = {scale: (1, high) for scale, (_, high) in least.items()}
            break
        result = src(choice, traces_up_to(choice, scales[-1]), arity, mode=mode, clock=clock)
        if best is None or result.bounds[scales[-1]][1] < least[scales[-1]][1]:
            best = result
        for scale in scales:
            (low, high), (new_low, new_high) = least[scale], result.bounds[scale]
            least[scale] = min(low, new_low), min(high, new_high)
        if all(high <= lower for _, high in least.values()):
            break
    return least, best


def _chosen_task(task: Task, name: str, choose: Callable[[tuple[str, ...]], Sequence[str]]) -> Task:
    """Return the task with one right output, given by a function from prompts, and "-NAME" added to its name."""
    return replace(task, name=f"{task.name}-{name}", generate=choose, vectorised=None, reference=None, right=None)


def _all_choices(task: Task, right: Sequence[RightOutputs]) -> Iterator[Task]:
    """Yield tasks that choose one right output for each prompt: every choice once."""
    prompts = [prompt for of_scale in right for prompt in of_scale]
    outputs = [
        [tuple(task.alphabet[token] for token in output) for output in every]
        for of_scale in right
        for every in of_scale.values()
    ]
    for number, chosen in enumerate(itertools.product(*outputs), 1):
        table = dict(zip(prompts, chosen, strict=True))
        yield _chosen_task(task, f"choice-{number}", table.__getitem__)


def _some_choices(task: Task, right: Sequence[RightOutputs]) -> Iterator[Task]:
    """Yield tasks that choose the right output of one rank for every prompt, and first the task as it is shown."""
    assert task.right is not None
    all_right, number = task.right, {symbol: token for token, symbol in enumerate(task.alphabet)}

    def ranked(order: Callable[[list[list[str]]], list[list[str]]], rank: int) -> Task:
        def choose(prompt: tuple[str, ...]) -> list[str]:
            outputs = order([list(output) for output in all_right(prompt)])
            return outputs[min(rank, len(outputs) - 1)]

        return _chosen_task(task, f"rank-{rank + 1}", choose)

    def ascending(outputs: list[list[str]]) -> list[list[str]]:
        return sorted(outputs, key=lambda output: [number[symbol] for symbol in output])

    yield replace(task, right=None)
    most = max(len(every) for of_scale in right for every in of_scale.values())
    for rank in range(min(MAX_RANKS, most)):
        for order in (list, ascending, lambda outputs: ascending(outputs)[::-1]):
            yield ranked(order, rank)


def _least_arity(task: Task, traces: Sequence[Trace], right: Sequence[RightOutputs], few: Sequence[int]) -> int:
    """Return the least arity with which a choice that is tried has a circuit. Raise TaskError if there is none."""
    least = []
    for choice in _all_choices(task, right) if len(few) == len(traces) else _some_choices(task, right):
        arity = minimal_arity(traces_up_to(choice, len(traces)))
        least += [] if arity is None else [arity]
        if arity == 1:
            break
    if not least:
        raise task.error(
            f"each choice of right outputs that was tried needs more than {MAX_ARITY} arguments; "
            "choose an arity to get bounds"
        )
    return min(least)


def _single_lower(
    task: Task, traces: Sequence[Trace], right: Sequence[RightOutputs], arity: int, mode: str, clock: Clock
) -> float:
    """Return a lower bound of SRC from the prompts that have a single right output; 1 if a scale has none."""
    restricted = []
    for trace, of_scale in zip(traces, right, strict=True):
        single = [row for row, every in enumerate(of_scale.values()) if len(every) == 1]
        if not single or (mode == "typed" and len(single) < len(of_scale)):
            return 1
        restricted.append(of_prompts(task, trace, trace.prompts[single]))
    result = src(replace(task, right=None, reference=None), restricted, arity, mode=mode, clock=clock)
    return result.bounds[len(traces)][0]
