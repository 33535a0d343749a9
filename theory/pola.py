"""What position-only linear attention (POLA) learns under a relation.

Gradient descent on squared loss from zero, and equally min-norm least squares, on noise-free data that spans: the
flow decouples over labels, d theta_k / dt = -2 m_k (theta_k - mean of A over the class of k), so every label met in
training ends at the mean of its class and every other stays at 0 ([F], section 5 of docs/theory.md; arXiv 2510.04130
Thm. 2 could not be read).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def learned_matrix(target: NDArray[Any], labels: NDArray[np.int64], *, training_scale: int) -> NDArray[np.float64]:
    """The POLA matrix learned at scale n from all pairs of scale <= training_scale.

    Args:
        target: patterns A, real [..., n, n], rows keys and columns queries.
        labels: the relation's label matrix, int64 [n, n] (`Relation.labels`).
        training_scale: N0 in 1..n; training sees the pairs i <= j <= N0, equally often.

    Returns:
        float64 [..., n, n], zero below the diagonal.

    Raises:
        ValueError: the shapes differ, or training_scale is not in 1..n.
    """
    size = labels.shape[-1]
    if labels.shape != (size, size) or target.shape[-2:] != labels.shape:
        raise ValueError(f"target {target.shape} and labels {labels.shape} must end in the same [n, n]")
    if not 1 <= training_scale <= size:
        raise ValueError(f"the training scale must be in 1..{size}, not {training_scale}")
    keys, queries = np.triu_indices(size)
    classes, label_of = np.unique(labels[keys, queries], return_inverse=True)
    seen = queries < training_scale
    member = (label_of[seen, None] == np.arange(classes.size)).astype(np.float64)
    counts = member.sum(axis=0)
    sums = target[..., keys[seen], queries[seen]].astype(np.float64) @ member
    theta = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    learned = np.zeros(target.shape, dtype=np.float64)
    learned[..., keys, queries] = theta[..., label_of]
    return learned
