"""All relations and all patterns of a small size, and the exact size of sets of patterns: number, dimension, volume.

LRC and the learners that start from zero depend only on which entries of a pattern are equal and which are zero. The
patterns with the same such equalities, with k distinct non-zero values, are an open dense part of a linear space of
dimension k. So finitely many equality types, listed here, stand for all real patterns [F].
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, product
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.relation import NO_LABEL, Labels, upper_pairs


def cell_count(size: int) -> int:
    """Number of pairs i <= j <= n, d_n = n(n+1)/2: the dimension of the space of patterns of scale n."""
    return size * (size + 1) // 2


def kinds(cells: int) -> Iterator[tuple[int, ...]]:
    """Yield every way in which `cells` entries can be zero or equal: 0 for zero, 1, 2, ... for values by first use.

    Exactly S(cells + 1, k + 1) of them have k distinct non-zero values (Stirling numbers of the second kind).
    """
    if cells == 0:
        yield ()
        return
    for entries in kinds(cells - 1):
        for entry in range(max(entries, default=0) + 2):
            yield (*entries, entry)


def every_relation(size: int) -> Iterator[Labels]:
    """Yield the label matrices, int64 [size, size], of all relations on positions 1..size, up to renaming of labels."""
    for others in kinds(cell_count(size) - 1):
        labels = np.full((size, size), NO_LABEL, dtype=np.int64)
        labels[upper_pairs(size)] = (0, *others)
        yield labels


def every_pattern(size: int, values: Sequence[float]) -> NDArray[np.float64]:
    """Stack of all patterns with entries among the given values: float64 [len(values) ** d_n, size, size]."""
    cells = np.array(list(product(values, repeat=cell_count(size))), dtype=np.float64)
    patterns = np.zeros((len(cells), size, size))
    patterns[:, *upper_pairs(size)] = cells
    return patterns


def union_volume(centres: Sequence[Sequence[Fraction | int]], *, radius: Fraction, half_side: Fraction) -> Fraction:
    """Exact volume of a union of boxes within a cube, all in R^D with the max norm.

    The volume is vol( {y: |y - c| <= radius for some centre c} intersected with [-half_side, half_side]^D ). The ends
    of the boxes cut every axis into intervals, and each cell of that grid lies entirely inside or outside a box.

    Args:
        centres: at least one point of R^D; time and memory grow like (2 len(centres) + 1)^D at worst.
        radius: half the side of a box, positive.
        half_side: half the side of the cube, positive.

    Raises:
        LengthgenError: no centre, centres of different lengths, or a radius or half_side that is not positive.
    """
    if radius <= 0 or half_side <= 0:
        raise LengthgenError(f"boxes of radius {radius} in a cube of half side {half_side}: both must be positive")
    if len({len(centre) for centre in centres}) != 1:
        raise LengthgenError("the centres of the boxes must be one or more points of the same dimension")
    # Multiplied by the common denominator all lengths are integers, which are much faster than Fractions.
    scale = lcm(*(length.denominator for length in chain((radius, half_side), *centres)))
    reach, edge = int(radius * scale), int(half_side * scale)
    cuts, covered = [], []
    for coordinates in zip(*centres, strict=True):
        middles = [int(x * scale) for x in coordinates]
        ends = [tuple(min(max(end, -edge), edge) for end in (x - reach, x + reach)) for x in middles]
        axis = sorted({-edge, edge}.union(*ends))
        index_of_cut = {cut: index for index, cut in enumerate(axis)}
        cuts.append(axis)
        covered.append([slice(index_of_cut[low], index_of_cut[high]) for low, high in ends])
    inside = np.zeros([len(axis) - 1 for axis in cuts], dtype=bool)
    for box in zip(*covered, strict=True):
        inside[box] = True
    volume: Any = inside.astype(object)
    for axis in reversed(cuts):
        volume = volume @ np.diff(np.array(axis, dtype=object))
    return Fraction(volume, scale ** len(cuts))
