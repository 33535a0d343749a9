"""Does counting the values of a big pattern in tiles pay, against numpy and pandas on its upper triangle?

The triangle is extracted beforehand, and that is not timed. np.unique and pandas.unique are timed on a million of its
entries, and the faster one is the alternative.
"""

import tracemalloc
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from bench.measure import Comparison
from theory.distinct import new_values_per_query

Values = NDArray[np.int64]
SIZE = 20_000
BAND = 500
SAMPLE = 10**6


def window_pattern() -> Comparison:
    """64 values in a band along the diagonal, 0 elsewhere."""
    return _compare("a window of 64", lambda i, j: np.where(j - i < 64, j - i + 1, 0), rounds=5)


def relative_pattern() -> Comparison:
    """j - i, a value for each diagonal."""
    return _compare("j - i", lambda i, j: j - i, rounds=5)


def small_range() -> Comparison:
    """0 to 999 at random places."""
    rng = np.random.default_rng(0)
    return _compare("random below 1,000", lambda i, j: rng.integers(1_000, size=(i.size, j.size)), rounds=5)


def few_wide_values() -> Comparison:
    """1,000 values of 63 bits, at random places."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 2**63, size=1_000)
    return _compare(
        "1,000 values of 63 bits", lambda i, j: values[rng.integers(values.size, size=(i.size, j.size))], rounds=5
    )


def all_different() -> Comparison:
    """Random numbers of 63 bits, hardly any two equal; at 20,000 the alternative would take more than 8 GB."""
    rng = np.random.default_rng(0)
    return _compare(
        "random numbers, all different",
        lambda i, j: rng.integers(1, 2**63, size=(i.size, j.size)),
        rounds=1,
        size=10_000,
    )


def _compare(name: str, entries: Callable[[Values, Values], Values], *, rounds: int, size: int = SIZE) -> Comparison:
    """Ours on the matrix, theirs on its triangle, in turn; the matrix is given up before a single long round."""
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
    peak = _peak(lambda: new_values_per_query(matrix))
    if rounds == 1:
        matrix = matrix[:1, :1].copy()  # its memory is what the alternative then needs
        theirs.append(_seconds(lambda: alternatives[fastest](triangle)))
    return Comparison(
        question=f"distinct values of a pattern at {size:,}, {name}, in {peak / 1e6:.0f} MB",
        ours=median(ours),
        alternative=fastest,
        theirs=median(theirs),
    )


def _matrix(entries: Callable[[Values, Values], Values], size: int) -> Values:
    matrix = np.zeros((size, size), dtype=np.int64)
    queries = np.arange(size)
    for top in range(0, size, BAND):
        keys = queries[top : top + BAND, None]
        band = matrix[top : top + BAND, top:]
        band[:] = entries(keys, queries[top:])
        band[:, :BAND] = np.triu(band[:, :BAND])
    return matrix


def _seconds(function: Callable[[], object]) -> float:
    start = perf_counter()
    function()
    return perf_counter() - start


def _peak(function: Callable[[], object]) -> int:
    """The most bytes that numpy held at a time while the function ran."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
