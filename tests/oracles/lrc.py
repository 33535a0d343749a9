"""LRC by definition: the fewest labels in use over all relations that represent a pattern.  No code of theory."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any


@cache
def partitions(count: int) -> tuple[tuple[int, ...], ...]:
    """Every relation on `count` cells, as the block of each cell."""
    return tuple(_grown((), count))


def _grown(blocks: tuple[int, ...], count: int) -> Iterator[tuple[int, ...]]:
    if len(blocks) == count:
        yield blocks
        return
    for block in range(max(blocks, default=-1) + 2):
        yield from _grown((*blocks, block), count)


def lrc_over_all_relations(entries: Sequence[Any]) -> int:
    """Of the cells' entries: try every relation, keep those constant on their classes, count non-zero parameters."""
    fewest = len(entries)
    for blocks in partitions(len(entries)):
        theta: dict[int, Any] = {}
        if all(theta.setdefault(block, entry) == entry for block, entry in zip(blocks, entries, strict=True)):
            fewest = min(fewest, sum(value != 0 for value in theta.values()))
    return fewest


def lrc_by_level_sets(entries: Sequence[Any]) -> int:
    """By comparing each entry with those before it."""
    found: list[Any] = []
    for entry in entries:
        if entry != 0 and not any(entry == other for other in found):
            found.append(entry)
    return len(found)


def cells(scale: int) -> list[tuple[int, int]]:
    """Pairs i <= j <= scale, 1-based."""
    return [(i, j) for j in range(1, scale + 1) for i in range(1, j + 1)]
