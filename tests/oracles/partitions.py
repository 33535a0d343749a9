"""The partition lattice by definition, over frozensets: order by containment of blocks, bounds by looking through all.

Cells are tuples (i, j) or (i, j, n). Shares no code with lengthgen.theory.lattice and lengthgen.theory.generalization.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

Cell = tuple[int, ...]
Partition = frozenset[frozenset[Any]]


def cells(scale: int, *, hinted: bool) -> list[Cell]:
    """Return all cells of scales up to one, in the order of scale, query and key."""
    if hinted:
        return [(i, j, n) for n in range(1, scale + 1) for j in range(1, n + 1) for i in range(1, j + 1)]
    return [(i, j) for j in range(1, scale + 1) for i in range(1, j + 1)]


def all_partitions(elements: Sequence[Hashable]) -> Iterator[Partition]:
    """Every set partition: the block of the first element is any set that holds it, the rest is partitioned again."""
    if not elements:
        yield frozenset()
        return
    head, *rest = elements
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            block = frozenset((head, *others))
            for partition in all_partitions([element for element in rest if element not in block]):
                yield partition | {block}


def partition_by(elements: Iterable[Any], label: Callable[[Any], Hashable]) -> Partition:
    """Partition of the elements by the label that they have."""
    blocks: dict[Hashable, set[Any]] = {}
    for element in elements:
        blocks.setdefault(label(element), set()).add(element)
    return frozenset(frozenset(block) for block in blocks.values())


def refines(fine: Partition, coarse: Partition) -> bool:
    """True if every block of `fine` lies in a block of `coarse`."""
    return all(any(block <= larger for larger in coarse) for block in fine)


class Lattice:
    """All partitions of a few elements, with greatest lower and least upper bounds found by looking through all."""

    def __init__(self, elements: Sequence[Hashable]) -> None:
        self.partitions = list(all_partitions(elements))
        self._below = {p: frozenset(q for q in self.partitions if refines(q, p)) for p in self.partitions}
        self._above = {p: frozenset(q for q in self.partitions if refines(p, q)) for p in self.partitions}
        # A bound is greatest (least) iff what lies below (above) it is just what lies below (above) both.
        self._of_below = {below: p for p, below in self._below.items()}
        self._of_above = {above: p for p, above in self._above.items()}

    def meet(self, first: Partition, second: Partition) -> Partition:
        return self._of_below[self._below[first] & self._below[second]]

    def join(self, first: Partition, second: Partition) -> Partition:
        return self._of_above[self._above[first] & self._above[second]]
