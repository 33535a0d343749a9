"""SRC_phi with selection: what remains of an encoding's operators if the view of a step must select its operator."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.encoding_spec import parse_encoding, relation_of
from lengthgen.circuits.formats import in_format
from lengthgen.circuits.induced import Induced, induced_complexity
from lengthgen.circuits.src import minimal_arity, src, traces_up_to
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import Trace
from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.papers.pola import formalised
from lengthgen.theory.relation import Relation

LARGEST = 4
"""Largest scale."""
ENCODINGS = ("ipe-sh", "rpe", "ape", "nope")
TASKS = (
    TaskSpec(name="parity"),
    TaskSpec(name="copy", base=2),
    TaskSpec(name="addition-carry", base=2),
    TaskSpec(name="permutation", base=2),
    TaskSpec(name="permutation", base=3),
    TaskSpec(name="log-shift", base=2),
)

Selected = Callable[[Induced, int], float]
"""(induced operators, scale) -> SRC_phi with selection up to this scale."""


def selection(*, selected: Selected, selectable: Mapping[str, frozenset[str]]) -> Evidence:
    """Compare SRC_phi with selection with one function of all views for each set of labels, view by view.

    Args:
        selected: SRC_phi with selection.
        selectable: encoding -> tasks, aligned, whose operators its views select at every scale.
    """
    selected_tasks: dict[str, set[str]] = {encoding: set() for encoding in ENCODINGS}
    compared = 0
    for spec in TASKS:
        for layout in ("aligned", "unaligned"):
            for encoding in ENCODINGS:
                for own_token in (False, True):
                    induced, functions = _computed(spec, layout, encoding, own_token)
                    for scale, expected in functions.items():
                        value = selected(induced, scale)
                        where = f"{spec.words}, {layout}, {encoding}, scale {scale}"
                        if value != expected:
                            raise Refuted(f"{where}: {value:g}, but one function for each set of labels: {expected:g}")
                        if value not in (induced.complexity[scale], math.inf):
                            raise Refuted(f"{where}: {value:g} is neither infinite nor {induced.complexity[scale]:g}")
                        compared += 1
                    if layout == "aligned" and not own_token and math.isfinite(functions[LARGEST]):
                        selected_tasks[encoding].add(spec.words)
    for encoding, tasks in selected_tasks.items():
        if tasks != selectable[encoding]:
            raise Refuted(f"the views of {encoding} select the operators of {', '.join(sorted(tasks)) or 'no task'}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach=f"{len(TASKS)} tasks up to scale {LARGEST}",
        facts=(
            f"{compared} values, of {', '.join(ENCODINGS)}, in both formats, with and without the query's token, equal "
            "those of one function for each set of labels",
            "argument for every task: if no step conflicts with an earlier one of its labels, the first operator of "
            "these labels serves them all, and there is no other; if one does, no function of views serves both steps",
            f"rpe selects, aligned, only {', '.join(sorted(selected_tasks['rpe']))}; ipe-sh selects all",
        ),
        assumptions=(
            "the circuit is the one that the search gives; operators read all keys of a label",
            "every prompt of each scale",
        ),
    )


@cache
def _circuit_and_traces(spec: TaskSpec, layout: str) -> tuple[Circuit, tuple[Trace, ...]]:
    """Circuit of a task, and the task's traces; the same for the statement and all falsifiers."""
    task = in_format(spec.plain(), layout, largest_scale=LARGEST)
    traces = tuple(traces_up_to(task, LARGEST))
    circuit = src(task, traces, minimal_arity(traces) or 0).circuit
    assert circuit is not None
    return circuit, traces


@cache
def _computed(spec: TaskSpec, layout: str, encoding: str, own_token: bool) -> tuple[Induced, Mapping[int, float]]:
    """Operators induced by an encoding, and `_functions`; the same for the statement and all falsifiers."""
    circuit, traces = _circuit_and_traces(spec, layout)
    relation = relation_of(parse_encoding(encoding), circuit)
    induced = induced_complexity(circuit, relation, traces, own_token=own_token)
    return induced, _functions(circuit, relation, traces, own_token)


def _functions(circuit: Circuit, relation: Relation, traces: Sequence[Trace], own_token: bool) -> dict[int, float]:
    """Return scale -> number of sets of labels up to it, each with one function of views; infinite if one has none."""
    tables: dict[frozenset[int], dict[object, int]] = {}
    numbers: dict[int, float] = {}
    fails = False
    for trace in traces:
        relevant = circuit.roles(trace.scale)
        for wiring in circuit.wirings[trace.scale]:
            query = wiring.position - 1
            keys = np.arange(1, query + 1)
            labels = relation.label(keys, np.full_like(keys, query), trace.scale).tolist()
            signature = frozenset(labels[key - 1] for key, of in relevant if of == query)
            read = [(labels[key - 1], key) for key in keys if labels[key - 1] in signature]
            table = tables.setdefault(signature, {})
            for tokens in trace.tokens.T.tolist():
                seen = sorted((label, tokens[key - 1]) for label, key in read)
                view = (*seen, tokens[query - 1]) if own_token else tuple(seen)
                fails |= table.setdefault(view, tokens[query]) != tokens[query]
        numbers[trace.scale] = math.inf if fails else len(tables)
    return numbers


_ALL = frozenset(spec.words for spec in TASKS)
_SELECTABLE = {
    "ipe-sh": _ALL,
    "rpe": frozenset({"parity", "copy base 2"}),
    "ape": _ALL,
    "nope": frozenset[str](),
}

CLAIMS = (
    Claim(
        id="src-selection",
        source=formalised("Definition 4", "who selects the operator of a step"),
        statement="If the labels and tokens of a step's arguments must also select its operator, SRC_phi is the same "
        "or infinite: infinite from the first step on that shows a view of an earlier step and needs another token. So "
        "distances do not select the operators of permutation, log-shift and addition with carries; the "
        "roles select every operator. Decided for 6 tasks up to scale 4.",
        latex=r"\mathrm{SRC}_\phi^{\mathrm{sel}}(f,N)\in\{\mathrm{SRC}_\phi(f,N),\infty\}",
        label="F",
        check=selection,
        holds={"selected": Induced.with_selection, "selectable": _SELECTABLE},
        falsifiers={
            "operators are told": {"selected": lambda induced, scale: induced.complexity[scale]},
            "nothing selects": {"selected": lambda induced, scale: math.inf},
            "a conflict counts one scale late": {
                "selected": lambda induced, scale: induced.with_selection(max(1, scale - 1))
            },
            "distances select permutation": {"selectable": _SELECTABLE | {"rpe": _ALL}},
            "positions select nothing": {"selectable": _SELECTABLE | {"ape": frozenset[str]()}},
        },
    ),
)
