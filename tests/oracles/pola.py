"""POLA by slow means: relations as tuples of labels, the pseudo-inverse, tokens that are white exactly."""

import itertools

import numpy as np
from numpy.typing import NDArray

from tests.oracles.partitions import all_partitions

Matrix = NDArray[np.float64]


def pairs(size: int) -> list[tuple[int, int]]:
    """The cells of a matrix on and above its diagonal, row by row."""
    return [(i, j) for i in range(size) for j in range(i, size)]


def relations(cells: int) -> list[tuple[int, ...]]:
    """Return every relation on `cells` cells, as the label of each cell."""
    return [
        tuple(next(number for number, block in enumerate(blocks) if cell in block) for cell in range(cells))
        for blocks in map(list, all_partitions(range(cells)))
    ]


def min_norm_map(blocks: tuple[int, ...], training_scale: int, size: int) -> tuple[Matrix, list[int]]:
    """Map from training entries to all learned entries, by the pseudo-inverse; and the numbers of the former."""
    design = np.equal.outer(blocks, range(max(blocks) + 1)).astype(float)
    shown = [at for at, (_, j) in enumerate(pairs(size)) if j < training_scale]
    return design @ np.linalg.pinv(design[shown]), shown


def signs(*shape: int) -> Matrix:
    """All arrays of signs of a shape: as a uniform law, their second moments are exactly the identity."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=int(np.prod(shape))))).reshape(-1, *shape)
