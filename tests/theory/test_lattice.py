"""Refinement, meet, join and coarsening are those of the partition lattice, held to partitions of up to 6 cells."""

from collections.abc import Callable
from functools import cache
from itertools import chain, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.theory.lattice import cells_for, coarsen, equivalent, join, meet, refinement_witness, refines
from lengthgen.theory.relation import (
    Relation,
    absolute,
    clipped_relative,
    constant,
    from_function,
    from_labels,
    key_position,
    query_position,
    relative,
    t5_buckets,
)
from tests.oracles import partitions
from tests.timing import at_once

Cell = partitions.Cell
FROM_END = from_function(lambda i, j, n: n - i, name="from-end", scale_hint=True)


def relation_of(partition: partitions.Partition, scale: int, *, hinted: bool, name: str = "given") -> Relation:
    matrices = np.zeros((scale + 1, scale, scale), dtype=np.int64)
    for label, block in enumerate(sorted(map(sorted, partition), reverse=True)):
        for i, j, *n in block:
            matrices[n[0] if hinted else 0, i - 1, j - 1] = label
    if hinted:
        return from_labels({n: matrices[n] for n in range(1, scale + 1)}, name=name)
    return from_labels(matrices[0], name=name)


def partition_of(relation: Relation, scale: int, *, hinted: bool) -> partitions.Partition:
    matrices = {n: relation.labels(n, n).tolist() for n in range(1 if hinted else scale, scale + 1)}

    def label(cell: Cell) -> int:
        i, j, *n = cell
        return matrices[n[0] if hinted else scale][i - 1][j - 1]

    return partitions.partition_by(partitions.cells(scale, hinted=hinted), label)


@pytest.mark.parametrize("hinted", [False, True])
def test_cells_are_all_and_those_of_smaller_scales_come_first(hinted: bool) -> None:
    for scale in (1, 2, 5):
        cells = cells_for(relative(), FROM_END if hinted else constant(), scale=scale)
        listed = [cells[at] for at in range(cells.keys.size)]
        assert listed == partitions.cells(scale, hinted=hinted)
        for within in range(1, scale + 1):
            assert listed[: cells.count_within(within)] == partitions.cells(within, hinted=hinted)


@cache
def lattice_of(scale: int, *, hinted: bool) -> partitions.Lattice:
    return partitions.Lattice(partitions.cells(scale, hinted=hinted))


domains = pytest.mark.parametrize(("scale", "hinted"), [(3, False), (2, True)], ids=["pairs", "triples"])


def some(lattice: partitions.Lattice) -> list[partitions.Partition]:
    """Partitions whose blocks have all possible sizes: of each list of sizes the first and the last of the lattice."""
    sizes = [tuple(sorted(map(len, partition))) for partition in lattice.partitions]
    first = {size: at for at, size in reversed([*enumerate(sizes)])}
    last = {size: at for at, size in enumerate(sizes)}
    return [lattice.partitions[at] for at in sorted({*first.values(), *last.values()})]


def test_there_are_as_many_partitions_as_bell_says() -> None:
    pairs, triples = lattice_of(3, hinted=False), lattice_of(2, hinted=True)
    assert (len(pairs.partitions), len(triples.partitions)) == (203, 15)
    assert (len(some(pairs)), len(some(triples))) == (20, 8)


@domains
def test_a_relation_refines_another_where_each_class_lies_in_a_class(scale: int, hinted: bool) -> None:
    lattice = lattice_of(scale, hinted=hinted)
    relations = {p: relation_of(p, scale, hinted=hinted) for p in lattice.partitions}
    block_of = {p: {cell: block for block in p for cell in block} for p in lattice.partitions}
    chosen = some(lattice)
    for fine, coarse in chain(product(chosen, lattice.partitions), product(lattice.partitions, chosen)):
        witness = refinement_witness(relations[fine], relations[coarse], scale=scale)
        if partitions.refines(fine, coarse):
            assert witness is None
        else:
            first, second = witness
            assert block_of[fine][first] is block_of[fine][second]
            assert block_of[coarse][first] is not block_of[coarse][second]


@domains
def test_the_meet_is_the_greatest_lower_bound(scale: int, hinted: bool) -> None:
    lattice = lattice_of(scale, hinted=hinted)
    relations = {p: relation_of(p, scale, hinted=hinted) for p in lattice.partitions}
    for first, second in product(some(lattice), lattice.partitions):
        bound = meet(relations[first], relations[second])
        assert partition_of(bound, scale, hinted=hinted) == lattice.meet(first, second)


@domains
def test_the_join_is_the_least_upper_bound(scale: int, hinted: bool) -> None:
    lattice = lattice_of(scale, hinted=hinted)
    relations = {p: relation_of(p, scale, hinted=hinted) for p in lattice.partitions}
    for first, second in product(some(lattice), repeat=2):
        bound = join(relations[first], relations[second], scale=scale)
        assert partition_of(bound, scale, hinted=hinted) == lattice.join(first, second)


@st.composite
def relations(draw: st.DrawFn, scale: int = 4) -> Relation:
    """Relations of a few labels, with or without scale hint, whose integers are of no order."""
    labels = st.integers(0, draw(st.integers(0, 7)))
    matrices = st.lists(st.lists(labels, min_size=scale, max_size=scale), min_size=scale, max_size=scale)
    if draw(st.booleans()):
        return from_labels({n: draw(matrices) for n in range(1, scale + 1)}, name="hinted")
    return from_labels(draw(matrices), name="plain")


def joined(phi: Relation, psi: Relation) -> Relation:
    return join(phi, psi, scale=4)


def same(phi: Relation, psi: Relation) -> bool:
    return equivalent(phi, psi, scale=4)


@settings(max_examples=30)
@given(a=relations(), b=relations(), c=relations())
def test_meet_and_join_are_commutative_associative_idempotent_and_absorbing(
    a: Relation, b: Relation, c: Relation
) -> None:
    for operation, dual in ((meet, joined), (joined, meet)):
        assert same(operation(a, b), operation(b, a))
        assert same(operation(operation(a, b), c), operation(a, operation(b, c)))
        assert same(operation(a, a), a)
        assert same(operation(a, dual(a, b)), a)


@settings(max_examples=30)
@given(a=relations(), b=relations(), c=relations())
def test_meet_and_join_give_the_same_order(a: Relation, b: Relation, c: Relation) -> None:
    for fine, coarse in ((a, b), (meet(a, b), a), (a, joined(a, b)), (meet(a, c), joined(b, c))):
        below = refines(fine, coarse, scale=4)
        assert below == same(meet(fine, coarse), fine) == same(joined(fine, coarse), coarse)
    assert refines(meet(a, b), a, scale=4)
    assert refines(a, joined(a, b), scale=4)


@given(a=relations(), modulus=st.integers(1, 5))
def test_coarsening_merges_labels_by_function_and_by_mapping_alike(a: Relation, modulus: int) -> None:
    by_function = coarsen(a, lambda label: label % modulus, name="modulo")
    by_mapping = coarsen(a, {label: label % modulus for label in range(8)}, name="modulo")
    for n in range(1, 5):
        labels = a.labels(n, n)
        expected = np.where(labels < 0, labels, labels % modulus)
        np.testing.assert_array_equal(by_function.labels(n, n), expected)
        np.testing.assert_array_equal(by_mapping.labels(n, n), expected)
    assert refines(a, by_function, scale=4)


@given(a=relations(), b=relations())
def test_every_coarser_relation_is_a_coarsening(a: Relation, b: Relation) -> None:
    coarse = joined(a, b)
    fine_cells = cells_for(a, coarse, scale=4)
    image = dict(zip(fine_cells.labels(a).tolist(), fine_cells.labels(coarse).tolist(), strict=True))
    assert same(coarsen(a, image, name="image"), coarse)


CHAINS = [
    (absolute(), relative()),
    (absolute(), key_position()),
    (relative(), clipped_relative(5)),
    (clipped_relative(5), clipped_relative(2)),
    (relative(), t5_buckets(8, 16)),
    (t5_buckets(8, 16), clipped_relative(4)),
    (clipped_relative(0), constant()),
]


@pytest.mark.parametrize(("fine", "coarse"), CHAINS, ids=[f"{a.name} <= {b.name}" for a, b in CHAINS])
def test_standard_relations_refine_as_they_should(fine: Relation, coarse: Relation) -> None:
    assert refines(fine, coarse, scale=30)
    assert refines(coarse, fine, scale=30) == (fine.name == "clipped-0")


def test_any_two_of_key_query_and_distance_determine_the_pair() -> None:
    for phi, psi in ((key_position(), query_position()), (key_position(), relative()), (query_position(), relative())):
        assert equivalent(meet(phi, psi), absolute(), scale=40)


def test_key_and_query_together_join_all_pairs() -> None:
    assert equivalent(join(key_position(), query_position(), scale=12), constant(), scale=12)


def test_with_a_scale_hint_the_scale_can_separate_one_pair() -> None:
    first, second = refinement_witness(absolute(), FROM_END, scale=6)
    assert (first, second) == ((1, 1, 1), (1, 1, 2))
    assert refines(meet(absolute(), FROM_END), FROM_END, scale=6)
    assert equivalent(join(absolute(), FROM_END, scale=6), constant(), scale=6)


def test_a_witness_is_the_first_cell_that_is_separated() -> None:
    assert refinement_witness(clipped_relative(2), relative(), scale=9) == ((1, 3), (1, 4))
    assert refinement_witness(clipped_relative(2), relative(), scale=3) is None


def test_a_join_can_be_coarser_up_to_a_greater_scale_and_knows_its_own() -> None:
    phi = from_function(lambda i, j: j if j < 3 else 0, name="phi")
    psi = from_function(lambda i, j: (i, 5)[j == 3 or (i, j) == (1, 1)], name="psi")
    short, long = (join(phi, psi, scale=scale) for scale in (2, 4))
    assert not equivalent(short, long, scale=2)
    with pytest.raises(LengthgenError, match=r"positions 1\.\.2, not 3"):
        short.labels(3)


def test_joined_labels_are_numbered_by_first_use() -> None:
    backwards = coarsen(relative(), lambda label: 9 - label, name="backwards")
    for relation in (relative(), backwards):
        assert join(relation, relation, scale=4).labels(4)[0].tolist() == [0, 1, 2, 3]
    assert join(query_position(), query_position(), scale=3).labels(3)[:, 2].tolist() == [2, 2, 2]


def test_labels_just_below_the_bound_are_paired_and_above_it_are_refused() -> None:
    fits, bursts = 3_037_000_498, 3_037_000_499  # (fits + 1)^2 <= 2^63 < (bursts + 1)^2

    def with_label(label: int) -> Relation:
        return Relation(name="large", law=lambda key, query, _: np.full_like(key, label))

    for label in (fits, bursts):
        assert ((label + 1) ** 2 <= 2**63) == (label == fits)
    assert meet(with_label(fits), with_label(fits)).labels(1)[0, 0] == (fits + 1) ** 2 - 1
    for phi, psi in ((bursts, 0), (0, bursts), (2**62, 2**62)):
        with pytest.raises(
            LengthgenError, match=r"renumber the larger relation first, phi = join\(phi, phi, scale=N\)"
        ):
            meet(with_label(phi), with_label(psi)).labels(2)


def test_renumbering_lets_a_deep_meet_through() -> None:
    scale = 300
    deep = meet(meet(absolute(), relative()), absolute())
    with pytest.raises(LengthgenError, match="renumber"):
        meet(deep, relative()).labels(scale)
    renumbered = join(deep, deep, scale=scale)
    assert equivalent(meet(renumbered, relative()), absolute(), scale=scale)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: refines(relative(), constant(), scale=0), "scale must be at least 1, not 0"),
        (lambda: join(relative(), constant(), scale=-2), "scale must be at least 1, not -2"),
        (lambda: coarsen(relative(), {0: 1}, name="few").labels(2), "'few' does not say what label 1 of 'relative'"),
        (lambda: coarsen(relative(), lambda label: -label, name="neg").labels(2), "'neg' turns label 1 into -1"),
        (lambda: coarsen(relative(), lambda label: label / 2, name="half").labels(2), "'half' turns label 0 into 0.0"),
        (lambda: coarsen(relative(), {0: 2**63, 1: 0}, name="huge").labels(2), "'huge' turns label 0 into"),
        (lambda: coarsen(FROM_END, lambda label: label, name="hint").labels(2), "pass scale=n"),
        (lambda: meet(FROM_END, relative()).labels(2), "pass scale=n"),
    ],
)
def test_calls_without_a_meaning_are_refused_in_one_line(ask: Callable[[], object], says: str) -> None:
    with pytest.raises(LengthgenError, match=says) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_half_a_million_pairs_take_seconds() -> None:
    with at_once(10):
        assert equivalent(meet(key_position(), query_position()), absolute(), scale=1000)
        assert equivalent(join(clipped_relative(3), t5_buckets(), scale=1000), clipped_relative(3), scale=1000)
