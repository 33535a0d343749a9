"""The search finds exactly the wirings that trying every tuple of positions finds."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from lengthgen.circuits import determining, tables
from lengthgen.circuits.determining import determines, determining_sets, known_sets
from lengthgen.circuits.search.templates import Guesses
from lengthgen.circuits.search.wirings import MAX_WIRINGS, all_wirings, alternatives
from lengthgen.circuits.src import minimal_arity, traces_up_to
from lengthgen.circuits.tables import Table, step_entries
from lengthgen.circuits.task import Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.tasks.copying import copy
from lengthgen.circuits.tasks.counter import parity
from lengthgen.circuits.trace import extended, of_prompts, trace
from tests.circuits.examples import addition, direct_parity, random_task
from tests.oracles import sequences as oracle


def _decoded(table: Table, alphabet: tuple[str, ...], arity: int) -> oracle.Table:
    """Decode a bit set by its documented layout: bit key * symbols + value, slot 1 the highest digit of the key."""
    pairs = []
    for number, key in enumerate(itertools.product(alphabet, repeat=arity)):
        for value, symbol in enumerate(alphabet):
            if table >> (number * len(alphabet) + value) & 1:
                pairs.append((key, symbol))
    return frozenset(pairs)


CASES = [
    *((random_task(seed, symbols=2 + seed % 2, arity=2, scales=3, local=seed % 4 != 3), 2) for seed in range(16)),
    (parity(), 1),
    (parity(), 2),
    (parity(), 3),
    (copy(3), 1),
    (addition(2), 2),
    (direct_parity(), 3),
]


@pytest.mark.parametrize(("task", "arity"), CASES, ids=lambda case: getattr(case, "name", case))
def test_the_wirings_and_tables_are_those_of_brute_force(task: Task, arity: int) -> None:
    for scale in (1, 2, 3) if arity < 3 else (1, 2):
        scale_trace = trace(task, scale)
        instances = oracle.sequences(task.prompt, task.generate, scale)
        for position in scale_trace.steps:
            options = alternatives(scale_trace, position, arity)
            assert options.complete
            by_wiring = {
                wiring: _decoded(table, task.alphabet, arity)
                for table, wirings in options.wirings.items()
                for wiring in wirings
            }
            assert by_wiring == oracle.wirings(instances, position, arity)
            assert sum(map(len, options.wirings.values())) == len(by_wiring), "each wiring has one table"


@pytest.mark.parametrize("seed", range(8))
def test_determining_sets_are_the_minimal_ones(seed: int) -> None:
    task = random_task(seed, symbols=2, arity=2, scales=3, local=seed % 4 != 3)
    scale_trace = trace(task, 3)
    instances = oracle.sequences(task.prompt, task.generate, 3)
    for position in scale_trace.steps:
        determining = {frozenset(wiring) for wiring in oracle.wirings(instances, position, 3)}
        if len({row[position - 1] for row in instances}) == 1:
            determining.add(frozenset())
        minimal = {chosen for chosen in determining if not any(other < chosen for other in determining)}
        assert determining_sets(scale_trace, position, 3) == (tuple(sorted(minimal, key=sorted)), True)


@pytest.mark.parametrize("seed", range(12))
def test_what_is_remembered_of_fewer_prompts_changes_no_answer(seed: int) -> None:
    task = random_task(seed, symbols=2 + seed % 2, arity=2, scales=4, local=seed % 3 != 2)
    prompts = task.all_prompts(4)
    some = of_prompts(task, trace(task, 4), prompts[seed % 5 :: 5])
    for position in some.steps:
        determining_sets(some, position, 3)
        for pair in itertools.combinations(range(1, position), 2):
            determines(some, position, pair)
    more = extended(task, some, np.delete(prompts, slice(seed % 5, None, 5), axis=0))
    afresh = replace(more, memory={}, memory_of_fewer={})
    for position in more.steps:
        assert determining_sets(more, position, 3) == determining_sets(afresh, position, 3)
        for pair in itertools.combinations(range(1, position), 2):
            assert determines(more, position, pair) == determines(afresh, position, pair)


@pytest.mark.parametrize("seed", range(12))
def test_guesses_change_no_answer(seed: int) -> None:
    task = random_task(seed, symbols=2, arity=1 + seed % 3, scales=5, local=seed % 4 != 3)
    steps = [(scale_trace, p) for scale_trace in traces_up_to(task, 5) for p in scale_trace.steps]
    random.Random(seed).shuffle(steps)
    for arity in (1, 2, 3):
        guesses = Guesses()
        for scale_trace, position in steps:
            afresh = determining_sets(replace(scale_trace, memory={}), position, arity)
            assert guesses.has_determining_set(replace(scale_trace, memory={}), position, arity) == bool(afresh.sets)


def test_steps_alike_need_no_search_of_their_own() -> None:
    addition_traces = traces_up_to(load("addition-carry", base=2), 8)
    assert minimal_arity(addition_traces) == 3
    steps = [(each, position) for each in addition_traces for position in each.steps]
    assert sum(known_sets(each, position, 3) is not None for each, position in steps) < len(steps) / 4


def test_a_set_may_be_as_large_as_the_arity_even_beyond_eight() -> None:
    assert determining_sets(trace(direct_parity(), 8), 9, 8).sets == (frozenset(range(1, 9)),)
    assert determining_sets(trace(direct_parity(), 9), 10, 9).sets == (frozenset(range(1, 10)),)


def test_where_too_many_wirings_exist_some_are_left_out_and_this_is_reported() -> None:
    # The last step of parity is constant, so every slot is spare.
    scale_trace = trace(parity(), 4)
    last = alternatives(scale_trace, scale_trace.length, 6)
    assert (scale_trace.length - 1) ** 6 > MAX_WIRINGS
    assert not last.complete
    assert last.wirings
    assert alternatives(scale_trace, scale_trace.length, 4).complete


def test_the_tables_of_all_wirings_may_fill_the_memory_but_not_more(monkeypatch: pytest.MonkeyPatch) -> None:
    scale_trace = trace(parity(), 3)
    every = (scale_trace.length - 1) ** 2  # the last step is constant
    bits = every * scale_trace.symbols**3
    for memory, complete in ((-(-bits // 8), True), ((bits - 1) // 8, False)):
        monkeypatch.setattr(tables, "MAX_BYTES", memory)
        assert alternatives(scale_trace, scale_trace.length, 2).complete == complete


@pytest.mark.parametrize("mode", ["free", "typed"])
def test_the_tables_of_all_orders_may_fill_the_memory_but_not_more(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each order of the three positions that the step needs has a table of its own."""
    task = Task(
        name="weighted",
        alphabet=("0", "1", "2"),
        prompt=lambda n: [("0", "1", "2")] * 3,
        generate=lambda prompt: [max(prompt[0], prompt[1] if prompt[2] == "0" else "0")],
    )
    scale_trace = trace(task, 1)
    for count, complete in ((6, True), (5, False)):
        monkeypatch.setattr(tables, "MAX_BYTES", -(-count * 3**4 // 8))
        listed = all_wirings(task, scale_trace, 4, 3, mode)
        assert listed.complete == complete
        assert len(listed.wirings) == count


@pytest.mark.parametrize("wiring", [(1, 2, 3), (3, 1, 2), (2, 2, 3), (3, 2, 3), (1, 1, 1)])
def test_entries_kept_of_positions_are_those_of_each_wiring_that_reads_them(wiring: tuple[int, ...]) -> None:
    task = Task(
        name="middle",
        alphabet=("0", "1", "2", "="),
        prompt=lambda n: [*[("0", "1", "2")] * 3, "="],
        generate=lambda prompt: [prompt[min(wiring) - 1]],
    )
    fresh, checked = trace(task, 1), trace(task, 1)
    assert determines(checked, 5, wiring)
    computed, kept = step_entries(fresh, 5, wiring), step_entries(checked, 5, wiring)
    assert [part.tolist() for part in kept] == [part.tolist() for part in computed]


@pytest.mark.parametrize("places", [(3,), (1, 2, 3), (1, 1, 2, 3), (2, 3, 3, 3), (1, 2, 3, 4)])
def test_all_orders_at_once_have_the_tables_of_each(places: tuple[int, ...]) -> None:
    task = Task(
        name="sum and third",
        alphabet=("0", "1", "2", "="),
        prompt=lambda n: [*[("0", "1", "2")] * 3, "="],
        generate=lambda prompt: [str(sum(map(int, prompt[:3])) % 3), prompt[2]],
    )
    scale_trace = trace(task, 1)
    position = 5 if {*places} >= {1, 2, 3} else 6
    orders = list(itertools.permutations(places))[::-1]
    expected: dict[int, list[tuple[int, ...]]] = {}
    for order in orders:
        expected.setdefault(tables.table_of(scale_trace, position, order), []).append(order)
    at_once: dict[int, list[tuple[int, ...]]] = {}
    assert tables.add_by_table(at_once, scale_trace, position, orders)
    assert list(at_once.items()) == list(expected.items()), "in the same order"
    assert (len(at_once) == 1) == (places in ((3,), (1, 2, 3))), "the sum is symmetric"
    firsts = [same[0] for same in expected.values()]
    assert list(tables.different_orders(scale_trace, position, orders[0])) == sorted(firsts, reverse=True)


def test_typed_wirings_beyond_the_memory_are_left_out_and_this_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    scale_trace = trace(direct_parity(), 3)
    orders, table_bits = 6, scale_trace.symbols**4  # three operands in any order
    for memory, kept in ((orders * table_bits // 8, orders), ((orders - 1) * table_bits // 8, orders - 1)):
        monkeypatch.setattr(tables, "MAX_BYTES", memory)
        typed = all_wirings(direct_parity(), scale_trace, scale_trace.steps[0], 3, "typed")
        assert sum(map(len, typed.wirings.values())) == kept
        assert typed.complete == (kept == orders)


def test_without_a_clock_there_is_no_limit_of_time() -> None:
    scale_trace = trace(parity(), 2)
    step = scale_trace.steps[0]
    declared, typed = (all_wirings(parity(), scale_trace, step, 2, mode) for mode in ("declared", "typed"))
    assert list(declared.wirings.values()) == [[parity().reference.steps(2)[0][1]]]
    assert {wiring for listed in typed.wirings.values() for wiring in listed} == {(1,)}


@pytest.mark.parametrize("most", range(1, 5))
def test_where_the_search_for_sets_ends_early_the_wirings_are_right_and_never_called_all(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each symbol is repeated three times, so that a step has one to three wirings without any slot to spare."""
    task = Task(
        name="thrice",
        alphabet=("0", "1", "2"),
        prompt=lambda n: [("0", "1", "2")] * n,
        generate=lambda prompt: [symbol for symbol in prompt for _ in range(3)],
    )
    cut_short = 0
    for scale in (1, 2, 3):
        instances = oracle.sequences(task.prompt, task.generate, scale)
        with monkeypatch.context() as limited:
            limited.setattr(determining, "MAX_SETS", most)
            scale_trace = trace(task, scale)
            options = {position: alternatives(scale_trace, position, 1) for position in scale_trace.steps}
        for position, option in options.items():
            listed = {wiring for each in option.wirings.values() for wiring in each}
            every = oracle.wirings(instances, position, 1).keys()
            assert listed <= every
            assert not option.complete or listed == every
            cut_short += not option.complete
    assert (cut_short > 0) == (most < 3)
