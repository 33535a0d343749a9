"""The helpers of the claims on SRC against brute force, and the reasons for which their falsifiers fall."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.reference import reference_circuit
from lengthgen.circuits.roles import ideal_relation
from lengthgen.circuits.src import src, traces_up_to
from lengthgen.circuits.tasks import load
from lengthgen.proofs_checks.consequences.sequential import bounds, coverage, merging
from lengthgen.proofs_checks.papers.sequential import parity


@pytest.mark.parametrize("padding", [0, 1, 3])
def test_symbolic_steps_meet_exactly_the_keys_of_written_out_sequences(padding: int) -> None:
    met: dict[str, set[tuple[tuple[str, ...], str]]] = {"first": set(), "later": set(), "end": set()}
    for n in range(1, 5):
        for bits in product((0, 1), repeat=n):
            tokens = parity.sequence(bits, width=n + padding)
            for t in range(1, n + 2):
                name = "end" if t == n + 1 else "first" if t == 1 else "later"
                key = tokens[t - 1], tokens[n + padding + t - 1]
                met[name].add((key, tokens[n + padding + t]))
    for step in parity.steps(aligned=padding > 0):
        assert set(parity.cases(step, parity.slots_of_parity)) == met[step.name]


def test_a_step_refuses_a_position_that_the_scale_decides() -> None:
    first, later, _ = parity.steps(aligned=False)
    with pytest.raises(ValueError, match="do not say whether"):
        list(parity.cases(later, lambda t, w: (t + 1, w + t)))
    with pytest.raises(ValueError, match="not one of the earlier"):
        list(parity.cases(first, lambda t, w: (t, w + t + 1)))


@pytest.mark.parametrize("name", [parity.BLOCK, parity.ALIGNED])
@pytest.mark.parametrize("largest", [1, 2, 4])
def test_defining_circuit_is_right_and_its_labels_are_counted(name: str, largest: int) -> None:
    circuit = parity.defining_circuit(name, largest)
    traces = traces_up_to(circuit.task, largest)
    circuit.check(traces)
    relation = ideal_relation(circuit, scale_hint=True)
    labels = {
        int(relation.labels(trace_.length, trace_.scale)[key, query])
        for trace_ in traces
        for query in range(trace_.length)
        for key in range(query + 1)
    }
    assert parity.count_labels(circuit, scale_hint=True) == len(labels) == (2 if largest == 1 else 3)


def test_essential_slots_of_tables() -> None:
    xor = {key: str((key[0] + key[1]).count("1") % 2) for key in product("01", repeat=2)}
    assert parity.essential_slots(xor) == [0, 1]
    assert parity.essential_slots({key: key[1] for key in xor}) == [1]
    assert parity.essential_slots(dict.fromkeys(xor, "0")) == []


@pytest.mark.parametrize("name", [parity.BLOCK, parity.ALIGNED])
def test_signatures_are_counted_as_by_listing_them(name: str) -> None:
    for largest in (1, 2, 5):
        width = largest + 1
        pairs = [(n, t) for n in range(1, largest + 1) for t in range(1, n + 2)]
        positions = [(t, (width if name == parity.ALIGNED else n) + t, (n, t)) for n, t in pairs]
        absolute = {(first, second) for first, second, _ in positions}
        relative = {second - first for first, second, _ in positions}
        assert parity.signature_count(parity.ABSOLUTE, name, largest) == len(absolute)
        assert parity.signature_count(parity.RELATIVE, name, largest) == len(relative)
        assert parity.signature_count(parity.IDEAL, name, largest) == 1


def _fewest_by_subsets(steps: list[int]) -> float:
    count = max(step.bit_length() for step in steps)
    for size in range(1, count + 1):
        for chosen in combinations(range(count), size):
            if all(any(step >> index & 1 for index in chosen) for step in steps):
                return size
    return float("inf")


def test_fewest_operators_as_by_all_subsets() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        steps = [int(step) for step in rng.integers(0 if rng.random() < 0.1 else 1, 2**8, size=rng.integers(1, 7))]
        expected = float("inf") if 0 in steps else _fewest_by_subsets(steps)
        assert bounds.fewest_operators(frozenset(steps)) == expected


def test_operators_served_as_by_the_definition() -> None:
    for symbols, slots, visible in ((2, 1, 2), (2, 2, 2), (2, 2, 3), (3, 1, 2)):
        hit = bounds.served(symbols, slots, visible)
        operators = bounds.all_functions(symbols, slots)
        inputs = list(product(range(symbols), repeat=visible))
        keys = list(product(range(symbols), repeat=slots))
        serving: dict[tuple[int, ...], set[int]] = {}
        for index, operator in enumerate(operators):
            table = dict(zip(keys, operator, strict=True))
            for wiring in product(range(visible), repeat=slots):
                function = tuple(table[tuple(word[place] for place in wiring)] for word in inputs)
                serving.setdefault(function, set()).add(index)
        expected = {function: sum(1 << index for index in indices) for function, indices in serving.items()}
        assert set(expected) <= set(bounds.all_functions(symbols, visible))
        assert hit == expected


def test_hitting_agrees_with_the_search() -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        laws = [tuple(rng.integers(0, 2, size=2**n).tolist()) for n in (1, 2, 3)]

        def output(word: parity.Word, laws: list[tuple[int, ...]] = laws) -> list[int]:
            return [laws[len(word) - 1][int("".join(map(str, word)), 2)]]

        task = parity.word_task("random law", 2, output)
        for slots in (1, 2, 3):
            counts = src(task, traces_up_to(task, 3), slots).bounds
            for scale in (1, 2, 3):
                steps = [bounds.served(2, slots, n).get(laws[n - 1], 0) for n in range(1, scale + 1)]
                assert counts[scale] == (bounds.fewest_operators(frozenset(steps)),) * 2


def test_forcing_steps_at_two_slots_are_those_that_need_both() -> None:
    """Eight classes under exchange of the slots, by hand: and, or, nand, nor, xor, xnor, a < b, a <= b."""
    steps = bounds.forcing_steps(bounds.served(2, 2, 2))
    classes = {frozenset({(a, b, c, d), (a, c, b, d)}) for a, b, c, d in steps}
    both = [f for f in bounds.all_functions(2, 2) if f[:2] != f[2:] and (f[0], f[2]) != (f[1], f[3])]
    assert classes == {frozenset({(a, b, c, d), (a, c, b, d)}) for a, b, c, d in both}
    assert len(classes) == 8


def test_largest_complexity_at_three_slots_by_orbits() -> None:
    """68 functions of three bits need all three, up to the order of the slots."""
    orders = [[4 * (w >> i & 1) + 2 * (w >> j & 1) + (w >> k & 1) for w in range(8)] for i, j, k in
              ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))]  # fmt: skip
    need_all = [
        f for f in bounds.all_functions(2, 3) if all(any(f[w] != f[w ^ bit] for w in range(8)) for bit in (1, 2, 4))
    ]
    orbits = {frozenset(tuple(f[w] for w in order) for order in orders) for f in need_all}
    assert bounds.fewest_operators(frozenset(bounds.served(2, 3, 3).values())) == len(orbits) == 68


def _composed_by_sets(
    gate: Callable[[int, int], int], symbols: int, arguments: int, depth: int
) -> set[tuple[int, ...]]:
    functions = set(zip(*product(range(symbols), repeat=arguments), strict=True))
    for _ in range(depth):
        functions |= {tuple(map(gate, f, g)) for f in functions for g in functions}
    return functions


@pytest.mark.parametrize(
    ("gate", "symbols", "arguments", "depth"),
    [
        (lambda a, b: 1 - a * b, 2, 2, 1),
        (lambda a, b: 1 - a * b, 2, 2, 2),
        (lambda a, b: 1 - a * b, 2, 3, 2),
        (lambda a, b: int(a <= b), 2, 2, 3),
        (max, 3, 2, 2),
        (lambda a, b: (max(a, b) + 1) % 3, 3, 2, 3),
        (lambda a, b: (a + 2 * b) % 3, 3, 2, 3),
    ],
)
def test_composition_as_by_sets(gate: Callable[[int, int], int], symbols: int, arguments: int, depth: int) -> None:
    reached = bounds.composed(gate, symbols, arguments, depth=depth)
    functions = bounds.all_functions(symbols, arguments)
    assert {f for f, there in zip(functions, reached, strict=True) if there} == _composed_by_sets(
        gate, symbols, arguments, depth
    )


def test_wrong_extension_is_right_in_training_and_wrong_after() -> None:
    task = load("parity")
    traces = traces_up_to(task, 3)
    circuit = reference_circuit(task, (1, 2, 3))
    used = [coverage.entries_used(circuit, trace_) for trace_ in traces]
    by_hand = set()
    for column in traces[0].tokens.T.tolist():
        by_hand |= {(0, len(task.alphabet) * column[t - 1] + column[t]) for t in (1, 2)}
    assert used[0] == by_hand and len(used[0] | used[1]) == 8
    wrong = coverage.wrong_extension(circuit, used[0], used[0] | used[1])
    assert wrong is not None and wrong.check(traces[:1])
    with pytest.raises(CircuitError, match="scale 2"):
        wrong.check(traces)
    assert coverage.wrong_extension(circuit, used[0] | used[1], used[1]) is None


@pytest.mark.parametrize("base", [2, 3, 4])
def test_reachable_digits_are_those_of_written_calculations(base: int) -> None:
    products, quotients = set(), set()
    for x in range(base):
        for number in product(range(base), repeat=4):
            carry = rest = 0
            for digit in number:
                products.add((digit, carry, x))
                carry = (digit * x + carry) // base
                if x:
                    quotients.add((rest, digit, x))
                    rest = (rest * base + digit) % x
    assert merging.reachable_products(base) == products
    assert merging.reachable_quotients(base) == quotients
