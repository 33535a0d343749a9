"""The encodings on which the bias of PLAA is decided: some keep degrees apart on every training set, some mix them."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from theory import relation
from theory.min_degree import PositionBasis, position_basis, relation_basis
from theory.rational import rank

NamedBasis = tuple[str, PositionBasis]


def separated_bases(size: int) -> tuple[NamedBasis, ...]:
    """Encodings whose functions of different degree the training set keeps apart at every scale."""
    bands = [np.eye(size, k=offset, dtype=np.int64) for offset in range(size)]
    relations = (relation.absolute(), relation.relative(), relation.clipped_relative(1), relation.constant())
    return (
        *((law.name, relation_basis(law.labels(size))) for law in relations),
        ("nested windows", position_basis(np.cumsum(bands, axis=0))),
        ("a band and the prefix sum", position_basis([bands[0], np.triu(np.ones((size, size), dtype=np.int64))])),
    )


def mixed_bases(size: int) -> tuple[NamedBasis, ...]:
    """Encodings whose functions of different degree become dependent on some training set."""
    first, second = (np.diag(row) for row in np.eye(size, dtype=np.int64)[:2])
    return (("two cells and the diagonal", position_basis([first, second, np.eye(size, dtype=np.int64)])),)


def small_bases() -> Iterator[PositionBasis]:
    """Every basis of 0/1 diagonals at N = 3 and of one or two matrices at N = 2, and some encodings at N = 4."""
    diagonals = [np.diag(entries) for entries in product((0, 1), repeat=3) if any(entries)]
    squares = [np.array([[a, b], [0, c]]) for a, b, c in product((0, 1, 2), repeat=3) if a or b or c]
    for matrices, most in ((diagonals, 3), (squares, 2)):
        for size in range(1, most + 1):
            for chosen in combinations(matrices, size):
                if rank([matrix.ravel() for matrix in chosen]) == size:
                    yield position_basis(chosen)
    for _, basis in (*separated_bases(4), *mixed_bases(4)):
        yield basis
    bands = [np.eye(4, k=offset, dtype=np.int64) for offset in range(4)]
    yield position_basis([bands[0], bands[2], bands[0] + bands[2] + bands[3]])


def shown(basis: PositionBasis) -> str:
    """The matrices in one line."""
    return f"U = {[[[str(entry) for entry in row] for row in matrix] for matrix in basis.matrices]}".replace("'", "")
