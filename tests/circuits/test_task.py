"""Tasks keep their contract or report in one line how they break it; traces hold what tasks append to prompts."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lengthgen.circuits import trace as trace_module
from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.task import MAX_TOKENS, Task, TaskError
from lengthgen.circuits.tasks import TASKS
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from lengthgen.circuits.trace import Trace, trace
from tests.circuits.examples import addition, direct_parity


def _task(**changes: Any) -> Task:
    good: dict[str, Any] = {
        "name": "toy",
        "alphabet": ("0", "1", "="),
        "prompt": lambda n: [("0", "1")] * n + [("=",)],
        "generate": lambda prompt: prompt[:-1],
    }
    return Task(**(good | changes))


def _uneven(prompt: tuple[str, ...]) -> list[str]:
    return ["0"] * (1 + (prompt[0] == "1"))


BROKEN: dict[str, tuple[Callable[[], object], str]] = {
    "no symbols": (lambda: _task(alphabet=()), "at least one"),
    "a symbol twice": (lambda: _task(alphabet=("0", "1", "0")), "different symbols"),
    "too many symbols": (lambda: _task(alphabet=tuple(map(str, range(MAX_SYMBOLS + 1)))), "at most 254"),
    "scale 0": (lambda: trace(_task(), 0), "at least 1, not 0"),
    "negative scale": (lambda: _task().choices(-2), "at least 1, not -2"),
    "no positions": (lambda: trace(_task(prompt=lambda n: []), 1), "scale 1 allows nothing"),
    "an empty position": (lambda: trace(_task(prompt=lambda n: [("0",), ()]), 2), "scale 2 allows nothing"),
    "stranger in the prompt": (lambda: trace(_task(prompt=lambda n: [("0", "2")]), 1), "'2' in the prompt of scale 1"),
    "stranger in the output": (lambda: trace(_task(generate=lambda p: ["x"]), 1), "'x' in the output"),
    "a number for a symbol": (lambda: trace(_task(generate=lambda p: [0]), 1), "0 in the output"),
    "empty output": (lambda: trace(_task(generate=lambda p: []), 1), "appends nothing to prompt 0 ="),
    "uneven output": (lambda: trace(_task(generate=_uneven), 1), "1 and 2 symbols .* give 1 = as many as 0 ="),
    "wrong twin": (lambda: trace(replace(parity(), vectorised=lambda p: p * 0), 3), "function disagrees"),
    "twin of wrong width": (lambda: trace(replace(parity(), vectorised=lambda p: p[:, :1]), 3), "function disagrees"),
    "twin of wrong count": (lambda: trace(replace(parity(), vectorised=lambda p: p[:1]), 3), "function disagrees"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_contract_is_named_in_one_line(name: str) -> None:
    act, says = BROKEN[name]
    with pytest.raises(TaskError, match=says) as caught:
        act()
    assert len(str(caught.value).splitlines()) == 1
    assert "task 'toy'" in str(caught.value) or "task 'parity'" in str(caught.value)


def test_the_largest_alphabet_is_allowed() -> None:
    symbols = tuple(map(str, range(MAX_SYMBOLS)))
    scale_trace = trace(_task(alphabet=symbols, prompt=lambda n: [symbols], generate=lambda p: p), 1)
    assert scale_trace.tokens.shape == (2, MAX_SYMBOLS)
    assert scale_trace.tokens.max() == MAX_SYMBOLS - 1


def test_a_twin_that_leaves_the_alphabet_is_refused_wherever_it_does() -> None:
    """Tables are bit sets by key and token: a token beyond the alphabet would be read as another key."""

    def twin(prompts: np.ndarray) -> np.ndarray:
        output = parity().vectorised(prompts)  # type: ignore[misc]
        output[len(output) // 2, 0] = 200
        return output

    with pytest.raises(TaskError, match="function disagrees"):
        trace(replace(parity(), vectorised=twin), 8)


@pytest.mark.parametrize("task", [parity(), copy(3), permutation(4), permutation()], ids=lambda task: task.name)
def test_vectorised_twins_agree_on_every_prompt(task: Task) -> None:
    for scale in range(1, 5):
        prompts = task.all_prompts(scale)
        assert (task.outputs(prompts) == replace(task, vectorised=None).outputs(prompts)).all()


@pytest.mark.parametrize(
    ("task", "prompt", "output"),
    [
        (parity(), "1 0 1 1 =", "1 1 0 1 $"),
        (copy(), "1 0 1 =", "1 0 1 $"),
        (copy(10), "9 0 7 =", "9 0 7 $"),
        # Lexicographic order of permutations of 0, 1, 2: 012 021 102 120 201 210, then 012 again.
        (permutation(3), "1 1 1 1 1 1 1 =", "1 2 0 2 0 1 1 $"),
        (addition(10), "9 5 + 9 4 =", "8 0 1 $"),
    ],
)
def test_worked_outputs(task: Task, prompt: str, output: str) -> None:
    numbers = np.array([[task.alphabet.index(symbol) for symbol in prompt.split()]], dtype=np.uint8)
    assert task.text(task.outputs(numbers)[0]) == output


def test_built_in_tasks_are_known_by_their_own_name() -> None:
    assert {name: make().name for name, make in TASKS.items()} == {name: name for name in TASKS}


def _rows(scale_trace: Trace) -> list[tuple[int, ...]]:
    return [tuple(column) for column in scale_trace.tokens.T.tolist()]


@pytest.mark.parametrize("task", [parity(), copy(3), addition(2), direct_parity()], ids=lambda task: task.name)
@pytest.mark.parametrize("scale", [1, 2, 3])
def test_an_exhaustive_trace_holds_every_instance_once(task: Task, scale: int) -> None:
    scale_trace = trace(task, scale)
    instances = [
        tuple(task.alphabet.index(symbol) for symbol in (*prompt, *task.generate(prompt)))
        for prompt in itertools.product(*task.prompt(scale))
    ]
    assert scale_trace.exhaustive
    assert sorted(_rows(scale_trace)) == sorted(instances)
    assert len(instances) == len(task.all_prompts(scale))
    assert len(scale_trace.given) == len(task.prompt(scale))
    assert list(scale_trace.steps) == list(range(len(scale_trace.given) + 1, scale_trace.length + 1))


def _near(scale_trace: Trace) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in scale_trace.near.tolist()}


def _differences(scale_trace: Trace, pair: frozenset[int]) -> int:
    first, second = pair
    prompts = scale_trace.tokens[: len(scale_trace.given)]
    return int((prompts[:, first] != prompts[:, second]).sum())


@pytest.mark.parametrize(("task", "scale"), [(parity(), 1), (parity(), 4), (addition(2), 2), (direct_parity(), 1)])
def test_near_pairs_of_two_choices_are_all_pairs_at_distance_one(task: Task, scale: int) -> None:
    scale_trace = trace(task, scale)
    inputs = scale_trace.tokens.shape[1]
    expected = {
        frozenset(pair)
        for pair in itertools.combinations(range(inputs), 2)
        if _differences(scale_trace, frozenset(pair)) == 1
    }
    assert _near(scale_trace) == expected
    assert len(scale_trace.near) == len(expected)


def test_near_pairs_of_a_sample_differ_in_exactly_one_prompt_position() -> None:
    scale_trace = trace(permutation(), 20)  # so many prompts that no two random ones are near
    assert not scale_trace.exhaustive
    assert len(scale_trace.near) > 100
    assert {_differences(scale_trace, pair) for pair in _near(scale_trace)} == {1}


def test_a_sample_is_reproducible_bounded_without_repeats_and_of_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_module, "SAMPLE", 500)
    first, again = (trace(parity(), 15) for _ in range(2))
    assert not first.exhaustive
    assert (first.tokens == again.tokens).all()
    assert (first.near == again.near).all()
    assert 250 <= first.tokens.shape[1] <= 500
    assert len(set(_rows(first))) == first.tokens.shape[1]
    bits, output = first.tokens[:15].astype(int), first.tokens[16:31]
    assert (output == bits.cumsum(axis=0) % 2).all()


@pytest.mark.parametrize(("limit", "exhaustive"), [(64, True), (63, False)])
def test_exhaustive_up_to_the_limit_and_not_beyond(
    limit: int, exhaustive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_module, "MAX_EXHAUSTIVE", limit)
    monkeypatch.setattr(trace_module, "SAMPLE", 20)
    scale_trace = trace(parity(), 6)
    assert scale_trace.exhaustive == exhaustive
    assert (scale_trace.tokens.shape[1] == 64) == exhaustive


def test_samples_are_uniform_over_the_choices_of_each_position() -> None:
    prompts = permutation(5).sample_prompts(3, 5_000, np.random.default_rng(0))
    assert prompts.shape == (5_000, 4)
    for column in range(3):
        counts = np.bincount(prompts[:, column], minlength=5)
        # Six standard deviations of a binomial count around its mean.
        assert (abs(counts - 1_000) < 6 * np.sqrt(800)).all()
    assert (prompts[:, 3] == 5).all()


def test_a_twin_that_swaps_early_symbols_is_noticed() -> None:
    swapped = replace(parity(), vectorised=lambda p: parity().vectorised(p[:, [1, 0, *range(2, p.shape[1])]]))
    with pytest.raises(TaskError, match="disagrees with generate"):
        swapped.outputs(swapped.all_prompts(8))


def test_a_symbol_allowed_twice_is_refused() -> None:
    with pytest.raises(TaskError, match="allows a symbol twice"):
        replace(parity(), prompt=lambda n: [("0", "1", "0")] * n + [("=",)]).choices(2)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"prompt": lambda n: 1 // 0}, "prompt fails at scale 2: ZeroDivisionError"),
        ({"generate": lambda p: p.nothing, "vectorised": None}, "generate fails on prompt 0 0 =: AttributeError"),
    ],
)
def test_a_users_function_that_fails_is_named_in_one_line(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(TaskError, match=says) as caught:
        trace(replace(parity(), **changes), 2)
    assert "\n" not in str(caught.value)


def test_as_many_tokens_are_admitted_as_memory_may_hold_and_no_more():
    task = parity()
    task.require_size(MAX_TOKENS // 100, 100)
    with pytest.raises(TaskError, match="are more than 200,000,000 tokens"):
        task.require_size(MAX_TOKENS // 100, 101)


def test_a_task_keeps_its_small_traces_and_not_what_was_computed_about_them() -> None:
    task = parity()
    first = trace(task, 5)
    first.memory["arity"] = 2
    again = trace(task, 5)
    assert again.tokens is first.tokens and not again.memory
    assert np.array_equal(trace(parity(), 5).tokens, first.tokens)
    with pytest.raises(ValueError, match="read-only"):
        first.tokens[0] = 1
