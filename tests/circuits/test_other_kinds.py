"""Random tasks of other kinds: each is what its layout says, and right by its circuit."""

import random

import numpy as np
import pytest

from lengthgen.circuits.reference import check_reference
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.task import Task, TaskError
from lengthgen.circuits.tasks import parse_task
from lengthgen.circuits.tasks.other_kinds import KINDS, task_of_kind
from lengthgen.circuits.tasks.random_circuits import random_operator

SEED, BASE = 7, 3
F, G = (random_operator(BASE, f"{SEED} {BASE} {number}") for number in (1, 3))


def f(x: int, y: int = 0) -> int:
    return int(F[x * BASE + y])


def g(x: int, y: int = 0) -> int:
    return int(G[x * BASE + y])


def task(kind: str) -> Task:
    return task_of_kind(f"random-{kind}-invariant-{SEED}")


def output(kind: str, prompt: str) -> str:
    return "".join(task(kind).generate(tuple(prompt)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("growth", ["invariant", "rises3"])
def test_the_circuit_computes_the_task(kind: str, growth: str) -> None:
    of_kind = task_of_kind(f"random-{kind}-{growth}-{SEED}")
    check_reference(of_kind, traces_up_to(of_kind, 4))


def test_a_tree_is_evaluated_from_its_leaves() -> None:
    """Node after node reads the two oldest tokens that no node has read."""
    left, right = f(0, 1), f(2, 1)
    assert output("tree", "0121=") == f"{left}{right}{f(left, right)}$"


def test_a_traversal_reads_the_left_subtree_then_the_node_then_the_right_one() -> None:
    """Nodes 1, 2, 3, 4, 5 of a tree are in the order 4, 2, 5, 1, 3."""
    digits, y, expected = (0, 1, 2, 2, 1), 0, []
    for node in (4, 2, 5, 1, 3):
        y = f(digits[node - 1], y)
        expected.append(str(y))
    assert output("traversal", "01221=") == "".join(expected) + "$"


def test_a_lag_reads_the_output_before_the_last() -> None:
    first, second = f(1), f(2)
    assert output("lagged", "1201=") == f"{first}{second}{f(0, first)}{f(1, second)}$"


def test_outputs_stand_between_the_symbols_of_the_prompt() -> None:
    of_kind = task("interleaved")
    [tokens] = of_kind.sequences(3, np.array([[of_kind.alphabet.index(symbol) for symbol in "=120"]], dtype=np.uint8))
    first, second = f(1), f(2, f(1))
    assert of_kind.text(tokens) == f"= 1 {first} 2 {second} 0 {f(0, second)} $"


def test_the_first_symbol_selects_the_operator() -> None:
    assert output("selected", "012=") == f"{f(1)}{f(2, f(1))}$"
    assert output("selected", "112=") == f"{g(1)}{g(2, g(1))}$"


def test_a_pointer_is_chosen_by_the_last_output() -> None:
    first = f(0, 1)
    assert output("pointers", "1202=") == f"{first}{f(2, (1, 2)[first % 2])}$"


def test_a_chain_computes_a_second_row_from_the_first_one_backwards() -> None:
    first, second = f(1), f(2, f(1))
    assert output("chained", "12=") == f"{first}{second}:{g(second)}{g(first, g(second))}$"


def test_an_output_ends_at_the_first_zero() -> None:
    assert output("early", "1201=") == f"{f(1)}{f(2, f(1))}$"
    assert output("early", "0201=") == "$"


def test_the_second_operand_has_half_the_length() -> None:
    first = f(1, g(0, 2))
    second = f(2, g(first, 1))
    assert output("two-operands", "120+21=") == f"{first}{second}{f(0, g(second))}$"


def test_every_pair_of_neighbours_is_a_right_answer() -> None:
    assert task("any").right is not None
    answers = {"".join(answer) for answer in task("any").right(tuple("012="))}
    assert answers == {f"{f(0, 1)}$", f"{f(1, 2)}$", f"{f(2)}$"}
    assert output("any", "012=") == f"{f(1, 2)}$"


def test_neighbours_differ_in_every_prompt_drawn() -> None:
    of_kind = task("distinct")
    prompts = of_kind.sample_prompts(6, 50, np.random.default_rng(0))
    assert (prompts[:, 1:] != prompts[:, :-1]).all() and len(np.unique(prompts, axis=0)) > 30
    assert set(random.Random(0).sample([*prompts[:, :6].ravel()], 50)) == {0, 1, 2}


def test_noise_leaves_the_state_alone() -> None:
    assert output("noisy", "~1~~2=") == f"0{f(1)}{f(1)}{f(1)}{f(2, f(1))}$"


def test_bricks_exchange_neighbours_in_two_rows() -> None:
    row = (f(0, 1), g(0, 1), f(2, 1), g(2, 1))
    second = (g(row[0], row[0]), f(row[1], row[2]), g(row[1], row[2]), f(row[3], row[3]))
    assert output("bricks", "0121=") == "".join(map(str, (*row, *second))) + "$"


def test_a_rise_changes_no_output_before_its_step_and_needs_another_operator() -> None:
    plain, risen = task("lagged"), task_of_kind(f"random-lagged-rises4-{SEED}")
    outputs = [
        ["".join(each.generate(tuple(f"{word}="))) for each in (plain, risen)] for word in ("1201", "2121", "0012")
    ]
    assert all(first[:3] == second[:3] for first, second in outputs)
    assert any(first[3] != second[3] for first, second in outputs)
    values = [src(each, traces_up_to(each, 5), 2).values[5] for each in (plain, risen)]
    assert values == [1, 2]


def test_names_are_read_like_those_of_other_tasks() -> None:
    assert parse_task(f"random-tree-invariant-{SEED}[base=2]").plain().alphabet == ("0", "1", "=", "$")
    for wrong in ("random-tree-rises0-1", "random-tree-1", "random-tree-grows-1"):
        with pytest.raises(TaskError, match="KIND one of tree, "):
            parse_task(wrong)
    with pytest.raises(TaskError, match="base must be 2 to 10"):
        parse_task("random-tree-invariant-1[base=11]")
