"""Tasks keep their contract or report in one line how they break it; traces hold what tasks append to prompts."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lengthgen.circuits import trace as trace_module
from lengthgen.circuits.answers import MAX_SYMBOLS
from lengthgen.circuits.formats import aligned
from lengthgen.circuits.questions.right_outputs import choice_src
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.task import MAX_TOKENS, Reference, Task, TaskError
from lengthgen.circuits.tasks import TASKS
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.tasks.growing import permutation
from lengthgen.circuits.trace import Trace, trace
from tests.circuits.examples import addition, direct_parity

BITS = ("0", "1")


def _task(**changes: Any) -> Task:
    """`x1 .. xn = x1 .. xn` over bits."""
    good: dict[str, Any] = {
        "name": "toy",
        "alphabet": (*BITS, "=", "$"),
        "prompt": lambda n: [*[BITS] * n, ("=",)],
        "generate": lambda prompt: prompt[:-1],
    }
    return Task(**(good | changes))


def _raising(error: BaseException) -> Any:
    def fails(*_: object) -> None:
        raise error

    return fails


def _twin(change: Callable[[np.ndarray], np.ndarray]) -> Task:
    """Parity with a changed vectorised function."""
    fast = parity().vectorised
    return replace(parity(), vectorised=lambda prompts: change(fast(prompts)))


def _strange(outputs: np.ndarray) -> np.ndarray:
    outputs[len(outputs) // 2, 0] = 200  # as a bit of a table, it would be read as another key
    return outputs


ENDED = {"end": "$", "generate": lambda prompt: [*prompt[:-1], "$"]}
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    # what is wrong, fields of the task, message
    ("no symbols", {"alphabet": ()}, "at least one"),
    ("a symbol twice", {"alphabet": ("0", "1", "0")}, "different symbols"),
    ("too many symbols", {"alphabet": tuple(map(str, range(MAX_SYMBOLS + 1)))}, "at most 254"),
    ("no positions", {"prompt": lambda n: []}, "scale 2 allows nothing"),
    ("no given positions", {"prompt": lambda n: [..., ...]}, "allows nothing at some position"),
    ("an empty position", {"prompt": lambda n: [("0",), ()]}, "scale 2 allows nothing"),
    ("a symbol allowed twice", {"prompt": lambda n: [("0", "1", "0")]}, "allows a symbol twice"),
    ("a set of symbols", {"prompt": lambda n: [{"0", "1"}]}, "has no order; give a tuple"),
    ("stranger in the prompt", {"prompt": lambda n: [("0", "2")]}, "'2' in the prompt of scale 2"),
    ("stranger in the output", {"generate": lambda p: ["x"]}, "'x' in the output"),
    ("a text of two", {"alphabet": "01=", "generate": lambda p: ["01"]}, "'01' in the output is not in the alphabet"),
    ("a number for a symbol", {"generate": lambda p: [0]}, "0 in the output"),
    ("empty output", {"generate": lambda p: []}, "appends nothing to prompt 0 0 ="),
    (
        "uneven output",
        {"generate": lambda p: ["0"] * (1 + int(p[0]))},
        "1 and 2 symbols .* give 1 0 = as many as 0 0 =, or give the task an `end`",
    ),
    ("an end outside the alphabet", {"end": "?"}, "the end '\\?' is not in the alphabet"),
    ("an output without end", {"end": "="}, "the output of prompt 0 0 = must end with '=' and hold it nowhere else"),
    ("two ends", {"end": "$", "generate": lambda p: ["$", "0", "$"]}, "must end with '\\$' and hold it nowhere else"),
    ("an end between", ENDED | {"prompt": lambda n: [BITS, ..., BITS]}, "only one of both is possible yet: leave out"),
    ("too few outputs", {"prompt": lambda n: [BITS, ..., ..., ..., ("=",)]}, "gives 1 symbols .* has places for 3"),
    ("no last output", {"prompt": lambda n: [BITS, ..., ("=",)]}, "no output follows the last prompt tokens"),
    ("no valid prompt", {"valid": lambda prompt: False}, "no prompt of scale 2 is valid"),
    ("a number for valid", {"valid": lambda prompt: 1}, "valid must give True or False, not 1"),
    *((f"no function {name}", {name: 1}, f"{name} must be a function, not 1") for name in ("valid", "draw", "right")),
    ("prompt fails", {"prompt": lambda n: 1 // 0}, "prompt fails at scale 2: ZeroDivisionError"),
    ("generate fails", {"generate": lambda p: p.nothing}, "generate fails on prompt 0 0 =: AttributeError"),
]


@pytest.mark.parametrize(("changes", "says"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_contract_is_named_in_one_line(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(TaskError, match=says) as caught:
        trace(_task(**changes), 2)
    assert len(str(caught.value).splitlines()) == 1 and "task 'toy'" in str(caught.value)


@pytest.mark.parametrize("scale", [0, -2])
def test_scales_begin_at_one(scale: int) -> None:
    with pytest.raises(TaskError, match=f"at least 1, not {scale}"):
        _task().choices(scale)


@pytest.mark.parametrize(
    "twin",
    [
        _twin(lambda outputs: outputs * 0),
        _twin(lambda outputs: outputs[:, :1]),
        _twin(lambda outputs: outputs[:1]),
        _twin(_strange),
        replace(parity(), vectorised=lambda p: parity().vectorised(p[:, [1, 0, *range(2, p.shape[1])]])),
    ],
    ids=["values", "width", "count", "a token outside the alphabet", "early symbols swapped"],
)
def test_a_wrong_vectorised_function_is_refused(twin: Task) -> None:
    with pytest.raises(TaskError, match="the vectorised function disagrees with generate"):
        trace(twin, 8)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"vectorised_valid": lambda rows: rows[:, 0] == 1}, "the vectorised valid disagrees with valid"),
        ({"vectorised_valid": lambda rows: (rows[:, 0] == 0)[1:]}, "the vectorised valid disagrees with valid"),
        ({"vectorised_valid": lambda rows: rows[:, 0] / 2}, "a vectorised function must give integers, not float64"),
        ({"vectorised_valid": lambda rows: 1 // 0}, "the vectorised valid fails on .* prompts: ZeroDivisionError"),
        ({"vectorised_draw": lambda n, count, rng: np.zeros((count, n))}, "must give integers, not float64"),
        ({"vectorised_draw": lambda n, count, rng: [[0, 0, 2]]}, "gives other than 9 prompts of scale 2"),
        ({"vectorised_draw": lambda n, count, rng: [[1, 0, 2]] * count}, "gives other than 9 prompts of scale 2"),
        ({"vectorised_draw": lambda n, count, rng: [[256, 0, 2]] * count}, "gives other than 9 prompts of scale 2"),
        ({"vectorised_draw": lambda n, count, rng: 1 // 0}, "fails for 9 prompts: ZeroDivisionError"),
    ],
)
def test_a_wrong_fast_version_of_valid_or_draw_is_refused(changes: dict[str, Any], says: str) -> None:
    """A prompt must begin with 0."""
    slow = {"valid": lambda prompt: prompt[0] == "0", "draw": lambda n, source: [*"0" * n, "="]}
    task = _task(**(slow | ({"draw": None} if "vectorised_valid" in changes else {}) | changes))
    with pytest.raises(TaskError, match=says):
        task.sample_prompts(2, 9, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["valid", "draw"])
def test_a_fast_version_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(TaskError, match=f"vectorised_{name} is a fast version of `{name}`, which is missing"):
        _task(**{f"vectorised_{name}": lambda *_: None})


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda n, source: ["0"], "draw gives 0, which is no prompt of scale 2"),
        (lambda n, source: ["=", "0", "="], "draw gives = 0 =, which is no prompt of scale 2"),
        (lambda n, source: ["0", "1", "="], "draw gives 0 1 =, which is no prompt of scale 2"),
        (lambda n, source: 1 / 0, "draw fails at scale 2: ZeroDivisionError"),
    ],
)
def test_draws_that_are_no_prompts_are_refused(draw: Any, says: str) -> None:
    with pytest.raises(TaskError, match=says):
        _task(draw=draw, valid=lambda prompt: prompt[0] == "1").sample_prompts(2, 1, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("right", "says"),
    [
        (lambda prompt: [["1"]], "the output of generate on prompt 0 = is not a right one"),
        (lambda prompt: [[prompt[0]], [prompt[0], "$"]], "have different lengths, which is not possible yet"),
        (lambda prompt: itertools.repeat(["0"]), "more than 10,000 right outputs of one prompt"),
    ],
)
def test_wrong_right_outputs_are_refused(right: Any, says: str) -> None:
    with pytest.raises(TaskError, match=says):
        choice_src(_task(right=right), 1, 1)


def test_the_largest_alphabet_is_allowed_and_a_text_stands_for_its_characters() -> None:
    symbols = tuple(map(str, range(MAX_SYMBOLS)))
    scale_trace = trace(_task(alphabet=symbols, prompt=lambda n: [symbols], generate=lambda p: p), 1)
    assert scale_trace.tokens.shape == (2, MAX_SYMBOLS) and scale_trace.tokens.max() == MAX_SYMBOLS - 1
    task = _task(alphabet="01=$")
    assert task.alphabet == _task().alphabet and (trace(task, 3).tokens == trace(_task(), 3).tokens).all()
    assert {type(symbol) for symbol in _task(alphabet=list(np.array([*"01="]))).alphabet} == {str}


@pytest.mark.parametrize("part", ["prompt", "generate", "vectorised"])
def test_interrupts_pass(part: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        trace(_task(**{part: _raising(KeyboardInterrupt())}), 1)


def test_a_failure_names_the_task_as_it_is_called_now_and_once() -> None:
    task = _task(prompt=_raising(IndexError("none")))
    for name in ("first", "second", "third"):
        task = replace(task, name=name)
    with pytest.raises(TaskError, match=r"^task 'third': prompt fails at scale 2: IndexError: none"):
        task.prompt(2)
    assert replace(task) == task
    with pytest.raises(TaskError, match=r"^task 'toy': generate fails on prompt 0 =: SystemExit: 0"):
        trace(aligned(_task(generate=_raising(SystemExit(0))), 2), 1)


def test_a_reference_that_fails_is_not_one_that_is_undefined() -> None:
    """A ValueError says that an operator has no value there; anything else is a failure."""

    def apply(error: Exception) -> Task:
        steps = lambda n: [("copy", (t,)) for t in range(1, n + 1)]  # noqa: E731
        return _task(reference=Reference(arity=1, steps=steps, apply=_raising(error)))

    assert (reference_circuit(apply(ValueError("none")), [1]).operators[0] == 255).all()
    with pytest.raises(TaskError, match="apply fails on 0: KeyError"):
        reference_circuit(apply(KeyError("none")), [1])


@pytest.mark.parametrize(
    ("task", "prompt", "output"),
    [
        (parity(), "1 0 1 1 =", "1 1 0 1 $"),
        (copy(10), "9 0 7 =", "9 0 7 $"),
        # Lexicographic order of permutations of 0, 1, 2: 012 021 102 120 201 210, then 012 again.
        (permutation(3), "1 1 1 1 1 1 1 =", "1 2 0 2 0 1 1 $"),
        (addition(10), "9 5 + 9 4 =", "8 0 1 $"),
    ],
)
def test_worked_outputs(task: Task, prompt: str, output: str) -> None:
    numbers = np.array([[task.alphabet.index(symbol) for symbol in prompt.split()]], dtype=np.uint8)
    assert task.text(task.outputs(numbers)[0]) == output == " ".join(task.generate(tuple(prompt.split())))


def test_built_in_tasks_are_known_by_their_own_name() -> None:
    assert {name: make().name for name, make in TASKS.items()} == {name: name for name in TASKS}


def _rows(scale_trace: Trace) -> list[tuple[int, ...]]:
    return [tuple(column) for column in scale_trace.tokens.T.tolist()]


@pytest.mark.parametrize("task", [parity(), copy(3), addition(2), direct_parity()], ids=lambda task: task.name)
def test_an_exhaustive_trace_holds_every_instance_once_and_its_near_pairs(task: Task) -> None:
    for scale in (1, 2, 3):
        scale_trace = trace(task, scale)
        instances = [
            tuple(task.alphabet.index(symbol) for symbol in (*prompt, *task.generate(prompt)))
            for prompt in itertools.product(*task.prompt(scale))
        ]
        assert scale_trace.exhaustive and sorted(_rows(scale_trace)) == sorted(instances)
        assert list(scale_trace.given) == list(range(1, len(task.prompt(scale)) + 1))
        assert list(scale_trace.steps) == list(range(len(scale_trace.given) + 1, scale_trace.length + 1))
        if task.name == "copy":
            continue  # with three symbols, neighbouring ones are near
        pairs = itertools.combinations(range(len(instances)), 2)
        near = [{first, second} for first, second in pairs if _distance(scale_trace, first, second) == 1]
        assert sorted(map(sorted, near)) == sorted(map(sorted, scale_trace.near.tolist()))


def _distance(scale_trace: Trace, first: int, second: int) -> int:
    """Number of positions in which two prompts differ."""
    return int((scale_trace.prompts[first] != scale_trace.prompts[second]).sum())


def test_near_pairs_of_a_sample_differ_in_exactly_one_prompt_position() -> None:
    scale_trace = trace(permutation(), 20)  # so many prompts that no two random ones are near
    assert not scale_trace.exhaustive and len(scale_trace.near) > 100
    assert {_distance(scale_trace, *pair) for pair in scale_trace.near.tolist()} == {1}


def test_a_sample_is_reproducible_bounded_without_repeats_and_of_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_module, "SAMPLE", 500)
    first, again = (trace(parity(), 15) for _ in range(2))
    assert not first.exhaustive
    assert (first.tokens == again.tokens).all() and (first.near == again.near).all()
    assert 250 <= first.tokens.shape[1] == len(set(_rows(first))) <= 500
    bits, output = first.tokens[:15].astype(int), first.tokens[16:31]
    assert (output == bits.cumsum(axis=0) % 2).all()


@pytest.mark.parametrize(("limit", "exhaustive"), [(64, True), (63, False)])
def test_exhaustive_up_to_the_limit_and_not_beyond(limit: int, exhaustive: bool, monkeypatch) -> None:
    monkeypatch.setattr(trace_module, "MAX_EXHAUSTIVE", limit)
    monkeypatch.setattr(trace_module, "SAMPLE", 20)
    scale_trace = trace(parity(), 6)
    assert scale_trace.exhaustive == (scale_trace.tokens.shape[1] == 64) == exhaustive


def test_samples_are_uniform_over_the_choices_of_each_position() -> None:
    prompts = permutation(5).sample_prompts(3, 5_000, np.random.default_rng(0))
    assert prompts.shape == (5_000, 4) and (prompts[:, 3] == 5).all()
    for column in range(3):
        # Six standard deviations of a binomial count around its mean.
        assert (abs(np.bincount(prompts[:, column], minlength=5) - 1_000) < 6 * np.sqrt(800)).all()


def test_as_many_tokens_are_admitted_as_memory_may_hold_and_no_more() -> None:
    task = _task(prompt=lambda n: [("0",)] * 19_999 + [BITS], generate=lambda prompt: prompt[-1:])
    assert trace(task, 1).tokens.shape == (20_001, 2)
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
