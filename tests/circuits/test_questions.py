"""Minimum circuits counted, scratchpads, SRC within an error, and composed tasks agree with brute force."""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from lengthgen.circuits.questions import counting, synthesis
from lengthgen.circuits.questions.composition import after
from lengthgen.circuits.questions.counting import minimum_circuits
from lengthgen.circuits.questions.synthesis import scratchpad_tokens, src_within
from lengthgen.circuits.search.sat import SolverError
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import trace
from tests.circuits.examples import random_task
from tests.circuits.random_kinds import random_kind
from tests.oracles import sequences as oracle

Symbols = tuple[str, ...]


def _partitions(items: Sequence[int], count: int) -> Iterator[list[list[int]]]:
    """Yield every partition of items into `count` blocks."""
    if not items:
        if count == 0:
            yield []
        return
    first, rest = items[0], items[1:]
    for blocks in _partitions(rest, count):
        for which in range(len(blocks)):
            yield [*blocks[:which], [first, *blocks[which]], *blocks[which + 1 :]]
    if count:
        for blocks in _partitions(rest, count - 1):
            yield [[first], *blocks]


def _all_minimum_circuits(task: Task, scales: int, arity: int, operators: int) -> list[tuple[Any, set[Any]]]:
    """Return the wirings of every minimum circuit, and all entries of its operators."""
    steps = []
    for scale in range(1, scales + 1):
        instances = oracle.sequences(task.prompt, task.generate, scale)
        for position in range(len(task.prompt(scale)) + 1, len(instances[0]) + 1):
            steps.append(list(oracle.wirings(instances, position, arity).items()))
    circuits = []
    for chosen in itertools.product(*steps):
        tables = [table for _, table in chosen]
        for blocks in _partitions(range(len(steps)), operators):
            unions = [frozenset().union(*(tables[step] for step in block)) for block in blocks]
            if all(len({key for key, _ in union}) == len(union) for union in unions):
                circuits.append(([wiring for wiring, _ in chosen], set().union(*unions)))
    return circuits


@pytest.mark.parametrize("seed", range(16))
def test_minimum_circuits_are_those_of_brute_force(seed: int) -> None:
    scales, arity = (2, 1) if seed % 4 else (1, 2)
    task = random_task(seed, symbols=2 + seed % 2, arity=arity, scales=scales)
    result = src(task, traces_up_to(task, scales), arity)
    every = _all_minimum_circuits(task, scales, arity, int(result.values[scales]))
    answer = minimum_circuits(task, result)
    assert answer.count == len(every)
    assert set(answer.entries) == set.intersection(*(entries for _, entries in every))
    for number, wirings in enumerate(answer.wirings.values()):
        assert set(wirings) == {chosen[number] for chosen, _ in every}


def test_what_is_forced_in_parity() -> None:
    """Every minimum circuit of arity 2 has the four entries of xor; the slots are free to change places."""
    task = load("parity")
    answer = minimum_circuits(task, src(task, traces_up_to(task, 3), 2))
    assert answer.operators == 1
    assert set(answer.entries) == {((a, b), str((int(a) + int(b)) % 2)) for a in "01" for b in "01"}
    assert answer.forced == {}
    assert set(answer.wirings[3, 7]) == {(3, 6), (6, 3)}


def test_what_cannot_be_counted_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    direct = load("parity-direct")
    with pytest.raises(TaskError, match="counted where SRC is finite and exact"):
        minimum_circuits(direct, src(direct, traces_up_to(direct, 3), 2))
    large = load("copy", base=10)
    with pytest.raises(TaskError, match="counted where SRC is finite and exact"):
        minimum_circuits(large, src(large, traces_up_to(large, 5), 1))
    parity = load("parity")
    with pytest.raises(TaskError, match="in the modes free and declared"):
        minimum_circuits(parity, src(parity, traces_up_to(parity, 2), 2, mode="typed"))
    with pytest.raises(TaskError, match="of tasks with one right output"):
        minimum_circuits(load("select-any"), src(parity, traces_up_to(parity, 2), 2))
    monkeypatch.setattr(counting, "MAX_STATES", 1)
    task = load("parity")
    with pytest.raises(TaskError, match="too many kinds of circuits to count"):
        minimum_circuits(task, src(task, traces_up_to(task, 3), 2))


@pytest.mark.parametrize("seed", range(7))
def test_at_error_0_it_is_src(seed: int) -> None:
    task, _, arity, scales = random_kind(seed)
    if task.right is not None:
        with pytest.raises(TaskError, match="several outputs are right"):
            src_within(task, scales, arity, Fraction(0))
        return
    bounds = src_within(task, min(scales, 2), 1, Fraction(0))
    assert bounds == src(task, traces_up_to(task, min(scales, 2)), 1).bounds


@pytest.mark.parametrize("seed", range(4))
def test_within_an_error_it_is_the_best_choice_of_wrong_prompts(seed: int) -> None:
    error = Fraction(1, 3) if seed % 2 else Fraction(1, 2)
    task = random_task(seed, symbols=2, arity=2, scales=2)
    allowed = []
    for scale in (1, 2):
        instances = oracle.sequences(task.prompt, task.generate, scale)
        left = len(instances) - math.floor(error * len(instances))
        allowed.append([list(each) for each in itertools.combinations(instances, left)])
    values: dict[int, float] = {}
    for last in (1, 2):
        values[last] = math.inf
        for chosen in itertools.product(*allowed[:last]):
            steps = [
                set(oracle.wirings(instances, position, 1).values())
                for scale, instances in enumerate(chosen, 1)
                for position in range(scale + 1, len(instances[0]) + 1)
            ]
            values[last] = min(values[last], oracle.fewest_by_partition(steps))
    assert src_within(task, 2, 1, error) == {last: (value, value) for last, value in values.items()}


def test_a_formula_that_is_too_large_is_refused_before_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "_formula", lambda question: pytest.fail("written"))
    with pytest.raises(SolverError, match=r"'addition': a formula of [\d,]+ clauses, more than 1,000,000"):
        src_within(load("addition"), 2, 5, Fraction(1, 10))


def test_an_error_is_a_share_of_prompts() -> None:
    for error in (Fraction(-1, 2), Fraction(1)):
        with pytest.raises(TaskError, match="at least 0 and below 1, not"):
            src_within(load("copy"), 1, 1, error)
    with pytest.raises(TaskError, match="scale 5 has too many prompts to try all"):
        src_within(load("copy", base=10), 5, 1, Fraction(0))


@pytest.mark.parametrize("seed", range(1))
def test_a_scratchpad_is_as_short_as_by_trying_all(seed: int) -> None:
    """A token of a bit is a function of the prompt: all 4 x 16 functions of scales 1 and 2 are tried."""
    task = random_task(seed, symbols=2, arity=2, scales=2)
    for operators in (1, 2):
        without = src(task, traces_up_to(task, 2), 1).values[2]
        with_one = min(_with_tokens(task, bits) for bits in itertools.product("ab", repeat=6))
        answer = scratchpad_tokens(task, 2, 1, operators)
        assert (answer.upper == 0) == (without is not None and without <= operators)
        assert (answer.upper in (0, 1)) == (with_one <= operators)


def _with_tokens(task: Task, bits: Sequence[str]) -> float:
    """Return SRC of the task with one more token before the outputs, given prompt by prompt."""
    prompts = [prompt for scale in (1, 2) for prompt in itertools.product(*task.prompt(scale))]
    token = dict(zip(prompts, bits, strict=True))
    steps = [
        tables
        for scale in (1, 2)
        for tables in oracle.step_tables(task.prompt, lambda prompt: [token[prompt], *task.generate(prompt)], scale, 1)
    ]
    return oracle.fewest_by_partition(steps)


def test_parity_needs_the_prefixes_on_its_scratchpad() -> None:
    """Parity of n bits by operators of two slots: n - 2 tokens for n >= 2."""
    for scale, tokens in ((2, 0), (3, 1), (4, 2)):
        answer = scratchpad_tokens(load("parity-direct"), scale, 2, 2)
        assert (answer.lower, answer.upper) == (tokens, tokens)


def test_symbols_in_place_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A symbol for each pair of bits holds what two tokens would."""
    direct = load("parity-direct")
    assert [scratchpad_tokens(direct, 4, 2, 2, symbols=symbols).upper for symbols in (0, 2)] == [2, 2]
    monkeypatch.setattr(synthesis, "MAX_SCRATCHPAD", 1)
    none = scratchpad_tokens(direct, 4, 2, 2)
    assert (none.lower, none.upper, none.stopped) == (2, None, "more than 1 were not tried")


def test_a_scratchpad_goes_before_all_outputs() -> None:
    with pytest.raises(TaskError, match="prompt tokens come after outputs"):
        scratchpad_tokens(load("parity-online"), 2, 1, 1)


PAIRS = [("reverse", "copy"), ("shift", "reverse"), ("copy", "parity"), ("parity", "copy"), ("parity", "shift")]


@pytest.mark.parametrize(("second", "first"), PAIRS)
def test_a_composition_needs_no_more_operators_than_both(second: str, first: str) -> None:
    f, g = load(second), load(first)
    composed = after(f, g)
    traces = traces_up_to(composed, 4)
    arity = max(minimal_arity(traces_up_to(task, 4)) or 0 for task in (f, g))
    assert minimal_arity(traces) <= arity
    separate = [src(task, traces_up_to(task, 4), arity).values[4] for task in (f, g)]
    assert src(composed, traces, arity).values[4] <= sum(separate)


def test_a_composition_shows_both_outputs() -> None:
    composed = after(load("reverse"), load("copy"))
    assert composed.name == "reverse-after-copy"
    assert composed.generate(("0", "1", "=")) == ["0", "1", "=", "1", "0", "$"]
    assert trace(composed, 2).tokens.shape == (9, 4)


def test_what_does_not_compose_is_refused() -> None:
    with pytest.raises(TaskError, match="output 2 \\$ gives 2 =, which is no prompt of 'parity'; in Python, give"):
        trace(after(load("parity"), load("copy", base=3)), 1)
    with pytest.raises(TaskError, match="the output 0 \\$ gives 0 =, which is no prompt of 'addition'"):
        trace(after(load("addition"), load("copy")), 1)
    for name in ("copy-until-zero", "parity-online", "select-any"):
        with pytest.raises(TaskError, match=f"'{name}.*' cannot be composed yet"):
            after(load("copy"), load(name))
