"""Wirings of a step: the tuples of earlier positions that determine its token, with the partial table of each.

A wiring of a step at arity k is an ordered tuple of k earlier positions, repeats allowed, such that the step's token
is a function of their tokens. That function, on the keys that occur, is the wiring's partial table. An operator
computes the step through the wiring iff it extends the table.
"""

import itertools
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from hashlib import blake2b
from operator import and_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from circuits.clock import LOOK, Clock
from circuits.task import UNDEFINED, Tokens
from circuits.trace import Trace

MAX_WIRINGS = 20_000
"""Largest number of wirings for which unused slots of a step may hold any position (`Alternatives.complete`)."""
MAX_BYTES = 200_000_000
"""Largest size in bytes of all tables of one step."""

MAX_SETS = 300
"""Largest number of determining sets that are searched for one step."""
_DENSE = 1 << 22
"""Largest number of keys for which a function is checked through an array over all keys."""
_FEW = 256
"""Largest number of keys of an operator for which the entries of steps are remembered."""
_NEAR = 200
"""Number of pairs of near inputs that a search starts from."""
_REMEMBERED = 400
"""Number of pairs, separated last at other steps of the trace, that a search starts from as well."""

_CODES = 1 << 18
"""Approximate number of table entries that are computed at once."""

_MASK = 100
"""Steps counted for one look at a set of positions."""

Table = int
"""Partial table as a set of bits: bit key * symbols + value is set iff the table maps key to value. The key reads
the argument tokens as digits in base `symbols`, slot 1 first.
"""


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """Ways to compute one step at one arity.

    Attributes:
        wirings: table -> the wirings (tuples of 1-based positions) that have exactly this table.
        complete: True if no wiring is missing. If False, unneeded slots were filled only with needed and constant
            positions: circuits made of these wirings are valid, but they support no lower bound.
    """

    wirings: dict[Table, list[tuple[int, ...]]]
    complete: bool


def keys_of(arguments: Tokens, symbols: int) -> NDArray[np.int64]:
    """Return argument tokens [arity, inputs] as numbers in base `symbols`, slot 1 first: int64 [inputs]."""
    keys = np.zeros(arguments.shape[1], dtype=np.int64)
    for row in arguments:
        keys *= symbols
        keys += row
    return keys


def counted_steps(trace: Trace, slots: int) -> int:
    """Return the steps counted for one look at a step of a trace through `slots` slots, on all its inputs."""
    return LOOK + int(trace.tokens.shape[1]) * (slots + 1)


def determines(trace: Trace, position: int, wiring: Iterable[int]) -> bool:
    """True if the step's token is a function of the tokens at these earlier positions, on the inputs of the trace."""
    positions = frozenset(wiring)
    key = ("determined by", position, positions)
    if key not in trace.memory:
        trace.memory[key] = trace.memory_of_fewer.get(key, True)  # more inputs never make positions determine a step
        if trace.memory[key]:
            members = tuple(sorted(positions))
            wrong, keys = _clashes(trace, position, [p - 1 for p in members])
            trace.memory[key] = not wrong.size
            if not wrong.size and trace.symbols ** len(members) <= _FEW:
                values = trace.tokens_at(position)[position - 1]
                trace.memory["entries", position, members] = _distinct(keys, values, trace.symbols ** len(members))
    answer: bool = trace.memory[key]
    return answer


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
        keys = np.unique(tokens[rows], axis=1, return_inverse=True)[1].reshape(-1)
    return clashing(keys, output, count if count <= _DENSE else len(keys)), keys


def clashing(keys: NDArray[np.int64], values: NDArray[np.uint8], count: int) -> NDArray[np.intp]:
    """Return the indices of pairs (key, value) that another pair with the same key contradicts.

    Keys are below `count`.
    """
    table = np.empty(count, dtype=np.uint8)
    table[keys] = values  # pairs with the same key overwrite each other, so all of them must agree with the last
    return np.flatnonzero(table[keys] != values)


def _separating_pair(trace: Trace, position: int, rows: list[int]) -> tuple[int, int] | None:
    """Return two inputs that agree in these rows but not at the step; None if the rows determine the step.

    Of some such pairs, it is one whose inputs differ at fewest earlier positions.
    """
    wrong, keys = _clashes(trace, position, rows)
    tokens = trace.tokens_at(position)
    before, output = tokens[: position - 1], tokens[position - 1]
    best: tuple[int, tuple[int, int]] | None = None
    for first in wrong[:: max(1, len(wrong) // 4)][:4].tolist():
        others = np.flatnonzero((keys == keys[first]) & (output != output[first]))[:64]
        differences = (before[:, others] != before[:, first, None]).sum(axis=0)
        nearest = int(np.argmin(differences))
        pair = int(differences[nearest]), (first, int(others[nearest]))
        best = min(best or pair, pair)
    if best is None:
        return None
    inputs = np.arange(trace.tokens.shape[1])[trace.inputs_at(position)]
    return int(inputs[best[1][0]]), int(inputs[best[1][1]])


def _bits(mask: NDArray[np.bool_]) -> int:
    """Return a boolean mask as the bits of an integer."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _differences(trace: Trace, position: int, pairs: NDArray[np.int64]) -> list[int]:
    """Return the minimal sets of earlier positions, as bits, where the inputs of a pair differ, smallest first.

    Only pairs [pairs, 2] with different tokens at the step count: each determining set of the step meets their sets.
    """
    output = trace.tokens[position - 1]
    pairs = pairs[(output[pairs[:, 0]] != output[pairs[:, 1]]) & (output[pairs] != UNDEFINED).all(axis=1)]
    first, second = pairs[:: max(1, len(pairs) // _NEAR)].T
    differs = trace.tokens[: position - 1, first] != trace.tokens[: position - 1, second]
    packed = np.packbits(differs, axis=0, bitorder="little").T
    masks = {int.from_bytes(row.tobytes(), "little") for row in packed}
    return _minimal(sorted(masks, key=int.bit_count))


def _minimal(masks: Iterable[int]) -> list[int]:
    """Return the sets, as bits, that contain no other; the sets come smallest first."""
    minimal: list[int] = []
    for mask in masks:
        for smaller in minimal:  # a loop, as this is a hot place and a generator takes three times as long
            if smaller & mask == smaller:
                break
        else:
            minimal.append(mask)
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

    Raises:
        OutOfTime: the clock's limit has passed.
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


def most_wirings(trace: Trace, arity: int) -> int:
    """Return the largest number of wirings of a step whose tables are all kept."""
    return min(MAX_WIRINGS, 8 * MAX_BYTES // int(trace.symbols ** (arity + 1)))


def alternatives(trace: Trace, position: int, arity: int, clock: Clock | None = None) -> Alternatives:
    """Return the wirings of one step by their table; none if no set of `arity` positions determines the step.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    needed, all_sets = determining_sets(trace, position, arity, clock)
    spare = sum((position - 1) ** (arity - len(chosen)) for chosen in needed)
    max_wirings = most_wirings(trace, arity)
    complete = all_sets and spare <= max_wirings
    candidates = _filled(needed, range(1, position), arity) if complete else _plain(trace, position, needed, arity)
    clock = clock or Clock()
    wirings: dict[Table, list[tuple[int, ...]]] = {}
    left = None if complete else max(1, max_wirings)
    for places in candidates:
        orders = _orders(places)[:left]
        clock.check(counted_steps(trace, arity) * len(orders))
        if not add_by_table(wirings, trace, position, orders):
            complete = False
            break
        if left is not None:
            left -= len(orders)
            if not left:
                break
    return Alternatives(wirings=wirings, complete=complete)


def plain_wirings(trace: Trace, position: int, arity: int, clock: Clock | None = None) -> Iterator[tuple[int, ...]]:
    """Yield wirings of one step whose unneeded slots hold only needed and constant positions.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    for places in _plain(trace, position, determining_sets(trace, position, arity, clock).sets, arity):
        yield from _orders(places)


def _plain(trace: Trace, position: int, needed: Iterable[frozenset[int]], arity: int) -> Iterator[tuple[int, ...]]:
    """Yield every needed set with its spare slots filled by needed and constant positions, in ascending order."""
    for chosen in needed:
        yield from _filled([chosen], sorted({*chosen, *constants(trace, position)}) or [1], arity)


def _filled(needed: Iterable[frozenset[int]], fillers: Iterable[int], arity: int) -> Iterator[tuple[int, ...]]:
    """Yield every needed set with its spare slots filled from `fillers`, each once, in ascending order."""
    done: set[tuple[int, ...]] = set()
    for chosen in needed:
        for fill in itertools.combinations_with_replacement(fillers, arity - len(chosen)):
            places = tuple(sorted((*chosen, *fill)))
            if places not in done:
                done.add(places)
                yield places


def _orders(places: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the distinct orders of positions, ascending."""
    return sorted(set(itertools.permutations(places)))


def constants(trace: Trace, position: int) -> list[int]:
    """Return, for each token that is constant over all inputs at some earlier position, the last such position.

    The last one is taken because it does not move with the scale when operands are padded.
    """
    if "constants" not in trace.memory:
        rows = np.flatnonzero((trace.tokens == trace.tokens[:, :1]).all(axis=1))
        trace.memory["constants"] = [(int(row) + 1, int(trace.tokens[row, 0])) for row in rows]
    last = {token: place for place, token in trace.memory["constants"] if place < position}
    return sorted(last.values())


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


def table_of(trace: Trace, position: int, wiring: Sequence[int]) -> Table:
    """Return the partial table of a step through a wiring."""
    tokens = trace.tokens_at(position)
    codes = keys_of(tokens[[p - 1 for p in wiring]], trace.symbols) * trace.symbols + tokens[position - 1]
    # Counting is faster than sorting if there are few distinct codes.
    few = trace.symbols ** (len(wiring) + 1) <= len(codes)
    return as_table(np.flatnonzero(np.bincount(codes)) if few else distinct(codes))


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
    most = max(1, 8 * MAX_BYTES // int(trace.symbols ** (len(orders[0]) + 1)))
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
    members = tuple(sorted(set(orders[0])))
    tokens = trace.tokens_at(position)
    codes = distinct(keys_of(tokens[[p - 1 for p in members]], trace.symbols) * trace.symbols + tokens[position - 1])
    keys, values = codes // trace.symbols, codes % trace.symbols
    digits = keys // trace.symbols ** np.arange(len(members) - 1, -1, -1)[:, None] % trace.symbols
    chunk = max(1, _CODES // len(codes))
    for start in range(0, len(orders), chunk):
        some = orders[start : start + chunk]
        # The weight of a member in the key of an order: of all slots in which it stands.
        slots = np.array(some)[:, None, :] == np.array(members)[:, None]
        weights = slots @ trace.symbols ** np.arange(len(orders[0]) - 1, -1, -1)
        codes_by_order = (weights @ digits) * trace.symbols + values
        codes_by_order.sort(axis=1)
        for order, row in zip(some, codes_by_order, strict=True):
            yield order, blake2b(row, digest_size=16).digest(), row


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, ascending.

    Same as np.unique, which hashes numbers and is far slower if most of them differ (numpy 2.4).
    """
    ordered = np.sort(values)
    unique: NDArray[Any] = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return unique


def as_table(bits: NDArray[np.int64]) -> Table:
    """Return the table of ascending numbers key * symbols + value."""
    mask = np.zeros(int(bits[-1]) + 1, dtype=bool)
    mask[bits] = True
    return _bits(mask)


def entries(table: Table, symbols: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys on which a table is defined, ascending, and its values there: int64 [entries] each."""
    content = table.to_bytes(-(-table.bit_length() // 8), "little")
    unpacked = np.unpackbits(np.frombuffer(content, dtype=np.uint8), bitorder="little")
    bits = np.flatnonzero(unpacked.view(np.bool_))  # many times as fast as over numbers
    return bits // symbols, bits % symbols
