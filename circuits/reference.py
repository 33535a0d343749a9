"""Reference circuit of a task: right at every scale by definition of the task, so an upper bound of SRC everywhere."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import inf

import numpy as np

from lengthgen.circuits.circuit import Circuit, Wiring
from lengthgen.circuits.determining import determines
from lengthgen.circuits.tables import codes_of, distinct
from lengthgen.circuits.task import UNDEFINED, Reference, Step, Task, TaskError
from lengthgen.circuits.trace import Trace


def reference_circuit(task: Task, scales: Iterable[int]) -> Circuit:
    """Return the task's own circuit at the given scales; operators are in the order of their first use.

    Raise TaskError if the task has no reference circuit, its arity varies, or an operator gives a symbol outside the
    alphabet.
    """
    reference = _required(task)
    numbers: dict[str, int] = {}
    wirings = {}
    for scale in scales:
        wirings[scale] = tuple(
            Wiring(position=position, arguments=arguments, operator=numbers.setdefault(operator, len(numbers)))
            for position, (operator, arguments) in zip(task.step_positions(scale), _steps(task, scale), strict=False)
        )
    keys = [*product(task.alphabet, repeat=reference.arity)]
    operators = tuple(np.array([_value(task, operator, key) for key in keys], dtype=np.uint8) for operator in numbers)
    return Circuit(task=task, arity=reference.arity, wirings=wirings, operators=operators)


def _required(task: Task) -> Reference:
    """Return the reference circuit of a task; raise TaskError if it has none."""
    if task.reference is None:
        raise TaskError(f"task '{task.name}' has no reference circuit")
    return task.reference


def _steps(task: Task, scale: int) -> Sequence[Step]:
    """Return the steps of one scale; raise TaskError unless each reads `arity` earlier positions."""
    arity, steps = _required(task).arity, task.reference_steps(scale)
    for position, (_, arguments) in zip(task.step_positions(scale), steps, strict=False):
        if len(arguments) != arity or not all(1 <= argument < position for argument in arguments):
            raise task.error(
                f"the reference circuit reads {arguments} at position {position}, scale {scale}; give {arity} earlier "
                "positions"
            )
    return steps


def reference_complexity(task: Task, arity: int, largest_scale: int) -> dict[int, float]:
    """Return scale n -> number of operators that the reference circuit uses up to n.

    The number is infinite if the task has no reference circuit of at most this arity.
    """
    reference = task.reference
    if reference is None or reference.arity > arity:
        return dict.fromkeys(range(1, largest_scale + 1), inf)
    used: set[str] = set()
    counts: dict[int, float] = {}
    for scale in range(1, largest_scale + 1):
        used |= {operator for operator, _ in task.reference_steps(scale)}
        counts[scale] = len(used)
    return counts


def check_reference(task: Task, traces: Iterable[Trace]) -> None:
    """Check the reference circuit on every input of the traces. A task keeps what was right, which is not asked again.

    Raise TaskError if the circuit does not compute some step, or reads a position that is not earlier; names the first.
    """
    symbols = len(task.alphabet)
    right = task.reference_entries  # operator -> numbers key * symbols + value of entries that it has
    for trace in traces:
        steps = _steps(task, trace.scale)
        # A sample may lack the prompts of the longest outputs.
        longer = task.end is not None and not trace.exhaustive and len(steps) > len(trace.steps)
        if len(steps) != len(trace.steps) and not longer:
            raise task.error(
                f"the reference circuit has {len(steps)} steps at scale {trace.scale}, not {len(trace.steps)}"
            )
        for position, (operator, arguments) in zip(trace.steps, steps, strict=not longer):
            wrong, where = "its reference circuit is wrong", f"at scale {trace.scale}, position {position}"
            if not determines(trace, position, arguments):
                raise task.error(f"{wrong}: the tokens at {arguments} do not determine the step {where}")
            codes = codes_of(trace, position, arguments)
            checked = right.get(operator, codes[:0])
            for code in np.setdiff1d(codes, checked, assume_unique=True).tolist():
                key, value = divmod(code, symbols)
                places = [key // symbols**place % symbols for place in reversed(range(len(arguments)))]
                if _value(task, operator, tuple(task.alphabet[n] for n in places)) != value:
                    raise task.error(f"{wrong}: operator '{operator}' gives a wrong symbol {where}")
            right[operator] = distinct(np.concatenate([checked, codes]), symbols ** (len(arguments) + 1))


def _value(task: Task, operator: str, symbols: tuple[str, ...]) -> int:
    """Return the token that an operator gives for some symbols; UNDEFINED if it gives none."""
    try:
        value = _required(task).apply(operator, symbols)
    except TaskError:
        raise
    except ValueError:
        return UNDEFINED
    if value not in task.alphabet:
        raise task.error(f"the reference's '{operator}' gives {value!r}, not in the alphabet")
    return task.alphabet.index(value)
