"""Lattice of relations, ordered by refinement (the lattice of set partitions).

Up to a scale N a relation partitions the cells: the pairs i <= j <= N or, if one of the relations has the scale hint,
the triples i <= j <= n <= N. The integers used as labels do not matter. We write phi <= psi if phi refines psi, that
is, if every class of phi lies in a class of psi: finer is smaller, `constant` is greatest, and `absolute` is least
among relations without the hint. Then the meet is the common refinement and the join the finest common coarsening. Part
of the literature orders partitions the other way, by information, and exchanges the two words. Coarser relations
represent fewer patterns: a pattern constant on the classes of psi is constant on those of each phi <= psi [F].
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lengthgen.theory.relation import Labels, Relation, RelationError, from_labels

Cell = tuple[int, ...]
"""A cell (i, j), or (i, j, n) with scale hint."""


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells up to a scale, ordered by scale, then query, then key: the cells of any smaller scale come first.

    Attributes:
        keys: int64 [cells], 1-based.
        queries: int64 [cells], keys <= queries.
        scales: int64 [cells], queries <= scales; None if no relation has the scale hint.
    """

    keys: Labels
    queries: Labels
    scales: Labels | None

    def __getitem__(self, index: int) -> Cell:
        """Cell as (i, j) or (i, j, n)."""
        axes = (self.keys, self.queries) if self.scales is None else (self.keys, self.queries, self.scales)
        return tuple(int(axis[index]) for axis in axes)

    def count_within(self, scale: int) -> int:
        """Number of cells up to a scale; they come first."""
        reached_at = self.queries if self.scales is None else self.scales
        return int(np.searchsorted(reached_at, scale, side="right"))

    def labels(self, relation: Relation) -> Labels:
        """Label of each cell: int64 [cells]. Raises as `Relation.label` does."""
        return relation.label(self.keys, self.queries, self.scales)


def cells_for(*relations: Relation, scale: int) -> Cells:
    """Cells up to a scale: pairs, or triples if any of the relations has the scale hint.

    Raises:
        RelationError: the scale is not positive.
    """
    if scale < 1:
        raise RelationError(f"the scale must be at least 1, not {scale}")
    queries, keys = (position + 1 for position in np.tril_indices(scale))
    if not any(relation.scale_hint for relation in relations):
        return Cells(keys=keys, queries=queries, scales=None)
    sizes = np.arange(1, scale + 1)
    pairs_at = sizes * (sizes + 1) // 2
    first = np.cumsum(pairs_at) - pairs_at
    pair = np.arange(pairs_at.sum()) - np.repeat(first, pairs_at)
    return Cells(keys=keys[pair], queries=queries[pair], scales=np.repeat(sizes, pairs_at))


def refinement_witness(fine: Relation, coarse: Relation, *, scale: int) -> tuple[Cell, Cell] | None:
    """Two cells up to the scale that `fine` joins and `coarse` separates; None if fine <= coarse.

    The second is the first cell, by scale, query and key, that `coarse` separates from the first cell of its `fine`
    class.

    Raises:
        RelationError: the scale is not positive, or a relation has no label somewhere up to it.
    """
    cells = cells_for(fine, coarse, scale=scale)
    coarse_labels = cells.labels(coarse)
    _, first_cell, class_of = np.unique(cells.labels(fine), return_index=True, return_inverse=True)
    first_of_class = first_cell[class_of]
    separated = coarse_labels != coarse_labels[first_of_class]
    if not separated.any():
        return None
    witness = int(np.argmax(separated))
    return cells[int(first_of_class[witness])], cells[witness]


def refines(fine: Relation, coarse: Relation, *, scale: int) -> bool:
    """True if fine <= coarse up to the scale. Raises as `refinement_witness` does."""
    return refinement_witness(fine, coarse, scale=scale) is None


def equivalent(phi: Relation, psi: Relation, *, scale: int) -> bool:
    """True if two relations have the same classes up to the scale. Raises as `refinement_witness` does."""
    return refines(phi, psi, scale=scale) and refines(psi, phi, scale=scale)


def meet(phi: Relation, psi: Relation) -> Relation:
    """Coarsest relation that refines both: two cells share a label iff both relations join them.

    It has a label at every cell at which both relations have one. Labels (a, b) are numbered a^2 + a + b for a >= b and
    b^2 + a for a < b.

    Raises (when labels are computed):
        RelationError: one of the relations has no label there, or the number of two labels exceeds 63 bits.
    """
    name = f"meet({phi.name}, {psi.name})"

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        first, second = phi.label(keys, queries, scale), psi.label(keys, queries, scale)
        larger = np.maximum(first, second)
        # (m + 1)^2 - 1 is the greatest number of labels up to m.
        if larger.size and (int(larger.max()) + 1) ** 2 > 2**63:
            raise RelationError(
                f"relation '{name}' cannot number pairs of labels as large as {int(larger.max())}: "
                "renumber the larger relation first, phi = join(phi, phi, scale=N)"
            )
        return np.where(first >= second, larger * larger + first + second, larger * larger + first)

    return Relation(name=name, law=law, scale_hint=phi.scale_hint or psi.scale_hint)


def join(phi: Relation, psi: Relation, *, scale: int) -> Relation:
    """Finest relation that both refine, up to a scale: cells share a label iff a chain of shared labels links them.

    Links may pass through later positions, so the join up to a greater scale can be coarser on the same cells.
    Therefore the relation returned has labels up to this scale only, 0, 1, ... by first use (by scale, query, key).

    Raises:
        RelationError: the scale is not positive, or a relation has no label somewhere up to it.
    """
    from scipy.sparse import coo_array  # slow to import, and most commands need none of it
    from scipy.sparse.csgraph import connected_components

    cells = cells_for(phi, psi, scale=scale)
    phi_labels, phi_class = np.unique(cells.labels(phi), return_inverse=True)
    psi_labels, psi_class = np.unique(cells.labels(psi), return_inverse=True)
    size = phi_labels.size + psi_labels.size
    shared = coo_array((np.ones(phi_class.size, dtype=bool), (phi_class, phi_labels.size + psi_class)), (size, size))
    _, component = connected_components(shared, directed=False)
    _, first, class_of = np.unique(component[phi_class], return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[class_of]
    name = f"join({phi.name}, {psi.name})"
    if cells.scales is None:
        return from_labels(_matrix(cells.keys, cells.queries, labels, scale), name=name)
    ends = [cells.count_within(n) for n in range(scale + 1)]
    at_scale = {n: slice(ends[n - 1], ends[n]) for n in range(1, scale + 1)}
    matrices = {n: _matrix(cells.keys[block], cells.queries[block], labels[block], n) for n, block in at_scale.items()}
    return from_labels(matrices, name=name)


def coarsen(relation: Relation, merge: Callable[[int], int] | Mapping[int, int], *, name: str) -> Relation:
    """Relation with each label replaced by merge(label): every coarsening of it has this form.

    Args:
        relation: the relation that is coarsened.
        merge: a function of labels, or a mapping that names every label that occurs.
        name: name of the result in tables and figures.

    Raises (when labels are computed):
        RelationError: the relation has no label there, the mapping does not name a label, or merge gives something that
            is not an integer >= 0.
    """

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        labels, label_of = np.unique(relation.label(keys, queries, scale), return_inverse=True)
        merged = np.array([_merged(label) for label in labels.tolist()], dtype=np.int64)
        return merged[label_of]

    def _merged(label: int) -> int:
        if isinstance(merge, Mapping) and label not in merge:
            raise RelationError(f"relation '{name}' does not say what label {label} of '{relation.name}' becomes")
        new_label = merge[label] if isinstance(merge, Mapping) else merge(label)
        if not isinstance(new_label, int | np.integer) or not 0 <= new_label < 2**63:
            raise RelationError(f"relation '{name}' turns label {label} into {new_label!r}: labels are integers >= 0")
        return int(new_label)

    return Relation(name=name, law=law, scale_hint=relation.scale_hint)


def _matrix(keys: Labels, queries: Labels, labels: Labels, length: int) -> Labels:
    """Label matrix int64 [length, length] of labelled pairs."""
    matrix = np.zeros((length, length), dtype=np.int64)
    matrix[keys - 1, queries - 1] = labels
    return matrix
