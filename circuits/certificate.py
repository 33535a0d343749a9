"""Certificates: what SRC of a task is, written down so that `circuits.checker` can decide it without the solver.

A lower bound needs few steps and few prompts, since leaving the others out only makes the problem easier. Steps that
exclude each other in pairs say it all where they are as many as the bound; else the formula that one operator less
serves the steps comes with a DRAT proof that it cannot be satisfied. The upper bound is the circuit. The format is
described in docs/theory.md.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuits import sat
from circuits.checker import SCALE, CertificateError, check
from circuits.circuit import UNDEFINED, Circuit
from circuits.clock import Clock, OutOfTime
from circuits.modes import all_wirings
from circuits.partition import fewest_operators, minimal_tables, plain
from circuits.reference import reference_complexity
from circuits.src import SRCResult
from circuits.task import Task, TaskError
from circuits.tasks import TaskSpec
from circuits.templates import Place
from circuits.trace import Trace

FORMAT = 1
NO_PROOF = "no proof of the lower bound: too many wirings, or too little time"
FEW_PROMPTS = 16
"""Prompts of each scale that a lower bound is first tried on; twice as many each time they do not do."""


def certificate(
    task: Task,
    result: SRCResult,
    *,
    spec: TaskSpec,
    clock: Clock | None = None,
) -> dict[str, Any]:
    """The certificate of SRC at the last scale of a result, as JSON holds it.

    Args:
        task: the task in its layout.
        result: what `src` found.
        spec: which task in which layout that is, to load it again.
        clock: a time limit for the proof.

    Raises:
        TaskError: a symbol has a blank in it, so that prompts could not be read back; the scale is beyond what the
            checker takes; or the proof takes too long.
    """
    if any(" " in symbol for symbol in task.alphabet):
        raise TaskError(f"task '{task.name}': a certificate separates symbols by blanks; rename those with a blank")
    clock = clock or Clock()
    largest = max(result.bounds)
    if largest not in SCALE:
        raise TaskError(f"task '{task.name}': certificates go up to scale {SCALE[-1]}, not {largest}")
    lower, upper = result.bounds[largest]
    content: dict[str, Any] = {
        "format": FORMAT,
        "task": spec.name,
        "base": spec.base,
        "layout": spec.format,
        "largest_scale": largest,
        "arity": result.arity,
        "mode": result.mode,
        "scale": largest,
        "lower": _number(lower),
        "upper": None if math.isinf(upper) and not math.isinf(lower) else _number(upper),
    }
    try:
        content |= _lower_bound(task, result, lower, clock) | {"circuit": _circuit(task, result, largest)}
    except OutOfTime:
        raise TaskError(f"task '{task.name}': {NO_PROOF}") from None
    if content["circuit"] and "operators" in content["circuit"] and not all(one.exhaustive for one in result.traces):
        # It may lack an entry that no prompt looked at has shown; then only the lower bound is claimed.
        try:
            check(content, task, seed=0)
        except CertificateError:
            content |= {"upper": None, "circuit": None}
    return content


def _number(value: float) -> int | str:
    return "inf" if math.isinf(value) else int(value)


def _lower_bound(task: Task, result: SRCResult, lower: float, clock: Clock) -> dict[str, Any]:
    """The fields prompts, steps, clique and proof."""
    traces = result.traces
    if lower == 1:
        one = _only(traces[0], np.array([0]))
        return _fields(task, {1: one}, [(1, one.steps[0])], clique=0, proof=None)
    places = list(result.hardest)[-1 if math.isinf(lower) else 0 :]
    scales = sorted({scale for scale, _ in places})
    some = FEW_PROMPTS
    while True:
        shown = {scale: _shown(traces[scale - 1], some, result.mode) for scale in scales}
        fewer = {scale: _only(traces[scale - 1], columns) for scale, columns in shown.items()}
        found = {
            place: all_wirings(task, fewer[place[0]], place[1], result.arity, result.mode, clock) for place in places
        }
        tables = {place: minimal_tables(one.wirings, clock) for place, one in found.items() if one.complete}
        if math.isinf(lower):
            if not found[places[0]].wirings:
                return _fields(task, fewer, places, clique=0, proof=None)
        elif all(tables.values()) and tables:
            partition = fewest_operators(list(tables.values()), len(task.alphabet), clock)
            if partition.lower >= lower:
                break
        if all(len(columns) == traces[scale - 1].tokens.shape[1] for scale, columns in shown.items()):
            raise TaskError(f"task '{task.name}': {NO_PROOF}")
        some *= 2
    place_of = {found: place for place, found in tables.items()}
    if partition.clique >= lower:
        needed = partition.kernel[: int(lower)]
        return _fields(task, fewer, [place_of[step] for step in needed], clique=int(lower), proof=None)
    classes = [sorted(plain(table, len(task.alphabet)) for table in step) for step in partition.kernel]
    answer = sat.decide(classes, int(lower) - 1, range(partition.clique), seconds=clock.left(), proof=True)
    if answer.proof is None:
        raise TaskError(f"task '{task.name}': {NO_PROOF}")
    return _fields(
        task, fewer, [place_of[step] for step in partition.kernel], clique=partition.clique, proof=[*answer.proof]
    )


def _shown(one: Trace, some: int, mode: str) -> NDArray[np.intp]:
    """About so many inputs of a trace, spread over it; in mode "typed" all, without which nothing is proved."""
    inputs = one.tokens.shape[1]
    return np.unique(np.linspace(0, inputs - 1, inputs if mode == "typed" else min(some, inputs)).astype(np.intp))


def _only(one: Trace, columns: NDArray[np.intp]) -> Trace:
    every = one.exhaustive and len(columns) == one.tokens.shape[1]
    near = np.empty((0, 2), dtype=np.int64)
    return replace(one, tokens=one.tokens[:, columns], near=near, exhaustive=every, memory={})


def _fields(
    task: Task, traces: Mapping[int, Trace], places: Sequence[Place], *, clique: int, proof: list[str] | None
) -> dict[str, Any]:
    scales = sorted({scale for scale, _ in places})
    return {
        "prompts": {
            str(scale): [task.text(prompt) for prompt in traces[scale].tokens[: traces[scale].prompt_length].T]
            for scale in scales
        },
        "steps": [list(place) for place in places],
        "clique": list(range(clique)),
        "proof": proof,
    }


def _circuit(task: Task, result: SRCResult, largest: int) -> dict[str, Any] | None:
    """The task's own circuit where that is needed or surer than the one found; else the one found."""
    upper = result.bounds[largest][1]
    if math.isinf(upper):
        return None
    circuit = result.circuit
    complete = circuit is not None and largest in circuit.wirings and len(circuit.operators) <= upper
    own = result.mode != "typed" and reference_complexity(task, result.arity, largest)[largest] <= upper
    if circuit is None or not complete or (own and not all(one.exhaustive for one in result.traces)):
        return {"reference": True}
    return {
        "operators": [_entries(circuit, operator) for operator in range(len(circuit.operators))],
        "wirings": {
            str(scale): [[wiring.operator, list(wiring.arguments)] for wiring in steps]
            for scale, steps in circuit.wirings.items()
        },
    }


def _entries(circuit: Circuit, operator: int) -> dict[str, str]:
    table, alphabet = circuit.operators[operator], circuit.task.alphabet
    slots = next(len(w.arguments) for steps in circuit.wirings.values() for w in steps if w.operator == operator)
    entries = {}
    for key in np.flatnonzero(table != UNDEFINED).tolist():
        digits = [key // len(alphabet) ** place % len(alphabet) for place in reversed(range(slots))]
        entries[circuit.task.text(digits)] = alphabet[table[key]]
    return entries
