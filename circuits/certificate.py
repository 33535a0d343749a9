"""Certificates of SRC (docs/theory/circuits.md) that `lengthgen.circuits.checker` can decide without the solver."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.checker import SCALE, CertificateError, check
from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.reference import reference_complexity
from lengthgen.circuits.search import sat
from lengthgen.circuits.search.partition import fewest_operators, minimal_tables, plain
from lengthgen.circuits.search.templates import Place
from lengthgen.circuits.search.wirings import all_wirings
from lengthgen.circuits.src import SRCResult
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.circuits.tasks import TaskSpec
from lengthgen.circuits.trace import Trace

FORMAT = 1
"""Version of the certificate format."""
NO_PROOF = "no proof of the lower bound: too many wirings, or too little time"
FEW_PROMPTS = 16
"""Number of prompts of each scale that a lower bound is first tried on; doubled as long as they are not enough."""


def certificate(
    task: Task,
    result: SRCResult,
    *,
    spec: TaskSpec,
    clock: Clock | None = None,
) -> dict[str, Any]:
    """Return the certificate of SRC at the last scale of a result, as a JSON object.

    Args:
        task: the task in its format.
        result: the result of `src`.
        spec: name of the task and its format, to load it again.
        clock: time limit for the proof.

    Raises:
        TaskError: a symbol contains a blank, so that prompts could not be read back; several outputs are right; the
            scale is beyond the range of the checker; or the proof takes too long.
    """
    if any(" " in symbol for symbol in task.alphabet):
        raise task.error("a certificate separates symbols by blanks; rename those with a blank")
    if task.right is not None:
        raise task.error("no certificates of tasks with several right outputs yet; give the task one, without `right`")
    clock = clock or Clock()
    largest = max(result.bounds)
    if largest not in SCALE:
        raise task.error(f"certificates go up to scale {SCALE[-1]}, not {largest}")
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
        raise task.error(f"{NO_PROOF}") from None
    if content["circuit"] and "operators" in content["circuit"] and not all(t.exhaustive for t in result.traces):
        # The circuit may lack an entry that no sampled prompt uses; then only the lower bound is claimed.
        try:
            check(content, task, seed=0)
        except CertificateError:
            content |= {"upper": None, "circuit": None}
    return content


def _number(value: float) -> int | str:
    """Return a bound as JSON holds it: infinite is "inf"."""
    return "inf" if math.isinf(value) else int(value)


def _lower_bound(task: Task, result: SRCResult, lower: float, clock: Clock) -> dict[str, Any]:
    """Return the fields prompts, steps, clique and proof."""
    traces = result.traces
    if lower == 1:
        trace = _restricted(traces[0], np.array([0]))
        return _fields(task, {1: trace}, [(1, trace.steps[0])], clique=0, proof=None)
    places = list(result.hardest)[-1 if math.isinf(lower) else 0 :]
    scales = sorted({scale for scale, _ in places})
    prompt_count = FEW_PROMPTS
    while True:
        inputs = {
            scale: _spread_inputs(
                traces[scale - 1], [position for n, position in places if n == scale], prompt_count, result.mode
            )
            for scale in scales
        }
        fewer = {scale: _restricted(traces[scale - 1], columns) for scale, columns in inputs.items()}
        wirings = {
            place: all_wirings(task, fewer[place[0]], place[1], result.arity, result.mode, clock) for place in places
        }
        tables = {place: minimal_tables(each.wirings, clock) for place, each in wirings.items() if each.complete}
        if math.isinf(lower):
            if not wirings[places[0]].wirings:
                return _fields(task, fewer, places, clique=0, proof=None)
        elif all(tables.values()) and tables:
            partition = fewest_operators(list(tables.values()), len(task.alphabet), clock)
            if partition.lower >= lower:
                break
        if all(len(columns) == traces[scale - 1].tokens.shape[1] for scale, columns in inputs.items()):
            raise task.error(f"{NO_PROOF}")
        prompt_count *= 2
    place_of = {step: place for place, step in tables.items()}
    if partition.clique >= lower:
        needed = partition.kernel[: int(lower)]
        return _fields(task, fewer, [place_of[step] for step in needed], clique=int(lower), proof=None)
    classes = [sorted(plain(table, len(task.alphabet)) for table in step) for step in partition.kernel]
    answer = sat.decide(classes, int(lower) - 1, range(partition.clique), seconds=clock.left(), proof=True)
    if answer.proof is None:
        raise task.error(f"{NO_PROOF}")
    return _fields(
        task, fewer, [place_of[step] for step in partition.kernel], clique=partition.clique, proof=[*answer.proof]
    )


def _spread_inputs(trace: Trace, steps: Sequence[int], count: int, mode: str) -> NDArray[np.intp]:
    """Return inputs of a trace, spread over it: about `count` that have each of some steps.

    In mode "typed" all inputs are returned, because a sample proves nothing there.
    """
    every = np.arange(trace.tokens.shape[1])
    if mode == "typed":
        return every
    having = [every[trace.inputs_at(step)] for step in steps]
    spread = [each[np.linspace(0, len(each) - 1, min(count, len(each))).astype(np.intp)] for each in having]
    return np.unique(np.concatenate(spread))


def _restricted(trace: Trace, columns: NDArray[np.intp]) -> Trace:
    every = trace.exhaustive and len(columns) == trace.tokens.shape[1]
    near = np.empty((0, 2), dtype=np.int64)
    tokens = trace.tokens[:, columns]
    return replace(trace, tokens=tokens, near=near, exhaustive=every, memory={}, memory_of_fewer={})


def _fields(
    task: Task, traces: Mapping[int, Trace], places: Sequence[Place], *, clique: int, proof: list[str] | None
) -> dict[str, Any]:
    """Return the certificate fields of a lower bound, with the prompts of the traces as text."""
    scales = sorted({scale for scale, _ in places})
    return {
        "prompts": {str(scale): [task.text(prompt) for prompt in traces[scale].prompts] for scale in scales},
        "steps": [list(place) for place in places],
        "clique": list(range(clique)),
        "proof": proof,
    }


def _circuit(task: Task, result: SRCResult, largest: int) -> dict[str, Any] | None:
    """Return the circuit field of a certificate.

    The task's own circuit is named if the one found is missing or less certain; else the one found is written out.
    """
    upper = result.bounds[largest][1]
    if math.isinf(upper):
        return None
    circuit = result.circuit
    complete = circuit is not None and largest in circuit.wirings and len(circuit.operators) <= upper
    own = result.mode != "typed" and reference_complexity(task, result.arity, largest)[largest] <= upper
    if circuit is None or not complete or (own and not all(trace.exhaustive for trace in result.traces)):
        return {"reference": True}
    return {
        "operators": [_entries(circuit, operator) for operator in range(len(circuit.operators))],
        "wirings": {
            str(scale): [[wiring.operator, list(wiring.arguments)] for wiring in steps]
            for scale, steps in circuit.wirings.items()
        },
    }


def _entries(circuit: Circuit, operator: int) -> dict[str, str]:
    """Return the table of an operator as text: argument symbols -> symbol."""
    table, alphabet = circuit.operators[operator], circuit.task.alphabet
    slots = next(len(w.arguments) for steps in circuit.wirings.values() for w in steps if w.operator == operator)
    keys = np.flatnonzero(table != UNDEFINED)
    digits = keys[:, None] // len(alphabet) ** np.arange(slots)[::-1] % len(alphabet)
    return {circuit.task.text(key): alphabet[table[n]] for key, n in zip(digits, keys, strict=True)}
