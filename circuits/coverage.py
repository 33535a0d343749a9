"""Coverage of a circuit's operators, measured on data: which steps ask for an entry that training never asked for.

A prediction takes training to show every prompt of its scales. A finite training set shows fewer entries of the
operators, so that a model may fail at a step for which no position encoding is to blame ([F]). An entry is an
operator with the tokens in its essential slots.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from circuits.circuit import Circuit
from circuits.task import Tokens
from circuits.wirings import keys_of
from theory.system.errors import LengthgenError

Scales = NDArray[np.int64]
Seen = tuple[NDArray[np.bool_], ...]
"""Seen entries by operator, bool [symbols ** essential slots], by the key that these tokens make, slot 1 first."""


class CoverageError(LengthgenError):
    """Examples that are none of the circuit's task; one line says which."""


def seen_entries(circuit: Circuit, tokens: Tokens, scales: Scales) -> Seen:
    """The operator entries that some examples ask for.

    Args:
        circuit: of the task, at all scales of the examples.
        tokens: uint8 [count, length], prompt and steps of an example from the first column on; what follows a sequence
            shorter than the longest is not looked at.
        scales: int64 [count].

    Raises:
        CoverageError: the shapes do not fit, the circuit does not have some scale, or an example is too short or holds
            what is no token.
    """
    symbols = len(circuit.task.alphabet)
    slots = [len(circuit.essential_slots(operator)) for operator in range(len(circuit.operators))]
    seen = tuple(np.zeros(symbols**count, dtype=np.bool_) for count in slots)
    for _, _, operator, keys in _asked(circuit, tokens, scales):
        seen[operator][keys] = True
    return seen


def steps_seen(circuit: Circuit, seen: Seen, tokens: Tokens, scales: Scales) -> NDArray[np.bool_]:
    """Whether the entry that each step of each example asks for was seen: bool [count, most steps of an example].

    True beyond an example's last step, where nothing is asked for. Arguments and errors are those of `seen_entries`.
    """
    most = max((len(circuit.wirings.get(scale, ())) for scale in np.unique(scales).tolist()), default=0)
    found = np.ones((len(tokens), most), dtype=np.bool_)
    for rows, step, operator, keys in _asked(circuit, tokens, scales):
        found[rows, step] = seen[operator][keys]
    return found


def _asked(
    circuit: Circuit, tokens: Tokens, scales: Scales
) -> Iterator[tuple[NDArray[np.intp], int, int, NDArray[np.int64]]]:
    """Examples, number (from 0), operator and keys of each step of each scale."""
    if tokens.ndim != 2 or scales.shape != (len(tokens),):
        raise CoverageError(f"tokens {tokens.shape} and scales {scales.shape} must be [count, length] and [count]")
    symbols = len(circuit.task.alphabet)
    for scale in np.unique(scales).tolist():
        wirings = circuit.wirings.get(scale)
        if not wirings:
            raise CoverageError(f"the circuit of '{circuit.task.name}' was not made for scale {scale}")
        length = wirings[-1].position
        rows = np.flatnonzero(scales == scale)
        given = np.ascontiguousarray(tokens[rows, :length].T)
        if len(given) < length or given.max() >= symbols:
            raise CoverageError(
                f"examples of scale {scale} of '{circuit.task.name}' have {length} tokens below {symbols}, not "
                f"{len(given)} up to {given.max()}"
            )
        for step, wiring in enumerate(wirings):
            essential = [wiring.arguments[slot] - 1 for slot in circuit.essential_slots(wiring.operator)]
            yield rows, step, wiring.operator, keys_of(given[essential], symbols)
