"""Kinds and volumes are exact: against counting formulas, inclusion and exclusion."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stirling2

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.enumeration import cell_count, every_pattern, every_relation, kinds, union_volume
from lengthgen.theory.lrc import lrc
from lengthgen.theory.relation import NO_LABEL

Box = tuple[tuple[Fraction, Fraction], ...]


def _kind_of(entries: tuple[int, ...]) -> tuple[int, ...]:
    numbers = {0: 0}
    return tuple(numbers.setdefault(entry, len(numbers)) for entry in entries)


@pytest.mark.parametrize("cells", range(6))
def test_kinds_are_what_tuples_become_when_values_are_numbered_by_first_use(cells: int) -> None:
    listed = list(kinds(cells))
    assert len(listed) == len(set(listed))
    assert set(listed) == {_kind_of(entries) for entries in product(range(cells + 1), repeat=cells)}


@pytest.mark.parametrize("cells", range(8))
def test_kinds_with_k_values_are_counted_by_stirling_numbers(cells: int) -> None:
    counts = Counter(max(kind, default=0) for kind in kinds(cells))
    assert counts == {k: int(stirling2(cells + 1, k + 1, exact=True)) for k in range(cells + 1)}


@pytest.mark.parametrize(("size", "bell"), [(1, 1), (2, 5), (3, 203)])
def test_every_relation_is_listed_once(size: int, bell: int) -> None:
    upper = np.triu_indices(size)
    listed = list(every_relation(size))
    same = {tuple(map(tuple, np.equal.outer(labels[upper], labels[upper]))) for labels in listed}
    assert len(listed) == len(same) == bell
    assert all((labels[np.tril_indices(size, -1)] == NO_LABEL).all() for labels in listed)


def test_every_pattern_is_listed_once() -> None:
    listed = every_pattern(2, (0, -1, 5))
    wanted = {(a, b, 0, d) for a, b, d in product((0, -1, 5), repeat=3)}
    assert len(listed) == len(wanted) == 3 ** cell_count(2)
    assert {tuple(pattern.ravel()) for pattern in listed} == wanted


@pytest.mark.parametrize("cells", [3, 6])
def test_a_kind_with_its_numbers_for_values_has_that_lrc(cells: int) -> None:
    size = {3: 2, 6: 3}[cells]
    for kind in kinds(cells):
        pattern = np.zeros((size, size), dtype=int)
        pattern[np.triu_indices(size)] = kind
        assert lrc(pattern) == len(set(kind) - {0})


def _by_inclusion_and_exclusion(boxes: list[Box]) -> Fraction:
    total = Fraction()
    for count in range(1, len(boxes) + 1):
        for chosen in combinations(boxes, count):
            sides = [min(high for _, high in axis) - max(low for low, _ in axis) for axis in zip(*chosen, strict=True)]
            total -= (-1) ** count * math.prod((max(side, Fraction()) for side in sides), start=Fraction(1))
    return total


@settings(max_examples=30)
@given(data=st.data())
def test_union_volume_is_that_of_inclusion_and_exclusion(data: st.DataObject) -> None:
    dimension = data.draw(st.integers(1, 4))
    numbers = st.fractions(-3, 3, max_denominator=6)
    centres = data.draw(st.lists(st.tuples(*[numbers] * dimension), min_size=1, max_size=5))
    radius, half = (data.draw(st.fractions(Fraction(1, 12), 3, max_denominator=12)) for _ in range(2))
    boxes = [tuple((max(at - radius, -half), min(at + radius, half)) for at in centre) for centre in centres]
    assert union_volume(centres, radius=radius, half_side=half) == _by_inclusion_and_exclusion(boxes)


def test_the_volume_of_disjoint_boxes_is_theirs() -> None:
    corners = list(product((0, 1), repeat=3))
    assert union_volume(corners, radius=Fraction(1, 10), half_side=Fraction(2)) == 8 * Fraction(1, 5) ** 3
    assert union_volume(corners, radius=Fraction(1, 10), half_side=Fraction(1)) == Fraction(1, 5) ** 3 * Fraction(27, 8)


@pytest.mark.parametrize(
    ("centres", "radius", "half", "says"),
    [
        ([], 1, 1, "one or more points"),
        ([(0,), (0, 1)], 1, 1, "points of the same dimension"),
        ([(0,)], 0, 1, "must be positive"),
        ([(0,)], 1, -1, "must be positive"),
    ],
)
def test_boxes_without_a_volume_are_refused(centres: list[tuple[int, ...]], radius: int, half: int, says: str) -> None:
    with pytest.raises(LengthgenError, match=says):
        union_volume(centres, radius=Fraction(radius), half_side=Fraction(half))
