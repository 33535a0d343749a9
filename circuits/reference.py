"""The circuit by which a task is defined: right at every scale by construction, so an upper bound of SRC at all."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import inf

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import UNDEFINED, Circuit, Wiring
from circuits.task import Reference, Task, TaskError
from circuits.trace import Trace
from circuits.wirings import asked, determines


def reference_circuit(task: Task, scales: Iterable[int]) -> Circuit:
    """The task's own circuit at the scales given; operators in the order in which they are first used.

    Raises:
        TaskError: the task has none, it is not of one arity, or an operator gives what is not in the alphabet.
    """
    reference = task.reference
    if reference is None:
        raise TaskError(f"task '{task.name}' has no reference circuit")
    numbers: dict[str, int] = {}
    wirings = {}
    for scale in scales:
        first = len(task.choices(scale)) + 1
        wirings[scale] = tuple(
            Wiring(position=position, arguments=arguments, operator=numbers.setdefault(operator, len(numbers)))
            for position, (operator, arguments) in enumerate(_steps(task, reference, scale), start=first)
        )
    operators = tuple(_table(task, reference, operator) for operator in numbers)
    return Circuit(task=task, arity=reference.arity, wirings=wirings, operators=operators)


def _steps(task: Task, reference: Reference, scale: int) -> Sequence[tuple[str, tuple[int, ...]]]:
    """The steps of one scale, each of which reads as many earlier positions as the circuit has slots."""
    steps = list(reference.steps(scale))
    for position, (_, arguments) in enumerate(steps, start=len(task.choices(scale)) + 1):
        if len(arguments) != reference.arity or not all(1 <= argument < position for argument in arguments):
            raise TaskError(
                f"task '{task.name}': the reference circuit reads {arguments} at position {position}, scale {scale}; "
                f"give {reference.arity} earlier positions"
            )
    return steps


def reference_complexity(task: Task, arity: int, largest_scale: int) -> dict[int, float]:
    """Scale n -> operators that the reference circuit uses up to n; infinite where it has none of so few slots."""
    reference = task.reference
    if reference is None or reference.arity > arity:
        return dict.fromkeys(range(1, largest_scale + 1), inf)
    used: set[str] = set()
    counts: dict[int, float] = {}
    for scale in range(1, largest_scale + 1):
        used |= {operator for operator, _ in reference.steps(scale)}
        counts[scale] = len(used)
    return counts


def check_reference(task: Task, traces: Iterable[Trace]) -> None:
    """Checks the reference circuit on every input of the traces.

    Raises:
        TaskError: it does not compute some step, or reads what is not there before it; names the first.
    """
    assert task.reference is not None
    known: dict[tuple[str, int], int] = {}
    for one in traces:
        steps = _steps(task, task.reference, one.scale)
        if len(steps) != len(one.steps):
            raise TaskError(
                f"task '{task.name}': the reference circuit has {len(steps)} steps at scale {one.scale}, not "
                f"{len(one.steps)}"
            )
        for position, (operator, arguments) in zip(one.steps, steps, strict=True):
            wrong = f"at scale {one.scale}, position {position}"
            if not determines(one, position, arguments):
                raise TaskError(
                    f"task '{task.name}': its reference is no circuit of it: {arguments} do not decide it {wrong}"
                )
            keys, values = asked(one, position, arguments)
            for key, value in zip(keys.tolist(), values.tolist(), strict=True):
                if (operator, key) not in known:
                    places = [key // len(task.alphabet) ** place for place in reversed(range(len(arguments)))]
                    symbols = tuple(task.alphabet[place % len(task.alphabet)] for place in places)
                    known[operator, key] = _value(task, task.reference, operator, symbols)
                if known[operator, key] != value:
                    raise TaskError(
                        f"task '{task.name}': its reference is no circuit of it: '{operator}' is wrong {wrong}"
                    )


def _value(task: Task, reference: Reference, operator: str, symbols: tuple[str, ...]) -> int:
    """The token that an operator gives, UNDEFINED where it gives none."""
    try:
        value = reference.apply(operator, symbols)
    except TaskError:
        raise
    except ValueError:
        return UNDEFINED
    if value not in task.alphabet:
        raise TaskError(f"task '{task.name}': the reference's '{operator}' gives {value!r}, not in the alphabet")
    return task.alphabet.index(value)


def _table(task: Task, reference: Reference, operator: str) -> NDArray[np.uint8]:
    keys = product(task.alphabet, repeat=reference.arity)
    return np.array([_value(task, reference, operator, symbols) for symbols in keys], dtype=np.uint8)
