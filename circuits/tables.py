"""Partial tables of the steps of a trace, through the wirings that determine them, and operators that serve them."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.clock import LOOK
from lengthgen.circuits.task import UNDEFINED, Tokens
from lengthgen.circuits.trace import Trace

MAX_BYTES = 200_000_000
"""Largest size in bytes of all tables of one step."""
_SPARSE = 64
"""Possible codes for each given one beyond which sorting is faster than marking those that occur."""
_FEW = 256
"""Largest number of keys of an operator for which the entries of steps are remembered."""
Table = int
"""Partial table as a set of bits: bit key * symbols + value is set iff the table maps key to value. The key reads
the argument tokens as digits in base `symbols`, slot 1 first.
"""


def keys_of(arguments: Tokens, symbols: int) -> NDArray[np.int64]:
    """Return argument tokens [arity, inputs] as numbers in base `symbols`, slot 1 first: int64 [inputs]."""
    # Numbers of half the size or less are multiplied and added at least twice as fast.
    count = symbols ** len(arguments)
    small: type[np.integer[Any]] = np.uint16 if count <= 1 << 16 else np.uint32 if count <= 1 << 32 else np.int64
    keys = np.zeros(arguments.shape[1], dtype=small)
    for row in arguments:
        keys *= small(symbols)
        keys += row
    return keys.astype(np.int64, copy=False)


def distinct(codes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the distinct ones of some numbers below `count`, ascending."""
    if count > _SPARSE * len(codes):
        # Many times as fast as np.unique, which hashes; twice as fast for numbers of half the size.
        ordered = np.sort(codes.astype(np.int32) if count <= np.iinfo(np.int32).max else codes)
        first = np.append(True, ordered[1:] != ordered[:-1])
        ascending: NDArray[np.int64] = ordered[first[: len(codes)]].astype(np.int64)
        return ascending
    occurs = np.zeros(count, dtype=bool)
    occurs[codes] = True
    return np.flatnonzero(occurs)


def counted_steps(trace: Trace, slots: int) -> int:
    """Return the steps counted for one look at a step of a trace through `slots` slots, on all its inputs."""
    return LOOK + int(trace.tokens.shape[1]) * (slots + 1)


def clashing(keys: NDArray[np.int64], values: NDArray[np.uint8], count: int) -> NDArray[np.intp]:
    """Return the indices of pairs (key, value) that another pair with the same key contradicts.

    Keys are below `count`.
    """
    table = np.empty(count, dtype=np.uint8)
    table[keys] = values  # pairs with the same key overwrite each other, so all of them must agree with the last
    return np.flatnonzero(table[keys] != values)


def step_entries(trace: Trace, position: int, wiring: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the keys that occur at a step through a wiring that determines it, and their values.

    Returns:
        int64 and uint8 [entries], not to be written; for small operators the keys are ascending and distinct.
    """
    key = ("entries", position, wiring)
    if key in trace.memory:
        remembered: tuple[NDArray[np.int64], NDArray[np.uint8]] = trace.memory[key]
        return remembered
    members = tuple(sorted(set(wiring)))
    of_members = trace.memory.get(("entries", position, members))
    if of_members:
        keys = _slot_keys(tuple(map(members.index, wiring)), trace.symbols, len(members))[of_members[0]]
        order = np.argsort(keys)
        entries = trace.memory[key] = keys[order], of_members[1][order]
        return entries
    tokens = trace.tokens_at(position)
    keys = keys_of(tokens[[p - 1 for p in wiring]], trace.symbols)
    output = tokens[position - 1]
    count = trace.symbols ** len(wiring)
    if count > len(keys) * 16:  # an array over all keys would cost more than it saves
        return keys, output
    entries = _distinct(keys, output, count)
    if count <= _FEW:
        trace.memory[key] = entries
    return entries


def remember_entries(trace: Trace, position: int, members: tuple[int, ...], keys: NDArray[np.int64]) -> None:
    """Keep the entries of a step for each wiring that reads just these ascending positions, if they are few.

    `keys` holds the key of each input that has the step: int64 [inputs].
    """
    count = trace.symbols ** len(members)
    if count <= _FEW:
        values = trace.tokens_at(position)[position - 1]
        trace.memory["entries", position, members] = _distinct(keys, values, count)


def _distinct(
    keys: NDArray[np.int64], values: NDArray[np.uint8], count: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the keys, all below `count`, ascending and distinct, with their values: equal keys have equal values."""
    table = np.full(count, UNDEFINED, dtype=np.uint8)
    table[keys] = values
    distinct_keys = np.flatnonzero(table != UNDEFINED)
    return distinct_keys, table[distinct_keys]


@cache
def _slot_keys(slots: tuple[int, ...], symbols: int, members: int) -> NDArray[np.int64]:
    """Return the key of a wiring for each key of its distinct positions, of which slot s reads number `slots[s]`."""
    digits = np.indices((symbols,) * members, dtype=np.uint8).reshape(members, -1)
    return keys_of(digits[list(slots)], symbols)


def most_tables(trace: Trace, slots: int) -> int:
    """Return the number of tables of one step through some slots that MAX_BYTES can hold, at least 1."""
    return max(1, 8 * MAX_BYTES // int(trace.symbols ** (slots + 1)))


def codes_of(trace: Trace, position: int, wiring: Sequence[int]) -> NDArray[np.int64]:
    """Return the numbers key * symbols + value that occur at a step through a wiring, ascending."""
    tokens = trace.tokens_at(position)
    codes = keys_of(tokens[[p - 1 for p in wiring]], trace.symbols) * trace.symbols + tokens[position - 1]
    return distinct(codes, trace.symbols ** (len(wiring) + 1))


def table_of(trace: Trace, position: int, wiring: Sequence[int]) -> Table:
    """Return the partial table of a step through a wiring."""
    return as_table(codes_of(trace, position, wiring))


def add_by_table(
    wirings: dict[Table, list[tuple[int, ...]]],
    trace: Trace,
    position: int,
    orders: Sequence[tuple[int, ...]],
    tag: Table = 0,
) -> bool:
    """Add wirings of a step, which all order the same positions, to `wirings`, by their table joined with a tag.

    Return False if the tables would need more than MAX_BYTES: then the wirings from the first such on are left out.
    """
    most = most_tables(trace, len(orders[0]))
    listed: dict[bytes, list[tuple[int, ...]]] = {}
    for order, digest, codes in _codes_of_orders(trace, position, orders):
        if digest not in listed:
            table = as_table(codes) | tag
            if table not in wirings and len(wirings) >= most:
                return False
            listed[digest] = wirings.setdefault(table, [])
        listed[digest].append(order)
    return True


def different_orders(trace: Trace, position: int, wiring: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the orders of a wiring; of those with the same table, the first."""
    digests = set()
    for order, digest, _ in _codes_of_orders(trace, position, [*dict.fromkeys(itertools.permutations(wiring))]):
        if digest not in digests:
            digests.add(digest)
            yield order


def _codes_of_orders(
    trace: Trace, position: int, orders: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], bytes, NDArray[np.int64]]]:
    """Yield wirings that order the same positions, each with its table's bits (`as_table`) and a digest of these.

    Digests take the place of tables where many are compared: a table may have megabytes.
    """
    members = np.array(sorted(set(orders[0])), dtype=np.int64)
    codes = codes_of(trace, position, members.tolist())
    keys, values = codes // trace.symbols, codes % trace.symbols
    digits = keys // trace.symbols ** np.arange(len(members))[::-1, None] % trace.symbols
    places = trace.symbols ** np.arange(len(orders[0]))[::-1]
    for order in orders:
        # The weight of a member in the key of an order: of all slots in which it stands.
        weights = (np.array(order) == members[:, None]) @ places
        bits: NDArray[np.int64] = np.sort((weights @ digits) * trace.symbols + values)
        yield order, blake2b(bits.tobytes(), digest_size=16).digest(), bits


def as_table(bits: NDArray[np.int64]) -> Table:
    """Return the table of numbers key * symbols + value."""
    mask = np.zeros(int(bits.max(initial=-1)) + 1, dtype=bool)
    mask[bits] = True
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def entries(table: Table, symbols: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys on which a table is defined, ascending, and its values there: int64 [entries] each."""
    content = table.to_bytes(-(-table.bit_length() // 8), "little")
    unpacked = np.unpackbits(np.frombuffer(content, dtype=np.uint8), bitorder="little")
    bits = np.flatnonzero(unpacked.view(np.bool_))  # many times as fast as over numbers
    return bits // symbols, bits % symbols


@dataclass(frozen=True, kw_only=True)
class StepEntries:
    """Table entries that a step needs through one wiring: number of arguments `slots`, keys, and their values."""

    slots: int
    keys: NDArray[np.int64]
    values: NDArray[np.uint8]


class Operators:
    """List of partial tables, uint8 [symbols ** slots] each; UNDEFINED marks entries that no step needs yet."""

    def __init__(self, symbols: int, tables: Iterable[NDArray[np.uint8]] = ()) -> None:
        self.symbols = symbols
        self.tables = [table.copy() for table in tables]

    def missing(self, operator: int, step: StepEntries) -> int | None:
        """Return the number of entries that an operator lacks to serve a step.

        None if other values or another number of slots exclude it.
        """
        table = self.tables[operator]
        if len(table) != self.symbols**step.slots:
            return None
        present = table[step.keys]
        fresh = present == UNDEFINED
        return int(fresh.sum()) if ((present == step.values) | fresh).all() else None

    def first_fit(self, step: StepEntries) -> int | None:
        """Return the index of the first operator that can serve the step; None if there is none."""
        return next((index for index in range(len(self.tables)) if self.missing(index, step) is not None), None)

    def give(self, operator: int | None, step: StepEntries) -> int:
        """Add the entries of a step to an operator, or to a new one if `operator` is None; return its index."""
        if operator is None:
            operator = len(self.tables)
            self.tables.append(np.full(self.symbols**step.slots, UNDEFINED, dtype=np.uint8))
        self.tables[operator][step.keys] = step.values
        return operator
