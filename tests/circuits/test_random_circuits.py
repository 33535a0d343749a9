"""Random circuits as tasks: drawn again by name, right by their reference circuits, and growing as their names say."""

import random
from itertools import product

import pytest

from lengthgen.circuits.reference import check_reference
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.random_circuits import GROWTHS, WIRINGS, drawn_name, random_circuit

LARGEST = 6


@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("growth", ["invariant", "rises4", "swaps4", "grows"])
def test_the_reference_circuit_computes_the_task(wiring: str, growth: str) -> None:
    task = random_circuit(f"random-{wiring}-{growth}-3")
    check_reference(task, traces_up_to(task, LARGEST))


@pytest.mark.parametrize("wiring", WIRINGS)
def test_every_wiring_reads_each_digit_once(wiring: str) -> None:
    for n in range(1, 12):
        assert sorted(WIRINGS[wiring](t, n) for t in range(1, n + 1)) == list(range(1, n + 1))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("random-local-invariant-6", [1, 1, 1, 1, 1, 1]),
        ("random-local-rises4-6", [1, 1, 1, 2, 2, 2]),
        ("random-local-grows-6", [1, 1, 2, 3, 4, 5]),
        ("random-local-swaps4-6", [1, 1, 1, 1, 1, 1]),
        ("random-local-rises4-5", [1, 1, 1, 1, 1, 1]),  # another circuit serves both operators' steps with one
    ],
)
def test_complexity_is_at_most_the_number_of_operators_drawn(name: str, values: list[int]) -> None:
    task = random_circuit(name)
    result = src(task, traces_up_to(task, LARGEST), 2)
    assert [result.values[n] for n in range(1, LARGEST + 1)] == values


def test_a_task_is_the_same_whenever_it_is_made() -> None:
    prompt = tuple("0120212=")
    assert "".join(random_circuit("random-rotated-rises5-11").generate(prompt)) == FROZEN


FROZEN = "2212211$"


def test_a_rise_changes_no_output_before_its_step() -> None:
    early, late = (random_circuit(f"random-reversed-{growth}-4") for growth in ("invariant", "rises5"))
    prompts = [tuple(f"{''.join(random.Random(k).choices('012', k=9))}=") for k in range(40)]
    outputs = [(early.generate(prompt), late.generate(prompt)) for prompt in prompts]
    assert all(first[:4] == second[:4] for first, second in outputs)
    assert any(first[4] != second[4] for first, second in outputs)


def test_a_swap_gives_the_operator_its_arguments_in_the_other_places_from_its_step_on() -> None:
    """Step 3 gives for x and y, if it is swapped, what the plain step gives for y and x."""
    plain, swapped = (random_circuit(f"random-local-{growth}-1") for growth in ("swaps4", "swaps3"))
    table = {}
    for x in product("012", repeat=3):
        before, after = (task.generate((*x, "=")) for task in (plain, swapped))
        assert before[:2] == after[:2]
        table[x[2], before[1]] = before[2], after[2]
    places = {(x, y): (y, x) for x, y in table if (y, x) in table}
    assert len(places) > 3 and any(table[place][0] != table[place][1] for place in places)
    assert all(table[place][1] == table[other][0] for place, other in places.items())


def test_names_are_drawn_by_the_seed_from_all_kinds() -> None:
    names = [drawn_name(random.Random(seed), largest_rise=9) for seed in range(60)]
    assert names == [drawn_name(random.Random(seed), largest_rise=9) for seed in range(60)]
    kinds = {tuple(name.split("-")[1:3]) for name in names}
    assert {wiring for wiring, _ in kinds} == set(WIRINGS)
    assert {growth.rstrip("0123456789") for _, growth in kinds} == set(GROWTHS)


@pytest.mark.parametrize(
    ("name", "base", "message"),
    [
        ("random-local-5", 3, "write random-WIRING-GROWTH-SEED"),
        ("random-circular-grows-5", 3, "WIRING one of local, reversed"),
        ("random-local-rises0-5", 3, "write random-WIRING"),
        ("random-local-swaps-5", 3, "rises9, swaps9"),
        ("random-local-grows-5", 11, "the base must be 2 to 10"),
    ],
)
def test_bad_names_say_what_to_write(name: str, base: int, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        random_circuit(name, base)
