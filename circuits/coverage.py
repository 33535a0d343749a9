"""Coverage of a circuit's operators, measured on data: the steps that need a table entry which training never used.

A prediction assumes that training shows every prompt of its scales. A finite training set uses fewer entries of the
operators, so a model may fail at a step although the position encoding is not the reason ([F]). An entry is an
operator together with the tokens in its essential slots.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.tables import keys_of
from lengthgen.circuits.task import Tokens
from lengthgen.infrastructure.errors import LengthgenError

Scales = NDArray[np.int64]
Seen = tuple[NDArray[np.bool_], ...]
"""Seen entries by operator: bool [symbols ** essential slots], indexed by the key of these tokens, slot 1 first."""


class CoverageError(LengthgenError):
    """Error of examples that do not belong to the circuit's task; one line says which."""


def seen_entries(circuit: Circuit, tokens: Tokens, scales: Scales) -> Seen:
    """Return the operator entries that some examples use.

    Args:
        circuit: circuit of the task, at all scales of the examples.
        tokens: uint8 [count, length]; prompt and steps of each example from the first column on. Columns after the end
            of a sequence are ignored.
        scales: scale of each example, int64 [count].

    Raises:
        CoverageError: the shapes do not fit, the circuit lacks some scale, or an example is too short or holds a value
            that is no token.
    """
    symbols = len(circuit.task.alphabet)
    slots = [len(circuit.essential_slots(operator)) for operator in range(len(circuit.operators))]
    seen = tuple(np.zeros(symbols**count, dtype=np.bool_) for count in slots)
    for _, _, operator, keys in _used_keys(circuit, tokens, scales):
        seen[operator][keys] = True
    return seen


def steps_seen(circuit: Circuit, seen: Seen, tokens: Tokens, scales: Scales) -> NDArray[np.bool_]:
    """Return, for each step of each example, True if its entry was seen: bool [count, largest number of steps].

    The value is True beyond an example's last step and after its end, where no entry is needed. Arguments and errors
    are those of `seen_entries`.
    """
    largest_count = max((len(circuit.wirings.get(scale, ())) for scale in np.unique(scales).tolist()), default=0)
    covered = np.ones((len(tokens), largest_count), dtype=np.bool_)
    for rows, step, operator, keys in _used_keys(circuit, tokens, scales):
        covered[rows, step] = seen[operator][keys]
    return covered


def _used_keys(
    circuit: Circuit, tokens: Tokens, scales: Scales
) -> Iterator[tuple[NDArray[np.intp], int, int, NDArray[np.int64]]]:
    """Yield, for each step of each scale: rows of the examples, step number (from 0), operator, and keys."""
    if tokens.ndim != 2 or scales.shape != (len(tokens),):
        raise CoverageError(f"tokens {tokens.shape} and scales {scales.shape} must be [count, length] and [count]")
    symbols = len(circuit.task.alphabet)
    end = None if circuit.task.end is None else circuit.task.alphabet.index(circuit.task.end)
    for scale in np.unique(scales).tolist():
        wirings = circuit.wirings.get(scale)
        if not wirings:
            raise CoverageError(f"the circuit of '{circuit.task.name}' was not made for scale {scale}")
        length = wirings[-1].position
        rows = np.flatnonzero(scales == scale)
        scale_tokens = np.ascontiguousarray(tokens[rows, :length].T)
        if end is not None and len(scale_tokens) < length:  # no example is as long as the longest
            scale_tokens = np.pad(scale_tokens, ((0, length - len(scale_tokens)), (0, 0)))
        if len(scale_tokens) < length or scale_tokens.max() >= symbols:
            raise CoverageError(
                f"examples of scale {scale} of '{circuit.task.name}' have {length} tokens below {symbols}, not "
                f"{len(scale_tokens)} up to {scale_tokens.max()}"
            )
        goes_on = np.ones(len(rows), dtype=np.bool_)
        for step, wiring in enumerate(wirings):
            essential = [wiring.arguments[slot] - 1 for slot in circuit.essential_slots(wiring.operator)]
            yield rows[goes_on], step, wiring.operator, keys_of(scale_tokens[essential][:, goes_on], symbols)
            if end is not None:
                goes_on &= scale_tokens[wiring.position - 1] != end
