"""PLAA by its definition, by sums over all inputs. Shares no code with theory/learning/plaa.py."""

import itertools
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

Rows = list[list[Any]]


def all_inputs(size: int) -> list[tuple[int, ...]]:
    """List {+1, -1}^N, the all-ones input first."""
    return list(itertools.product((1, -1), repeat=size))


def value(rows: Rows, signs: Sequence[int]) -> Any:
    """Value f_A(x) of the function of a matrix."""
    last = 0
    for position, sign in enumerate(signs, 1):
        if sign == -1:
            last = position
    return 0 if last == 0 else sum(rows[i][last - 1] * signs[i] for i in range(len(signs)))


@st.composite
def patterns(draw: st.DrawFn, *, entries: st.SearchStrategy[Any], size: int | None = None) -> Rows:
    """Upper triangular matrices, up to 5 x 5 unless a size is given."""
    width = size or draw(st.integers(1, 5))
    return [[draw(entries) if i <= j else 0 for j in range(width)] for i in range(width)]
