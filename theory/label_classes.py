"""Numbered classes of a label matrix: which parameter does each pair i <= j have under a relation?

Parameter k belongs to the k-th smallest label on or above the diagonal.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lengthgen.infrastructure.errors import LengthgenError

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
_SMALL = 32
"""Largest size of which the pairs are remembered."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelClasses:
    """Pairs i <= j of a label matrix, ordered by key and then query, with the parameter of each.

    Attributes:
        keys: int64 [pairs], from 0.
        queries: int64 [pairs], from 0.
        parameters: int64 [pairs], in 0..count-1.
        number: the parameter of each pair as a matrix, int64 [n, n], 0 below the diagonal.
        count: K, the number of labels that occur.
    """

    keys: Labels
    queries: Labels
    parameters: Labels
    number: Labels
    count: int

    def sum_by_label(self, values: Array, seen: NDArray[np.bool_]) -> Array:
        """Sum of values [..., seen pairs] over the pairs of each label: [..., K]."""
        order = np.argsort(self.parameters[seen], kind="stable")
        seen_parameters, starts = np.unique(self.parameters[seen][order], return_index=True)
        sums = np.zeros((*values.shape[:-1], self.count))
        sums[..., seen_parameters] = np.add.reduceat(values[..., order], starts, axis=-1)
        return sums


def label_classes(labels: Labels) -> LabelClasses:
    """Classes of a label matrix, int64 [n, n], read on and above the diagonal only.

    Raises:
        LengthgenError: the labels are not a square matrix, or empty.
    """
    if labels.ndim != 2 or labels.shape[0] != labels.shape[1] or not labels.size:
        raise LengthgenError(f"labels must be a square matrix, not of shape {labels.shape}")
    keys, queries = upper_pairs(len(labels))
    distinct_labels, parameters = np.unique(labels[keys, queries], return_inverse=True)
    number = np.zeros(labels.shape, dtype=np.int64)
    number[keys, queries] = parameters
    return LabelClasses(keys=keys, queries=queries, parameters=parameters, number=number, count=distinct_labels.size)


def upper_pairs(size: int) -> tuple[Labels, Labels]:
    """Keys and queries of the pairs i <= j, from 0, ordered by key and then query: int64 [pairs], not to be changed."""
    return _remembered_pairs(size) if size <= _SMALL else np.triu_indices(size)


@cache
def _remembered_pairs(size: int) -> tuple[Labels, Labels]:
    """Pairs of a small size: what is tried on all small patterns asks for them again and again."""
    pairs = np.triu_indices(size)
    for indices in pairs:
        indices.flags.writeable = False
    return pairs
