"""Operators that an encoding induces: counts worked out by hand, and a slow count that shares no code."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from lengthgen.circuits.analysis import Analysis, analyse
from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.encoding_spec import parse_encoding, relation_of
from lengthgen.circuits.formats import CLOSING, in_format
from lengthgen.circuits.induced import Conflict, Induced, Step, induced_complexity
from lengthgen.circuits.roles import ideal_relation
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.task import Reference, Task
from lengthgen.circuits.tasks import load
from lengthgen.circuits.trace import Trace, trace
from lengthgen.theory.relation import Relation, absolute, clipped_relative, constant, from_labels, relative
from tests.circuits.conftest import Analyses
from tests.circuits.examples import random_task

LARGEST = 10
SCALES = range(1, LARGEST + 1)


def _induced(analysis: Analysis, encoding: str) -> Induced:
    relation = relation_of(parse_encoding(encoding), analysis.circuit)
    return induced_complexity(analysis.circuit, relation, analysis.traces)


# Steps of scale n: n digits and the end. Aligned, the same positions serve every scale; unaligned, none serves two.
FIGURES: list[tuple[str, str, str, Callable[[int], float]]] = [
    ("parity", "aligned", "ipe", lambda n: 1),
    ("parity", "unaligned", "ipe-sh", lambda n: 1),
    ("parity", "aligned", "rpe", lambda n: 1),
    ("parity", "unaligned", "rpe", lambda n: n),
    ("parity", "aligned", "ape", lambda n: n + 1),
    ("parity", "unaligned", "ape", lambda n: sum(m + 1 for m in range(1, n + 1))),
    # One digit is told from '=' by what it is; which of two digits comes first is not.
    ("parity", "aligned", "nope", lambda n: 1 if n == 1 else math.inf),
    ("parity", "unaligned", "nope", lambda n: 1 if n == 1 else math.inf),
    ("copy", "aligned", "ipe", lambda n: 1),
    ("copy", "aligned", "rpe", lambda n: 1),
    ("copy", "unaligned", "rpe", lambda n: n),
    ("copy", "aligned", "ape", lambda n: n + 1),
]


@pytest.mark.parametrize(("name", "layout", "encoding", "figure"), FIGURES, ids=lambda part: str(part)[:9])
def test_induced_complexity_figures(
    name: str, layout: str, encoding: str, figure: Callable[[int], float], analyses: Analyses
) -> None:
    induced = _induced(analyses(name, layout, LARGEST), encoding)
    assert induced.complexity == {n: figure(n) for n in SCALES}


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
def test_the_ideal_relation_induces_as_many_operators_as_src(layout: str, analyses: Analyses) -> None:
    for name in ("copy", "parity", "permutation"):
        analysis = analyses(name, layout, 6)
        assert _induced(analysis, "ipe-sh").complexity == analysis.result.values


def test_labels_operators_and_entries_that_are_new_at_a_scale(analyses: Analyses) -> None:
    unaligned = _induced(analyses("parity", "unaligned", LARGEST), "rpe")
    # Slot 2 is at distance 0 always, slot 1 at distance n: one new label a scale, and with it one new operator.
    assert unaligned.new_labels == {1: {0, 1}} | {n: {n} for n in SCALES[1:]}
    assert unaligned.new_operators == dict.fromkeys(SCALES, 1)
    aligned = _induced(analyses("parity", "aligned", LARGEST), "rpe")
    assert aligned.new_labels == {1: {0, LARGEST + CLOSING}} | {n: set() for n in SCALES[1:]}
    assert aligned.new_operators == {1: 1} | dict.fromkeys(SCALES[1:], 0)
    # Scale 2 is the first where a digit meets a digit; nothing is new from then on.
    assert [n for n, count in aligned.new_entries.items() if count and n > 1] == [2]


@pytest.mark.parametrize("limit", [0, 2, LARGEST])
def test_a_clipped_relation_fails_at_the_first_scale_beyond_its_limit(limit: int, analyses: Analyses) -> None:
    analysis = analyses("parity", "unaligned", LARGEST)
    complexity = induced_complexity(analysis.circuit, clipped_relative(limit), analysis.traces).complexity
    # Up to n = limit the keys that share a label with x_t are x_1..x_t at most, whose parity y_t is; then x_1 of
    # scale n shares its label with x_2.
    assert [n for n in SCALES if math.isinf(complexity[n])] == list(range(max(2, limit + 1), LARGEST + 1))


def test_a_relation_too_short_for_the_task_is_refused(analyses: Analyses) -> None:
    analysis = analyses("parity", "unaligned", LARGEST)
    with pytest.raises(ValueError, match=r"positions 1\.\.3, not 4"):
        induced_complexity(analysis.circuit, from_labels(np.zeros((3, 3), dtype=int), name="short"), analysis.traces)


def test_views_with_different_numbers_of_keys_per_label_are_different() -> None:
    """(x1 | x2 x3) and (x1 x2 | x3) hold the same tokens in a row; the labels tell them apart."""
    task = Task(
        name="xor-and-xnor",
        alphabet=("0", "1"),
        prompt=lambda n: [("0", "1")] * 3,
        generate=lambda p: [str(p.count("1") % 2), str(1 - p.count("1") % 2)],
    )
    xor = np.array([0, 1, 1, 0, 1, 0, 0, 1], dtype=np.uint8)
    steps = tuple(Wiring(position=4 + step, arguments=(1, 2, 3), operator=step) for step in (0, 1))
    circuit = Circuit(task=task, arity=3, wirings={1: steps}, operators=(xor, 1 - xor))
    circuit.check([trace(task, 1)])
    labels = np.zeros((5, 5), dtype=int)
    labels[:3, 2] = 1, 2, 2
    labels[:4, 3] = 1, 1, 2, 0
    induced = induced_complexity(circuit, from_labels(labels, name="two ways"), [trace(task, 1)])
    assert induced.complexity == {1: 1}


def test_steps_of_one_view_with_different_tokens_never_share_an_operator() -> None:
    task = Task(
        name="same-argument",
        alphabet=("0", "1"),
        prompt=lambda n: [("0", "1")],
        generate=lambda p: [p[0], str(1 - int(p[0]))],
    )
    identity, negation = np.array([[0, 1], [1, 0]], dtype=np.uint8)
    steps = tuple(Wiring(position=2 + step, arguments=(1,), operator=step) for step in (0, 1))
    circuit = Circuit(task=task, arity=1, wirings={1: steps}, operators=(identity, negation))
    same = from_labels(np.array([[1, 1, 0], [0, 0, 0], [0, 0, 0]]), name="same")
    other = from_labels(np.array([[1, 2, 0], [0, 0, 0], [0, 0, 0]]), name="other")
    induced = induced_complexity(circuit, same, [trace(task, 1)])
    assert (induced.complexity, induced.with_selection(1)) == ({1: 2}, math.inf)
    assert induced.conflict == Conflict(first=Step(1, 2), second=Step(1, 3))
    assert str(induced.conflict) == (
        "position 3 of scale 1 and position 2 of scale 1 show equal views and need different tokens"
    )
    induced = induced_complexity(circuit, other, [trace(task, 1)])
    assert (induced.complexity, induced.with_selection(1), induced.conflict) == ({1: 2}, 2, None)


def test_the_query_s_own_token_can_tell_two_steps_apart() -> None:
    """The first step copies x at '=', the second negates x at 0 or 1: the token at the query says which it is."""
    task = Task(
        name="at-the-sign",
        alphabet=("0", "1", "="),
        prompt=lambda n: [("0", "1"), ("=",)],
        generate=lambda p: [p[0], str(1 - int(p[0]))],
    )
    identity, negation = np.array([[0, 1, 2], [1, 0, 2]], dtype=np.uint8)
    steps = tuple(Wiring(position=3 + step, arguments=(1,), operator=step) for step in (0, 1))
    circuit = Circuit(task=task, arity=1, wirings={1: steps}, operators=(identity, negation))
    same = from_labels(np.array([[0, 1, 1, 0], *[[0] * 4] * 3]), name="same")
    hidden, shown = (induced_complexity(circuit, same, [trace(task, 1)], own_token=own) for own in (False, True))
    assert (hidden.complexity, hidden.with_selection(1)) == ({1: 2}, math.inf)
    assert (shown.complexity, shown.with_selection(1)) == ({1: 1}, 1)


def _slowly(circuit: Circuit, relation: Relation, traces: Sequence[Trace], *, own_token: bool) -> Induced:
    """Count induced operators view by view: a view is a bag of tokens for each label that the operator depends on."""
    complexity: dict[int, float] = {}
    labels_at: dict[int, frozenset[int]] = {}
    operators_at: Counter[int] = Counter()
    entries_at: Counter[int] = Counter()
    served: list[tuple[frozenset[int], Step, dict[object, int]]] = []
    conflicts: list[Conflict] = []
    for scale_trace in traces:
        met: set[int] = set()
        for wiring in circuit.wirings[scale_trace.scale]:
            query = wiring.position - 1
            labels = [
                int(relation.label(np.array([key]), np.array([query]), scale_trace.scale)[0])
                for key in range(1, query + 1)
            ]
            arguments = [wiring.arguments[slot] for slot in circuit.essential_slots(wiring.operator)]
            signature = frozenset(labels[key - 1] for key in arguments)
            met |= signature
            if math.inf in complexity.values():
                continue
            table: dict[object, int] = {}
            for column in scale_trace.tokens.T.tolist():
                bags = {
                    label: Counter(t for t, own in zip(column, labels, strict=False) if own == label)
                    for label in signature
                }
                view: object = frozenset((label, token, n) for label, bag in bags.items() for token, n in bag.items())
                view = (view, column[query - 1]) if own_token else view
                if table.setdefault(view, column[query]) != column[query]:
                    complexity[scale_trace.scale] = math.inf
            if scale_trace.scale in complexity:
                continue
            step = Step(scale_trace.scale, wiring.position)
            conflicts += [
                Conflict(first=earlier, second=step)
                for other_signature, earlier, tokens in served
                if other_signature == signature and any(tokens.get(v, token) != token for v, token in table.items())
            ]
            served.append((signature, step, table))
        labels_at[scale_trace.scale] = frozenset(met - {label for before in labels_at.values() for label in before})
        shares = [
            _every_fewest([(step.scale, table) for other, step, table in served if other == signature])
            for signature in dict.fromkeys(signature for signature, *_ in served)
        ]
        count = sum(len(ways[0]) for ways in shares)
        complexity[scale_trace.scale] = math.inf if math.inf in complexity.values() else count
        entries_at[scale_trace.scale] = sum(
            min(_new_entries(way, scale_trace.scale) for way in ways) for ways in shares
        )
        operators_at[scale_trace.scale] = count - sum(operators_at.values())
    scales = [scale_trace.scale for scale_trace in traces]
    return Induced(
        complexity=complexity,
        new_labels=labels_at,
        new_operators={scale: operators_at[scale] for scale in scales},
        new_entries={scale: entries_at[scale] for scale in scales},
        conflict=conflicts[0] if conflicts else None,
    )


_Operators = list[list[tuple[int, dict[object, int]]]]
"""For each operator the steps that it serves: (scale, table)."""


def _every_fewest(steps: list[tuple[int, dict[object, int]]]) -> list[_Operators]:
    """Every way to serve the steps with the fewest operators, by trial."""
    best: list[_Operators] = []

    def place(index: int, operators: _Operators) -> None:
        if best and len(operators) > len(best[0]):
            return
        if index == len(steps):
            if best and len(operators) < len(best[0]):
                best.clear()
            best.append([list(of_operator) for of_operator in operators])
            return
        _, table = steps[index]
        for of_operator in operators:
            if all(other.get(view, token) == token for _, other in of_operator for view, token in table.items()):
                of_operator.append(steps[index])
                place(index + 1, operators)
                of_operator.pop()
        operators.append([steps[index]])
        place(index + 1, operators)
        operators.pop()

    place(0, [])
    return best


def _new_entries(operators: _Operators, scale: int) -> int:
    """Number of entries that first occur at the scale, in operators that serve a step before."""
    new = 0
    for of_operator in operators:
        shown = {view for at, table in of_operator if at != scale for view in table} or {*of_operator[0][1]}
        new += len({view for _, table in of_operator for view in table} - shown)
    return new


def _random_relation(seed: int, labels: int) -> Relation:
    """Relation of few labels, drawn at random."""
    return from_labels(np.random.default_rng(seed).integers(labels, size=(60, 60)), name=f"random of {labels}")


@pytest.mark.parametrize("seed", range(25))
def test_random_tasks_under_random_relations_need_what_a_slow_count_says(seed: int) -> None:
    task = random_task(seed, symbols=2 + seed % 2, arity=2, scales=4)
    traces = traces_up_to(task, 4)
    arity = minimal_arity(traces)
    circuit = src(task, traces, arity).circuit
    relations = [ideal_relation(circuit, scale_hint=True), relative(), absolute(), constant()]
    for relation in [*relations, _random_relation(seed, 3), _random_relation(seed, 8), _random_relation(seed, 40)]:
        order = traces if seed % 3 else traces[::-1]
        for own_token in (False, True):
            induced = induced_complexity(circuit, relation, order, own_token=own_token)
            _check_count(induced, _slowly(circuit, relation, order, own_token=own_token))
            _check_selection(induced)


def _check_count(induced: Induced, slow: Induced) -> None:
    """Check that all is as the slow count says, whose new entries are the fewest of all choices of operators.

    A scale that needs a new operator may show more new entries than that, as several choices are the fewest.
    """
    assert replace(induced, new_entries={}) == replace(slow, new_entries={})
    for scale in slow.complexity:
        assert induced.new_entries[scale] >= slow.new_entries[scale]
        assert induced.new_operators[scale] or induced.new_entries[scale] == slow.new_entries[scale]


def _check_selection(induced: Induced) -> None:
    """Check that SRC_phi with selection is SRC_phi or infinite, and infinite iff a conflict was met."""
    scales = [*induced.complexity]
    beyond = scales.index(induced.conflict.second.scale) if induced.conflict else len(scales)
    for index, scale in enumerate(scales):
        assert induced.with_selection(scale) == (induced.complexity[scale] if index < beyond else math.inf)


@pytest.mark.parametrize("layout", ["aligned", "unaligned"])
@pytest.mark.parametrize("name", ["addition-carry", "division", "sort-trace"])
def test_tasks_of_several_operators_need_what_a_slow_count_says(name: str, layout: str) -> None:
    # At scale 3 views of more than eight keys occur, which are compared in another way.
    task = in_format(load(name, base=2 if name != "sort-trace" else 3), layout, largest_scale=3)
    traces = traces_up_to(task, 3)
    circuit = src(task, traces, minimal_arity(traces) or 0).circuit
    relations = [ideal_relation(circuit, scale_hint=True), relative(), clipped_relative(2), constant()]
    for relation in [*relations, _random_relation(0, 2), _random_relation(1, 8)]:
        for own_token in (False, True):
            induced = induced_complexity(circuit, relation, traces, own_token=own_token)
            _check_count(induced, _slowly(circuit, relation, traces, own_token=own_token))
            _check_selection(induced)


def _one_step(table_at: dict[int, tuple[str, dict[str, str]]]) -> Task:
    """Task whose only step applies an operator to the last token: scale -> (name of the operator, its table there)."""
    operators: dict[str, dict[str, str]] = {}
    for name, table in table_at.values():
        operators.setdefault(name, {}).update(table)
    return Task(
        name="one-step",
        alphabet=("p", "x", "y", "z", "w", "0", "1", "2"),
        prompt=lambda n: [*[("p",)] * (n - 1), tuple(table_at[n][1])],
        generate=lambda p: [operators[table_at[len(p)][0]][p[-1]]],
        reference=Reference(
            arity=1,
            steps=lambda n: [(table_at[n][0], (n,))],
            apply=lambda name, symbols: operators[name][symbols[0]],
        ),
    )


def test_a_step_takes_the_operator_that_training_showed_it() -> None:
    """The first operator that could serve scale 4 lacks an entry, the second has both."""
    tables = {
        1: ("f", {"x": "0"}),
        2: ("f", {"y": "0", "w": "1"}),
        3: ("g", {"x": "0", "y": "1", "z": "2"}),
        4: ("g", {"x": "0", "z": "2"}),
    }
    for mode in ("free", "declared"):
        induced = _induced(analyse(_one_step(tables), "unaligned", 4, mode), "rpe")
        assert induced.complexity == {1: 1, 2: 1, 3: 2, 4: 2}, mode
        assert (induced.new_operators[4], induced.new_entries[4]) == (0, 0), mode


def test_an_earlier_step_can_move_to_another_operator() -> None:
    tables = {1: ("f", {"x": "0"}), 2: ("g", {"x": "1"}), 3: ("g", {"y": "0"}), 4: ("f", {"x": "0", "y": "1"})}
    induced = _induced(analyse(_one_step(tables), "unaligned", 4, "declared"), "rpe")
    assert induced.complexity == {1: 1, 2: 2, 3: 2, 4: 2}
    assert (induced.new_operators[4], induced.new_entries[4]) == (0, 1)
