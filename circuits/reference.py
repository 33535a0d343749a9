"""The circuit by which a task is defined: right at every scale by construction, so an upper bound of SRC at all."""

from collections.abc import Iterable
from itertools import product
from math import inf

import numpy as np

from circuits.circuit import UNDEFINED, Circuit, Wiring
from circuits.task import Task, TaskError


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
        steps = []
        for position, (operator, arguments) in enumerate(reference.steps(scale), start=first):
            if len(arguments) != reference.arity or not all(1 <= argument < position for argument in arguments):
                raise TaskError(
                    f"task '{task.name}': the reference circuit reads {arguments} at position {position}, scale "
                    f"{scale}; give {reference.arity} earlier positions"
                )
            number = numbers.setdefault(operator, len(numbers))
            steps.append(Wiring(position=position, arguments=arguments, operator=number))
        wirings[scale] = tuple(steps)
    operators = tuple(_table(task, operator) for operator in numbers)
    return Circuit(task=task, arity=reference.arity, wirings=wirings, operators=operators)


def reference_complexity(task: Task, arity: int, scale: int) -> float:
    """How many operators the reference circuit needs up to a scale; infinite where it has none of so few slots."""
    reference = task.reference
    if reference is None or reference.arity > arity:
        return inf
    return len({operator for n in range(1, scale + 1) for operator, _ in reference.steps(n)})


def _table(task: Task, operator: str) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    assert task.reference is not None
    arity = task.reference.arity
    table = np.full(len(task.alphabet) ** arity, UNDEFINED, dtype=np.uint8)
    token = {symbol: number for number, symbol in enumerate(task.alphabet)}
    for key, symbols in enumerate(product(task.alphabet, repeat=arity)):
        try:
            value = task.reference.apply(operator, symbols)
        except ValueError:
            continue
        if value not in token:
            raise TaskError(f"task '{task.name}': the reference's '{operator}' gives {value!r}, not in the alphabet")
        table[key] = token[value]
    return table
