"""Which earlier positions can determine a step: its wirings, and the partial table that each one asks for.

A wiring of a step at arity k is an ordered tuple of k earlier positions, repeats allowed, such that the step's token
is a function of their tokens. That function, on the keys that occur, is its partial table; an operator computes the
step through the wiring iff it extends the table.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuits.task import Tokens, Trace

MAX_WIRINGS = 20_000
"""Wirings looked at for one step before the unused slots are filled from fewer positions (`Alternatives.complete`)."""

Table = int
"""A partial table as a set of bits: bit key * symbols + value is set iff the table maps key to value, where key reads
the argument tokens as digits in base `symbols`, slot 1 first."""


@dataclass(frozen=True, kw_only=True)
class Alternatives:
    """All ways to compute one step at one arity.

    Attributes:
        scale, position: the step; position is 1-based.
        wirings: table -> the wirings (tuples of 1-based positions) that ask for exactly this table.
        complete: whether every wiring is there. If not, slots the step has no need of were filled only with needed
            and constant positions: any circuit made of these is valid, but a lower bound may not rest on them.
    """

    scale: int
    position: int
    wirings: dict[Table, list[tuple[int, ...]]]
    complete: bool


def keys_of(arguments: Tokens, symbols: int) -> NDArray[np.int64]:
    """Argument tokens [arity, inputs] read as numbers in base `symbols`, slot 1 first: int64 [inputs]."""
    keys = np.zeros(arguments.shape[1], dtype=np.int64)
    for row in arguments:
        keys = keys * symbols + row
    return keys


def _groups(rows: Tokens) -> NDArray[np.int64]:
    """Numbers that are equal where the tokens of all rows are: int64 [inputs], for any number of rows."""
    groups = np.zeros(rows.shape[1], dtype=np.int64)
    for row in rows:
        groups = np.unique(groups * 256 + row, return_inverse=True)[1]
    return groups


def determining_sets(trace: Trace, position: int, arity: int) -> list[frozenset[int]]:
    """Sets of at most `arity` positions that determine the step's token, on the inputs of the trace.

    Complete in this sense: every determining set of that size contains one of those found. Two inputs with different
    tokens at the step must differ at some member of every determining set; the search finds such a pair that the
    current set misses, and branches on the positions where the pair differs.
    """
    before = trace.tokens[: position - 1]
    output = trace.tokens[position - 1]
    first, second = trace.near[output[trace.near[:, 0]] != output[trace.near[:, 1]]].T
    differs = before[:, first] != before[:, second]
    found: list[frozenset[int]] = []
    seen: set[frozenset[int]] = set()

    def missed(chosen: frozenset[int]) -> NDArray[np.intp] | None:
        """Rows (0-based) where some missed pair differs, few where possible; None when no pair is missed."""
        rows = sorted(row - 1 for row in chosen)
        near = np.flatnonzero(~differs[rows].any(axis=0))
        if near.size:
            return np.flatnonzero(differs[:, near[np.argmin(differs[:, near].sum(axis=0))]])
        keys = _groups(before[rows])
        order = np.lexsort((output, keys))
        clash = (keys[order[1:]] == keys[order[:-1]]) & (output[order[1:]] != output[order[:-1]])
        if not clash.any():
            return None
        pairs = np.flatnonzero(clash)[:64]
        unequal = before[:, order[pairs]] != before[:, order[pairs + 1]]
        return np.flatnonzero(unequal[:, np.argmin(unequal.sum(axis=0))])

    def search(chosen: frozenset[int]) -> None:
        if chosen in seen:
            return
        seen.add(chosen)
        rows = missed(chosen)
        if rows is None:
            found.append(chosen)
        elif len(chosen) < arity:
            for row in rows:
                search(chosen | {int(row) + 1})

    search(frozenset())
    return [candidate for candidate in found if not any(other < candidate for other in found)]


def alternatives(trace: Trace, position: int, arity: int, symbols: int) -> Alternatives:
    """Every wiring of one step, by the table it asks for; none when no set of `arity` positions determines it."""
    needed = determining_sets(trace, position, arity)
    before = range(1, position)
    spare = sum((position - 1) ** (arity - len(chosen)) for chosen in needed)
    complete = spare <= MAX_WIRINGS
    constant = [p for p in before if (trace.tokens[p - 1] == trace.tokens[p - 1, 0]).all()]
    output = trace.tokens[position - 1].astype(np.int64)
    wirings: dict[Table, list[tuple[int, ...]]] = {}
    done: set[tuple[int, ...]] = set()
    for chosen in needed:
        fillers = list(before) if complete else sorted({*chosen, *constant[:2]}) or [1]
        for fill in itertools.combinations_with_replacement(fillers, arity - len(chosen)):
            for wiring in set(itertools.permutations((*chosen, *fill))):
                if wiring not in done:
                    done.add(wiring)
                    rows = trace.tokens[[p - 1 for p in wiring]]
                    bits = _distinct(keys_of(rows, symbols) * symbols + output, symbols ** (arity + 1))
                    wirings.setdefault(_as_table(bits), []).append(wiring)
    return Alternatives(scale=trace.scale, position=position, wirings=wirings, complete=complete)


def _distinct(values: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """The distinct values, all below `bound`; counting is faster than sorting where the bound is small."""
    return np.flatnonzero(np.bincount(values)) if bound <= len(values) else np.unique(values)


def _as_table(bits: NDArray[np.int64]) -> Table:
    mask = np.zeros(int(bits[-1]) + 1, dtype=bool)
    mask[bits] = True
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def entries(table: Table, symbols: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys on which a table is defined, ascending, and its values there: int64 [entries] each."""
    content = table.to_bytes(-(-table.bit_length() // 8), "little")
    bits = np.flatnonzero(np.unpackbits(np.frombuffer(content, dtype=np.uint8), bitorder="little"))
    return bits // symbols, bits % symbols
