"""How much time does one pass over the pairs save, and how much do exactness and safety from untrusted text cost?"""

import numpy as np
import sympy

from bench.measure import TimingComparison, compare
from lengthgen.theory.lrc import profile
from lengthgen.theory.pattern import from_formula

SCALES = 2_000
COMPARED = 200
LONG = 1_000_000


def one_pass_against_one_per_scale() -> TimingComparison:
    """LRC of a formula at all scales 1..200, against a new count at each scale."""
    pattern = from_formula("min(j - i, 5) + i % 3")
    matrix = pattern.numeric(COMPARED)

    def new_counts() -> list[int]:
        return [
            np.count_nonzero(np.unique(matrix[:scale, :scale][np.triu_indices(scale)]))
            for scale in range(1, COMPARED + 1)
        ]

    return compare(
        f"LRC of a formula at all scales 1..{COMPARED}",
        lambda: profile(pattern, COMPARED),
        "numpy.unique at each scale, its matrix ready",
        new_counts,
    )


def all_scales_against_the_last() -> TimingComparison:
    """LRC of a formula in two positions at all 2,000 scales, against the last scale alone in floats."""
    pattern = from_formula("min(j - i, 5) + i % 3")

    def last() -> int:
        keys, queries = np.triu_indices(SCALES)
        return np.count_nonzero(np.unique(np.minimum(queries - keys, 5.0) + (keys + 1.0) % 3))

    return compare(
        f"LRC of a formula at all scales 1..{SCALES:,}, exactly",
        lambda: profile(pattern, SCALES),
        f"numpy.unique at scale {SCALES:,} alone, in floats",
        last,
    )


def long_distance_against_numpy() -> TimingComparison:
    """LRC of a Toeplitz formula at scale 10^6, exact, against numpy on the million distances in floats."""
    pattern = from_formula("(j - i) % 1000 + min(j - i, 500000)")

    def floats() -> int:
        distance = np.arange(float(LONG))
        return np.count_nonzero(np.unique(distance % 1000 + np.minimum(distance, 500_000)))

    return compare(
        f"LRC of a Toeplitz formula at all scales 1..{LONG:,}, exactly",
        lambda: profile(pattern, LONG),
        "numpy.unique of its distances, in floats",
        floats,
    )


def compiled_against_sympy() -> TimingComparison:
    """Decay pattern at scale 40, exact on both sides; sympy is not safe for untrusted text."""
    pattern = from_formula("0.5**(j-i)")
    i, j = sympy.symbols("i j")
    expression = sympy.Rational(1, 2) ** (j - i)

    def with_sympy() -> list[sympy.Expr]:
        return [expression.subs({i: key, j: query}) for query in range(1, 41) for key in range(1, query + 1)]

    return compare("exact entries of 0.5**(j-i) at scale 40", lambda: pattern.matrix(40), "sympy's subs", with_sympy)
