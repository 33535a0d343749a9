"""Wirings of a step, the earlier positions that can determine it, and the partial table that each one asks for.

A wiring of a step at arity k is an ordered tuple of k earlier positions, repeats allowed, such that the step's token
is a function of their tokens. That function, on the keys that occur, is its partial table; an operator computes the
step through the wiring iff it extends the table.
"""

import itertools
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from circuits.clock import LOOK, Clock
from circuits.task import Tokens
from circuits.trace import Trace

MAX_WIRINGS = 20_000
"""Wirings looked at for one step before the unused slots are filled from fewer positions (`Alternatives.complete`)."""
MAX_BYTES = 200_000_000
"""Bytes of all tables of one step, beyond which unused slots are filled from fewer positions too."""

MAX_SETS = 300
"""Determining sets looked at for one step."""
_DENSE = 1 << 22
"""Keys up to which a function is checked through an array of all keys."""
_NEAR = 1_000
"""Pairs of near inputs that a search starts from."""

_MASK = 100
"""Steps that it takes to look at one set of positions."""

Table = int
"""A partial table as a set of bits: bit key * symbols + value is set iff the table maps key to value, where key reads
the argument tokens as digits in base `symbols`, slot 1 first."""


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """Ways to compute one step at one arity.

    Attributes:
        wirings: table -> the wirings (tuples of 1-based positions) that ask for exactly this table.
        complete: whether every wiring is there. If not, slots the step has no need of were filled only with needed
            and constant positions: any circuit made of these is valid, but a lower bound may not rest on them.
    """

    wirings: dict[Table, list[tuple[int, ...]]]
    complete: bool


def keys_of(arguments: Tokens, symbols: int) -> NDArray[np.int64]:
    """Argument tokens [arity, inputs] read as numbers in base `symbols`, slot 1 first: int64 [inputs]."""
    keys = np.zeros(arguments.shape[1], dtype=np.int64)
    for row in arguments:
        keys *= symbols
        keys += row
    return keys


def look_steps(one: Trace, slots: int) -> int:
    """The steps that it takes to look at a step of a trace through so many slots, on all its inputs."""
    return LOOK + int(one.tokens.shape[1]) * (slots + 1)


def determines(one: Trace, position: int, wiring: Sequence[int]) -> bool:
    """Whether the step's token is a function of the tokens at these earlier positions, on the inputs of the trace."""
    return _clashes(one, position, [p - 1 for p in wiring]) is None


def _clashes(one: Trace, position: int, rows: list[int]) -> NDArray[np.intp] | None:
    """Inputs that have another input with the same tokens in these rows and another token at the step, or None."""
    output = one.tokens[position - 1]
    count = one.symbols ** len(rows)
    if count <= _DENSE:
        keys = keys_of(one.tokens[rows], one.symbols)
    else:
        keys = np.unique(one.tokens[rows], axis=1, return_inverse=True)[1].reshape(-1)
    wrong = clashing(keys, output, count if count <= _DENSE else len(keys))
    return wrong if wrong.size else None


def clashing(keys: NDArray[np.int64], values: NDArray[np.uint8], count: int) -> NDArray[np.intp]:
    """Indices of the pairs of key, below `count`, and value that another pair with the same key contradicts."""
    table = np.empty(count, dtype=np.uint8)
    table[keys] = values  # of several pairs with one key some last one is kept; any other must agree with it
    return np.flatnonzero(table[keys] != values)


def _missed(one: Trace, position: int, rows: list[int]) -> int | None:
    """A set of positions, as bits, that any determining set must meet and this one does not; None if it determines.

    It is where two inputs differ that agree in the rows given and not at the step: a pair with few differences.
    """
    wrong = _clashes(one, position, rows)
    if wrong is None:
        return None
    before, output = one.tokens[: position - 1], one.tokens[position - 1]
    best: NDArray[np.bool_] | None = None
    for first in wrong[:: max(1, len(wrong) // 4)][:4]:
        same = (one.tokens[rows] == one.tokens[rows, first][:, None]).all(axis=0) & (output != output[first])
        others = np.flatnonzero(same)[:64]
        differs = before[:, others] != before[:, first][:, None]
        fewest = differs[:, np.argmin(differs.sum(axis=0))]
        if best is None or fewest.sum() < best.sum():
            best = fewest
    assert best is not None
    return _bits(best)


def _bits(mask: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _near_differences(one: Trace, position: int) -> list[int]:
    """Positions at which near inputs with different tokens at the step differ, as bits, the smallest sets first."""
    output = one.tokens[position - 1]
    pairs = one.near[output[one.near[:, 0]] != output[one.near[:, 1]]]
    first, second = pairs[:: max(1, len(pairs) // _NEAR)].T
    differs = one.tokens[: position - 1, first] != one.tokens[: position - 1, second]
    packed = np.packbits(differs, axis=0, bitorder="little").T
    found = {int.from_bytes(row.tobytes(), "little") for row in packed}
    kept: list[int] = []
    for mask in sorted(found, key=int.bit_count):
        if not any(smaller & mask == smaller for smaller in kept):
            kept.append(mask)
    return kept


class DeterminingSets(NamedTuple):
    """Sets of positions that determine a step, none within another.

    Where `complete`, every determining set of at most as many positions as were allowed contains one of them.
    """

    found: tuple[frozenset[int], ...]
    complete: bool


def determining_sets(one: Trace, position: int, arity: int, clock: Clock | None = None) -> DeterminingSets:
    """Sets of at most `arity` positions that determine the step's token, on the inputs of the trace.

    Two inputs with different tokens at the step must differ at some member of every determining set; the search finds
    such a pair that the current set misses, and branches on the positions where the pair differs. It ends where
    MAX_SETS are found: so many there are only where inputs are too few to tell what is needed.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    known = ("determining sets", position, arity)
    if known not in one.memory:
        one.memory[known] = _determining_sets(one, position, arity, clock)
    result: DeterminingSets = one.memory[known]
    return result


def _determining_sets(one: Trace, position: int, arity: int, clock: Clock | None) -> DeterminingSets:
    clock = clock or Clock()
    clock.check(_NEAR * position + LOOK)
    differences = _near_differences(one, position)
    found: list[int] = []
    seen: set[int] = set()
    stack = [0]
    while stack and len(found) < MAX_SETS:
        chosen = stack.pop()
        if chosen in seen:
            continue
        seen.add(chosen)
        clock.check(_MASK * (len(differences) + 1))
        missed = next((mask for mask in differences if not mask & chosen), None)
        if missed is None:
            clock.check(look_steps(one, chosen.bit_count()))
            missed = _missed(one, position, _members(chosen))
            if missed is None:
                found.append(chosen)
                continue
            insort(differences, missed, key=int.bit_count)
        if chosen.bit_count() < arity:
            stack += [chosen | 1 << row for row in _members(missed)]
    minimal = [mask for mask in found if not any(other != mask and other & mask == other for other in found)]
    sets = sorted((frozenset(row + 1 for row in _members(mask)) for mask in minimal), key=sorted)
    return DeterminingSets(found=tuple(sets), complete=not stack)


def _members(mask: int) -> list[int]:
    rows = []
    while mask:
        low = mask & -mask
        rows.append(low.bit_length() - 1)
        mask ^= low
    return rows


def alternatives(one: Trace, position: int, arity: int, clock: Clock | None = None) -> Alternatives:
    """Wirings of one step, by the table they ask for; none when no set of `arity` positions determines it.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    needed, known = determining_sets(one, position, arity, clock)
    spare = sum((position - 1) ** (arity - len(chosen)) for chosen in needed)
    most = min(MAX_WIRINGS, 8 * MAX_BYTES // one.symbols ** (arity + 1))
    complete = known and spare <= most
    candidates = _filled(needed, range(1, position), arity) if complete else plain_wirings(one, position, arity, clock)
    clock = clock or Clock()
    wirings: dict[Table, list[tuple[int, ...]]] = {}
    for wiring in candidates if complete else itertools.islice(candidates, max(1, most)):
        clock.check(look_steps(one, arity))
        wirings.setdefault(table_of(one, position, wiring), []).append(wiring)
    return Alternatives(wirings=wirings, complete=complete)


def plain_wirings(one: Trace, position: int, arity: int, clock: Clock | None = None) -> Iterator[tuple[int, ...]]:
    """Wirings of one step, slots that it has no need of filled with needed and constant positions only.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    for chosen in determining_sets(one, position, arity, clock).found:
        yield from _filled([chosen], sorted({*chosen, *constants(one, position)}) or [1], arity)


def _filled(needed: Iterable[frozenset[int]], fillers: Iterable[int], arity: int) -> Iterator[tuple[int, ...]]:
    done: set[tuple[int, ...]] = set()
    for chosen in needed:
        for fill in itertools.combinations_with_replacement(fillers, arity - len(chosen)):
            places = tuple(sorted((*chosen, *fill)))
            if places not in done:
                done.add(places)
                yield from sorted(set(itertools.permutations(places)))


def constants(one: Trace, position: int) -> list[int]:
    """The last position of every token that some position before the step has in all inputs.

    The last: when operands are padded it does not move with the scale.
    """
    before = one.tokens[: position - 1]
    rows = np.flatnonzero((before == before[:, :1]).all(axis=1))
    return sorted({int(before[row, 0]): int(row) + 1 for row in rows}.values())


def asked(one: Trace, position: int, wiring: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The keys that occur at a step through a wiring that determines it, and their values.

    Returns:
        int64 and uint8 [entries]; ascending and each key once where the operator is small.
    """
    keys = keys_of(one.tokens[[p - 1 for p in wiring]], one.symbols)
    output = one.tokens[position - 1]
    count = one.symbols ** len(wiring)
    if count > len(keys) * 16:  # then marking all keys costs more than it saves
        return keys, output
    table = np.full(count, 255, dtype=np.uint8)
    table[keys] = output
    distinct = np.flatnonzero(table != 255)
    return distinct, table[distinct]


def table_of(one: Trace, position: int, wiring: Sequence[int]) -> Table:
    """The partial table that a step asks for through a wiring."""
    codes = keys_of(one.tokens[[p - 1 for p in wiring]], one.symbols) * one.symbols + one.tokens[position - 1]
    # Where there are few codes counting them is faster than sorting.
    few = one.symbols ** (len(wiring) + 1) <= len(codes)
    return as_table(np.flatnonzero(np.bincount(codes)) if few else distinct(codes))


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The different values, ascending: as np.unique, which hashes numbers, far slower where most differ (numpy 2.4)."""
    ordered = np.sort(values)
    once: NDArray[Any] = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return once


def as_table(bits: NDArray[np.int64]) -> Table:
    """The table of ascending numbers key * symbols + value."""
    mask = np.zeros(int(bits[-1]) + 1, dtype=bool)
    mask[bits] = True
    return _bits(mask)


def entries(table: Table, symbols: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys on which a table is defined, ascending, and its values there: int64 [entries] each."""
    content = table.to_bytes(-(-table.bit_length() // 8), "little")
    bits = np.flatnonzero(np.unpackbits(np.frombuffer(content, dtype=np.uint8), bitorder="little"))
    return bits // symbols, bits % symbols
