"""Sets of earlier positions that determine the token of a step, on all inputs of a trace."""

from bisect import insort
from collections.abc import Iterable
from functools import reduce
from operator import and_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.clock import LOOK, Clock
from lengthgen.circuits.tables import clashing, counted_steps, keys_of, remember_entries
from lengthgen.circuits.task import UNDEFINED, Tokens
from lengthgen.circuits.trace import Trace, distinct_rows

MAX_SETS = 300
"""Largest number of determining sets that are searched for one step."""
_DENSE = 1 << 22
"""Largest number of keys for which a function is checked through an array over all keys."""
_FEW, _FEW_KEYS = 200, 1 << 16
"""Approximate number of inputs on which positions are tried first, and the largest number of keys for it."""
_NEAR = 200
"""Number of pairs of near inputs that a search starts from."""
_REMEMBERED = 400
"""Number of pairs, separated last at other steps of the trace, that a search starts from as well."""
_MASK = 100
"""Steps counted for one look at a set of positions."""
_FIRSTS, _OTHERS = 4, 64
"""Number of contradicting inputs, and of partners of each, among which the nearest pair is chosen."""


def determines(trace: Trace, position: int, wiring: Iterable[int]) -> bool:
    """True if the step's token is a function of the tokens at these earlier positions, on the inputs of the trace."""
    positions = frozenset(wiring)
    key = ("determined by", position, positions)
    if key not in trace.memory:
        trace.memory[key] = trace.memory_of_fewer.get(key, True)  # more inputs never make positions determine a step
        members = tuple(sorted(positions))
        if trace.memory[key] and _few_clash(trace, position, [p - 1 for p in members]):
            trace.memory[key] = False
        elif trace.memory[key]:
            wrong, keys = _clashes(trace, position, [p - 1 for p in members])
            trace.memory[key] = not wrong.size
            if not wrong.size:
                remember_entries(trace, position, members, keys)
    answer: bool = trace.memory[key]
    return answer


def _few_clash(trace: Trace, position: int, rows: list[int]) -> bool:
    """True if some of a few inputs contradict each other, as in `_clashes`: most positions are refuted by these."""
    if "few inputs" not in trace.memory:
        count = trace.tokens.shape[1]
        trace.memory["few inputs"] = np.ascontiguousarray(trace.tokens[:, :: max(1, count // _FEW)])
    tokens: Tokens = trace.memory["few inputs"]
    output, count = tokens[position - 1], trace.symbols ** len(rows)
    if count > _FEW_KEYS or (output == UNDEFINED).any():
        return False
    return bool(clashing(keys_of(tokens[rows], trace.symbols), output, count).size)


def _clashes(trace: Trace, position: int, rows: list[int]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the inputs that contradict another input: equal tokens in these rows, different tokens at the step.

    Also return a number for each input, the same for inputs with equal tokens in these rows. Inputs are numbered among
    those that have the step (`Trace.tokens_at`).
    """
    tokens = trace.tokens_at(position)
    output = tokens[position - 1]
    count = trace.symbols ** len(rows)
    if count <= _DENSE:
        keys = keys_of(tokens[rows], trace.symbols)
    else:
        keys = distinct_rows(tokens[rows].T)[1]
        count = len(keys)
    return clashing(keys, output, count), keys


def _separating_pair(trace: Trace, position: int, rows: list[int]) -> tuple[int, int] | None:
    """Return two inputs that agree in these rows but not at the step; None if the rows determine the step.

    Of some such pairs, it is one whose inputs differ at fewest earlier positions.
    """
    wrong, keys = _clashes(trace, position, rows)
    tokens = trace.tokens_at(position)
    before, output = tokens[: position - 1], tokens[position - 1]
    candidates: list[tuple[int, int, int]] = []
    for first in wrong[:: max(1, len(wrong) // _FIRSTS)][:_FIRSTS].tolist():
        others = np.flatnonzero((keys == keys[first]) & (output != output[first]))[:_OTHERS]
        differences = (before[:, others] != before[:, first, None]).sum(axis=0)
        nearest = int(np.argmin(differences))
        candidates.append((int(differences[nearest]), first, int(others[nearest])))
    if not candidates:
        return None
    _, first, other = min(candidates)
    inputs = np.arange(trace.tokens.shape[1])[trace.inputs_at(position)]
    return int(inputs[first]), int(inputs[other])


def _differences(trace: Trace, position: int, pairs: NDArray[np.int64]) -> list[int]:
    """Return the minimal sets of earlier positions, as bits, where the inputs of a pair differ, smallest first.

    Only pairs [pairs, 2] with different tokens at the step count: each determining set of the step meets their sets.
    """
    output = trace.tokens[position - 1]
    pairs = pairs[(output[pairs[:, 0]] != output[pairs[:, 1]]) & (output[pairs] != UNDEFINED).all(axis=1)]
    first, second = pairs[:: max(1, len(pairs) // _NEAR)].T
    if "by input" not in trace.memory:
        trace.memory["by input"] = np.ascontiguousarray(trace.tokens.T)  # many times as fast to take inputs from
    tokens: Tokens = trace.memory["by input"]
    packed = np.packbits(tokens[first, : position - 1] != tokens[second, : position - 1], axis=1, bitorder="little")
    masks = {int.from_bytes(row.tobytes(), "little") for row in packed}
    return _minimal(sorted(masks, key=int.bit_count))


def _minimal(masks: Iterable[int]) -> list[int]:
    """Return the sets, as bits, that contain no other; the sets come smallest first."""
    minimal, left = list[int](), [*masks]
    while left:
        smallest = left[0]
        minimal.append(smallest)
        left = [mask for mask in left if mask & smallest != smallest]
    return minimal


class DeterminingSets(NamedTuple):
    """Sets of positions that determine a step; no set contains another.

    If `complete`, every determining set within the allowed size contains one of them.
    """

    sets: tuple[frozenset[int], ...]
    complete: bool


def determining_sets(trace: Trace, position: int, arity: int, clock: Clock | None = None) -> DeterminingSets:
    """Return the minimal sets of at most `arity` positions that determine the step's token, on the inputs of the trace.

    Two inputs with different tokens at the step must differ at some member of every determining set. The search finds
    such a pair that the current set misses, and branches on the positions where the pair differs; the last position of
    a set must lie where all missed pairs differ. Pairs that separated other steps of the trace are tried first. The
    search ends after MAX_SETS sets: so many exist only if there are too few inputs to tell which positions are needed.
    """
    searched = known_sets(trace, position, arity)
    if searched is None:
        clock = clock or Clock()
        of_fewer: DeterminingSets | None = trace.memory_of_fewer.get(("determining sets", position, arity))
        if of_fewer and of_fewer.complete and all(determines(trace, position, each) for each in of_fewer.sets):
            clock.check(sum(counted_steps(trace, len(each)) for each in of_fewer.sets))
            searched = of_fewer  # more inputs make no other set determine the step
        else:
            searched = _determining_sets(trace, position, arity, clock)
        trace.memory["determining sets", position, arity] = searched
    return searched


def known_sets(trace: Trace, position: int, arity: int) -> DeterminingSets | None:
    """Return the `determining_sets` of a step if they were searched before."""
    searched: DeterminingSets | None = trace.memory.get(("determining sets", position, arity))
    return searched


def _determining_sets(trace: Trace, position: int, arity: int, clock: Clock) -> DeterminingSets:
    """Compute `determining_sets` by a depth-first search over sets of positions as bits."""
    separating: list[tuple[int, int]] = trace.memory.setdefault(
        "separating pairs", [*trace.memory_of_fewer.get("separating pairs", ())]
    )
    clock.check(_NEAR * position + LOOK)
    remembered = np.array(separating[-_REMEMBERED:], dtype=np.int64).reshape(-1, 2)
    differences = _minimal(
        sorted(_differences(trace, position, trace.near) + _differences(trace, position, remembered), key=int.bit_count)
    )
    determining: list[int] = []
    seen: set[int] = set()
    stack = [0]
    while stack and len(determining) < MAX_SETS:
        chosen = stack.pop()
        if chosen in seen:
            continue
        seen.add(chosen)
        clock.check(_MASK * (len(differences) + 1))
        missed = [mask for mask in differences if not mask & chosen]
        if not missed:
            clock.check(counted_steps(trace, chosen.bit_count()))
            pair = _separating_pair(trace, position, _members(chosen))
            if pair is None:
                determining.append(chosen)
                continue
            separating.append(pair)
            missed = _differences(trace, position, np.array([pair]))
            insort(differences, missed[0], key=int.bit_count)
        open_slots = arity - chosen.bit_count()
        if open_slots:
            stack += [chosen | 1 << row for row in _members(reduce(and_, missed) if open_slots == 1 else missed[0])]
    sets = sorted(
        (frozenset(row + 1 for row in _members(mask)) for mask in _minimal(sorted(determining, key=int.bit_count))),
        key=sorted,
    )
    return DeterminingSets(sets=tuple(sets), complete=not stack)


def _members(mask: int) -> list[int]:
    """Return the indices of the set bits of a mask, ascending."""
    rows = []
    while mask:
        low = mask & -mask
        rows.append(low.bit_length() - 1)
        mask ^= low
    return rows
