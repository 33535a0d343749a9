"""Commands and stacks: outputs against plain programs, prompts as they are meant, and SRC as it follows from them."""

import random
from collections import Counter, deque

import numpy as np
import pytest

from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import UNDEFINED, Task, TaskError
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import trace


def carried_out(words: list[str]) -> list[str]:
    """Actions of a list of commands, read word by word."""
    actions: list[str] = []
    for word in words:
        if word == "once":
            continue
        elif word in ("twice", "thrice"):
            actions += [actions[-1]] * (1 if word == "twice" else 2)
        else:
            actions.append({"walk": "WALK", "run": "RUN", "jump": "JUMP", "look": "LOOK"}[word])
    return actions


def operated(symbols: list[str]) -> list[str]:
    """Final stack, top first."""
    tops: deque[str] = deque()
    for symbol in symbols:
        if symbol == "-":
            if tops:
                tops.popleft()
        else:
            tops.appendleft(symbol.lstrip("+"))
    return list(tops)


ORACLES = {"scan": carried_out, "stack": operated}


def rows(task: Task, tokens: np.ndarray) -> list[list[str]]:
    return [[task.alphabet[token] for token in row if token != UNDEFINED] for row in tokens]


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("scale", [1, 2, 3, 4, 9, 30])
def test_outputs_are_those_of_a_plain_program(name: str, scale: int) -> None:
    task = load(name)
    prompts = task.sample_prompts(scale, 200, np.random.default_rng(scale))
    for row in rows(task, task.sequences(scale, prompts)):
        middle = row.index("=")
        assert row[middle + 1 :] == [*ORACLES[name](row[:middle]), "$"], " ".join(row)


@pytest.mark.parametrize(
    ("name", "prompt", "output"),
    [
        ("scan", "walk twice jump once =", "WALK WALK JUMP $"),
        ("scan", "look thrice =", "LOOK LOOK LOOK $"),
        # The two examples in the code of arXiv 2207.02098.
        ("stack", "0 1 1 0 +1 - - =", "1 1 0 $"),
        ("stack", "1 1 0 - - - =", "$"),
        ("stack", "1 - - +0 =", "0 $"),
    ],
)
def test_examples(name: str, prompt: str, output: str) -> None:
    assert load(name).generate(tuple(prompt.split())) == output.split()


def test_all_prompts_of_a_stack_are_bits_and_then_operations() -> None:
    task = load("stack")
    for scale in range(1, 6):
        prompts = {tuple(row) for row in rows(task, task.all_prompts(scale))}
        bits = range(1, max(scale, 2))
        assert len(prompts) == sum(2**k * 3 ** (scale - k) for k in bits)
        for prompt in prompts:
            count = sum(symbol in ("0", "1") for symbol in prompt)
            assert count in bits and all(symbol in ("0", "1") for symbol in prompt[:count])


def test_a_drawn_stack_has_any_height_equally_often() -> None:
    task, source = load("stack"), random.Random(0)
    heights = Counter(sum(symbol in ("0", "1") for symbol in task.draw(6, source)) for _ in range(5_000))
    assert sorted(heights) == [1, 2, 3, 4, 5]
    assert all(abs(count - 1_000) < 150 for count in heights.values())


@pytest.mark.parametrize(("name", "longest"), [("scan", lambda n: 5 * n + 2), ("stack", lambda n: 2 * n + 2)])
def test_traces_show_the_longest_outputs(name: str, longest) -> None:
    for scale in (1, 2, 4, 9, 20, 100):
        assert trace(load(name), scale).length == longest(scale)


def test_a_search_for_longer_outputs_that_memory_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthgen.circuits.task.MAX_TOKENS", 1_000_000)
    with pytest.raises(TaskError, match=r"'scan': 5,600 sequences of 201 positions are more than 1,000,000"):
        trace(load("scan"), 100)


@pytest.mark.parametrize(
    ("name", "arity", "expected"),
    [("scan", 2, {1: 1, 2: float("inf")}), ("stack", 1, {1: 1, 2: 1, 3: float("inf")})],
)
def test_src_is_infinite_once_a_step_needs_more_arguments(name: str, arity: int, expected: dict[int, float]) -> None:
    task = load(name)
    result = src(task, traces_up_to(task, max(expected)), arity)
    assert result.values == expected
    assert result.status == "exact"
