"""The search finds the fewest operators, which a comparison of pairs of steps cannot find."""

import inspect
import itertools
import random
import sys
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search import partition as module
from lengthgen.circuits.search.partition import Compatibility, fewest_operators, kernel, minimal_tables
from lengthgen.circuits.tables import Table
from tests.oracles import sequences as oracle

KEYS = 4
Plain = dict[int, int]
"""A partial table as key -> value."""

tables = st.dictionaries(st.integers(0, KEYS - 1), st.integers(0, 2), min_size=0, max_size=3)
instances = st.lists(st.lists(tables, min_size=1, max_size=3), min_size=1, max_size=6)


def _bits(table: Plain, symbols: int = 3) -> Table:
    return sum(1 << (key * symbols + value) for key, value in table.items())


def _steps(plain: list[list[Plain]], symbols: int = 3) -> list[frozenset[Table]]:
    return [frozenset(_bits(table, symbols) for table in step) for step in plain]


def _oracle(plain: list[list[Plain]]) -> float:
    return oracle.fewest_by_partition(
        [[frozenset(((str(key),), str(value)) for key, value in table.items()) for table in step] for step in plain]
    )


def _serves(operators: tuple[Table, ...], steps: list[frozenset[Table]]) -> bool:
    return all(any(table & operator == table for operator in operators for table in step) for step in steps)


def _is_function(table: Table, symbols: int = 3) -> bool:
    return all((table >> (key * symbols) & (1 << symbols) - 1).bit_count() <= 1 for key in range(KEYS))


@given(plain=instances)
def test_the_fewest_operators_are_those_of_brute_force_and_serve_every_step(plain: list[list[Plain]]) -> None:
    steps = _steps(plain)
    result = fewest_operators(steps, 3)
    assert result.lower == result.upper == len(result.operators) == _oracle(plain)
    assert all(_is_function(operator) for operator in result.operators)
    assert _serves(result.operators, steps)


def _drawn(seed: int) -> tuple[list[list[Plain]], int, int]:
    """Steps of several tables over q symbols at arity k: random ones, or cut out of a few planted operators."""
    rng = random.Random(seed)
    q, k = rng.choice([(2, 1), (2, 2), (3, 1)])
    planted = [{key: rng.randrange(q) for key in range(q**k)} for _ in range(rng.randint(1, 5))]
    steps: list[list[Plain]] = []
    for _ in range(rng.randint(2, 7)):
        tables = []
        for _ in range(rng.randint(1, 3)):
            source = rng.choice(planted) if rng.random() < 0.6 else {key: rng.randrange(q) for key in range(q**k)}
            tables.append({key: source[key] for key in rng.sample(range(q**k), rng.randint(1, q**k))})
        steps.append(tables)
    return steps, q, k


def test_drawn_instances_are_solved_as_two_oracles_and_the_solver_solve_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some need more than the pairwise bound: of three steps each two can share an operator, but not all."""
    beyond_pairs = 0
    for seed in range(500):
        steps, q, k = _drawn(seed)
        keys = [*itertools.product(map(str, range(q)), repeat=k)]
        plain = [[frozenset((keys[n], str(value)) for n, value in table.items()) for table in step] for step in steps]
        result = fewest_operators(_steps(steps, q), q)
        assert result.lower == result.upper == oracle.fewest_by_partition(plain), seed
        assert result.upper == oracle.fewest_by_hitting_set(plain, [*map(str, range(q))], k), seed
        beyond_pairs += result.clique < result.lower
        if seed % 25 == 0:
            with monkeypatch.context() as soon:
                soon.setattr(module, "MAX_LOOKS", 1)
                by_solver = fewest_operators(_steps(steps, q), q)
            assert (by_solver.lower, by_solver.upper) == (result.lower, result.upper), seed
    assert beyond_pairs > 10


@pytest.mark.parametrize("seed", [17, 38])
def test_pairs_of_large_tables_take_several_looks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search solves a small instance; the solver the same one with larger keys."""
    steps, q, _ = _drawn(seed)
    small = _steps(steps, q)
    monkeypatch.setattr(module, "MAX_LOOKS", 20)
    answers = []
    for tables, solves in ((small, False), ([frozenset(t << 400_000 * q for t in step) for step in small], True)):
        with mock.patch.object(module, "_by_sat", wraps=module._by_sat) as solver:
            answers.append(fewest_operators(tables, q))
            assert solver.called == solves
    assert len({bound for answer in answers for bound in (answer.lower, answer.upper)}) == 1


@given(plain=instances)
def test_the_kernel_and_minimal_tables_keep_the_optimum(plain: list[list[Plain]]) -> None:
    def optimum(steps: list[frozenset[Table]]) -> float:
        # Back to dictionaries, so that only the oracle decides.
        return _oracle([[_plain(table) for table in step] for step in steps])

    steps = _steps(plain)
    smaller = [minimal_tables(step, Clock()) for step in steps]
    assert all(small <= step for small, step in zip(smaller, steps, strict=True))
    assert optimum(steps) == optimum(smaller) == optimum(kernel(steps, Clock())) == optimum(kernel(smaller, Clock()))
    assert optimum(steps) == optimum(kernel(steps, Clock(0))), "out of time it drops less, and never too much"


def _plain(table: Table, symbols: int = 3) -> Plain:
    return {bit // symbols: bit % symbols for bit in range(KEYS * symbols) if table >> bit & 1}


@given(first=tables, second=tables)
def test_tables_are_compatible_where_no_key_has_two_values(first: Plain, second: Plain) -> None:
    agree = all(second.get(key, value) == value for key, value in first.items())
    assert Compatibility(3)(_bits(first), _bits(second)) == agree


NOT_PAIRWISE: list[list[Plain]] = [[{0: 0}, {1: 0}], [{1: 1, 2: 0}], [{0: 1, 3: 0}]]
"""Each pair of these steps can share an operator, by another table of the first step; the three cannot."""


def test_pairwise_compatibility_is_not_enough() -> None:
    for pair in itertools.combinations(NOT_PAIRWISE, 2):
        assert fewest_operators(_steps(list(pair)), 3).upper == 1
    for order in itertools.permutations(NOT_PAIRWISE):
        assert fewest_operators(_steps(list(order)), 3).upper == 2


def _crown(size: int) -> list[list[Plain]]:
    """Fixed tables whose conflicts are a crown graph, an even pair a_i against all b_j but its own."""
    keys = {edge: number for number, edge in enumerate((i, j) for i in range(size) for j in range(size) if i != j)}
    left = [[{keys[i, j]: 0 for j in range(size) if i != j}] for i in range(size)]
    right = [[{keys[i, j]: 1 for i in range(size) if i != j}] for j in range(size)]
    return [step for pair in zip(left, right, strict=True) for step in pair]


def test_first_fit_alone_would_take_too_many() -> None:
    # First fit in this order puts a_i with b_i and needs `size` operators; two are enough.
    assert fewest_operators(_steps(_crown(5)), 3).upper == 2


def _five_cycle() -> list[list[Plain]]:
    """Fixed tables with the conflicts of a cycle of five: the largest clique has 2 steps, 3 operators are needed."""
    return [[{edge: 0, (edge - 1) % 5: 1}] for edge in range(5)]


def test_the_solver_takes_over_and_bounds_are_given_where_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LOOKS", 1)
    clock = Clock()
    exact = fewest_operators(_steps(_five_cycle()), 3, clock)
    assert (exact.lower, exact.upper) == (3, 3)
    assert clock.seconds["solver"] > 0
    bounds = fewest_operators(_steps(_five_cycle()), 3, Clock(0))
    assert (bounds.lower, bounds.upper) == (2, 3)
    assert _serves(bounds.operators, _steps(_five_cycle()))


def test_permutations_of_the_alphabet_need_one_operator_each() -> None:
    steps = _steps([[dict(enumerate(order))] for order in itertools.permutations(range(3))])
    assert [fewest_operators(each, 3).upper for each in (steps, steps[::-1], sorted(steps))] == [6, 6, 6]


@pytest.fixture
def shallow_stack() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 120)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("shallow_stack")
def test_the_number_of_steps_is_not_bounded_by_the_stack() -> None:
    """A random task of scale 50 has over 1,000 steps that no other serves; here the stack is small instead."""
    functions = itertools.islice(itertools.product(range(3), repeat=5), 160)
    steps = _steps([[dict(enumerate(values))] for values in functions])
    assert fewest_operators(steps, 3).upper == 160
