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
    """Least LRC over all relations: keep those constant on their classes, and count non-zero parameters."""
    fewest = len(entries)
    for blocks in partitions(len(entries)):
        theta: dict[int, Any] = {}
        if all(theta.setdefault(block, entry) == entry for block, entry in zip(blocks, entries, strict=True)):
            fewest = min(fewest, sum(value != 0 for value in theta.values()))
    return fewest


def lrc_by_level_sets(entries: Sequence[Any]) -> int:
    """LRC as the number of distinct non-zero entries, each compared with those before it."""
    distinct: list[Any] = []
    for entry in entries:
        if entry != 0 and not any(entry == other for other in distinct):
            distinct.append(entry)
    return len(distinct)


def cells(scale: int) -> list[tuple[int, int]]:
    """Return the pairs i <= j <= scale, 1-based."""
    return [(i, j) for j in range(1, scale + 1) for i in range(1, j + 1)]
