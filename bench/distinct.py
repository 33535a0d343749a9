"""How fast is counting the values of a large pattern, block by block, beside numpy and pandas on its upper triangle?

The extraction of the triangle is not timed.  The alternative is the faster of np.unique and pandas.unique, timed on a
million entries.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from bench.measure import TimingComparison
from lengthgen.theory.distinct import new_values_per_query

Values = NDArray[np.int64]
SIZE = 20_000
BAND = 500
SAMPLE = 10**6


def window_pattern() -> TimingComparison:
    """Pattern with 64 values in a band along the diagonal, 0 elsewhere."""
    return _against_unique("a window of 64", lambda i, j: np.where(j - i < 64, j - i + 1, 0), rounds=5)


def few_wide_values() -> TimingComparison:
    """Random choice among 1,000 values of 63 bits."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 2**63, size=1_000)
    return _against_unique(
        "1,000 values of 63 bits", lambda i, j: values[rng.integers(values.size, size=(i.size, j.size))], rounds=5
    )


def all_different() -> TimingComparison:
    """Random numbers of 63 bits, almost all different, so that each is kept."""
    rng = np.random.default_rng(0)
    return _against_unique(
        "random numbers, all different",
        lambda i, j: rng.integers(1, 2**63, size=(i.size, j.size)),
        rounds=1,
        size=4_000,
    )


def _against_unique(
    name: str, entries: Callable[[Values, Values], Values], *, rounds: int, size: int = SIZE
) -> TimingComparison:
    """Comparison of the matrix count with a count of its triangle; for one round, the matrix is freed first."""
    import pandas as pd

    matrix = _matrix(entries, size)
    triangle = np.concatenate([matrix[i, i:] for i in range(size)])
    alternatives: dict[str, Callable[[Values], object]] = {"numpy.unique": np.unique, "pandas.unique": pd.unique}
    fastest = min(alternatives, key=lambda key: _seconds(lambda: alternatives[key](triangle[:SAMPLE])))
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        ours.append(_seconds(lambda: new_values_per_query(matrix)))
        if rounds > 1:
            theirs.append(_seconds(lambda: alternatives[fastest](triangle)))
    if rounds == 1:
        matrix = matrix[:1, :1].copy()  # free the memory that the alternative needs
        theirs.append(_seconds(lambda: alternatives[fastest](triangle)))
    return TimingComparison(
        question=f"distinct values of a pattern at {size:,}, {name}",
        ours=tuple(ours),
        alternative=fastest,
        theirs=tuple(theirs),
    )


def _matrix(entries: Callable[[Values, Values], Values], size: int) -> Values:
    """Upper triangular matrix of the entries, made in bands of rows."""
    matrix = np.zeros((size, size), dtype=np.int64)
    queries = np.arange(size)
    for start in range(0, size, BAND):
        keys = queries[start : start + BAND, None]
        band = matrix[start : start + BAND, start:]
        band[:] = entries(keys, queries[start:])
        band[:, :BAND] = np.triu(band[:, :BAND])
    return matrix


def _seconds(function: Callable[[], object]) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start
