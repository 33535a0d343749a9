"""Questions beside SRC as plain data: curve, front, minimum circuits, errors, scratchpads, two scales, all scales."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.questions.all_scales import src_for_all_scales
from lengthgen.circuits.questions.counting import minimum_circuits
from lengthgen.circuits.questions.grid import grid_src
from lengthgen.circuits.questions.synthesis import scratchpad_tokens, src_within
from lengthgen.circuits.src import MAX_ARITY, MAX_ENTRIES
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.transducer import Transducer
from lengthgen.circuits.tasks.two_scales import TwoScaleTask
from lengthgen.complexity import Question, SRCAnswer, compute
from lengthgen.results import number


def curve(answer: SRCAnswer) -> dict[str, dict[str, int | str | None]]:
    """Return arity k -> scale -> SRC_k, from the minimal arity on, at least to the next one, until SRC is 1.

    [F]: the arity above is included because a selector may hide in a further slot.

    Raises:
        TaskError: the minimal arity is not known.
    """
    least = answer.minimal_arity
    if least is None:
        raise TaskError(f"task '{answer.task.name}': no curve, since the fewest slots possible are not known")
    symbols = len(answer.task.alphabet)
    values: dict[str, dict[str, int | str | None]] = {}
    for arity in range(least, MAX_ARITY + 1):
        if symbols**arity > MAX_ENTRIES:
            break
        is_answered = arity == answer.result.arity
        result = answer.result if is_answered else compute(replace(answer.question, arity=arity)).result
        values[str(arity)] = {str(scale): number(result.values[scale]) for scale in answer.question.scales}
        if arity > least and list(values[str(arity)].values())[-1] in (1, None):
            break
    return values


def front(question: Question, bases: Sequence[int]) -> list[dict[str, Any]]:
    """Return the fewest operators by base and arity at the last scale, and which pairs no other one beats.

    A pair is beaten if another has no more symbols, no more slots and no more operators, and less of one of them.

    Raises:
        TaskError: the task has no base to choose, or as `curve`.
    """
    rows: list[dict[str, Any]] = []
    for base in bases:
        answer = compute(replace(question, spec=replace(question.spec, base=base), arity=None))
        for arity, values in curve(answer).items():
            operators = list(values.values())[-1]
            symbols = len(answer.task.alphabet)
            rows.append({"base": base, "symbols": symbols, "arity": int(arity), "operators": operators})
    sizes = [tuple(math.inf if row[name] in (None, "inf") else row[name] for name in _SIZES) for row in rows]
    for row, size in zip(rows, sizes, strict=True):
        beaten = any(other != size and all(a <= b for a, b in zip(other, size, strict=True)) for other in sizes)
        row["front"] = not beaten and math.isfinite(size[-1])
    return rows


_SIZES = ("symbols", "arity", "operators")


def minima(answer: SRCAnswer) -> dict[str, Any]:
    """Return the number of minimum circuits and what they have in common (circuits/questions/), as JSON holds it.

    Raises:
        TaskError: they cannot be counted, or not within the time limit.
    """
    try:
        circuits = minimum_circuits(answer.task, answer.result, Clock(answer.question.seconds))
    except OutOfTime as reason:
        raise TaskError(
            f"task '{answer.task.name}': minimum circuits not counted: the time limit has passed"
        ) from reason
    return {
        "operators": circuits.operators,
        "count": circuits.count,
        "entries": [[list(symbols), symbol] for symbols, symbol in circuits.entries],
        "steps": len(circuits.wirings),
        "forced": [
            {"scale": scale, "position": position, "arguments": list(wiring)}
            for (scale, position), wiring in circuits.forced.items()
        ],
    }


def within(answer: SRCAnswer, error: Fraction) -> dict[str, Any]:
    """Return SRC within an error (`lengthgen.circuits.questions.synthesis.src_within`), as JSON holds it.

    Raises:
        TaskError, SolverError: as `src_within`.
    """
    question = answer.question
    bounds = src_within(answer.task, question.scales[-1], answer.result.arity, error, clock=Clock(question.seconds))
    shown = {str(scale): [number(bound) for bound in bounds[scale]] for scale in question.scales}
    return {"error": str(error), "arity": answer.result.arity, "bounds": shown}


def scratchpad(answer: SRCAnswer, operators: int) -> dict[str, Any]:
    """Return the fewest scratchpad tokens for a number of operators (questions/synthesis.py), as JSON holds it.

    Raises:
        TaskError, SolverError: as `scratchpad_tokens`.
    """
    question, arity = answer.question, answer.result.arity
    fewest = scratchpad_tokens(answer.task, question.scales[-1], arity, operators, clock=Clock(question.seconds))
    return {
        "operators": operators,
        "arity": arity,
        "tokens": [fewest.lower, fewest.upper],
        "stopped": fewest.stopped,
    }


def all_scales(machine: Transducer, last: int, *, arity: int | None, seconds: float | None) -> dict[str, Any]:
    """Return SRC of a transducer's task at all scales (`lengthgen.circuits.questions.all_scales`), as JSON holds it.

    Raises:
        TaskError: as `src_for_all_scales`.
    """
    answer = src_for_all_scales(machine, arity, searched=last, clock=Clock(seconds))
    return {
        "task": machine.name,
        "arity": answer.arity,
        "src": {str(scale): number(value) for scale, value in answer.values.items()},
        "value": number(answer.value),
        "constant_from": answer.constant_from,
        "upper": number(answer.upper),
        "why": answer.why,
        "label": "F",
    }


def grid(
    family: TwoScaleTask, first: int, second: int, *, arity: int | None, mode: str, seconds: float | None
) -> dict[str, Any]:
    """Return SRC of a task of two scales at every pair of scales up to the last ones, as JSON holds it.

    Raises:
        TaskError: as `lengthgen.circuits.questions.grid.grid_src`.
    """
    answer = grid_src(family, first, second, arity, mode=mode, clock=Clock(seconds))
    values: dict[str, dict[str, int | str | None]] = {}
    bounds: dict[str, dict[str, list[int | str | None]]] = {}
    for (m, n), (low, high) in answer.bounds.items():
        values.setdefault(str(m), {})[str(n)] = number(low) if low == high else None
        bounds.setdefault(str(m), {})[str(n)] = [number(low), number(high)]
    return {
        "task": family.name,
        "arity": answer.arity,
        "mode": mode,
        "src": values,
        "bounds": bounds,
        "status": answer.status,
        "stopped": answer.stopped,
        "label": "F",
    }
