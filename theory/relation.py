"""Position relations (PRFs): the type that theory, circuits, encodings and figures share.

A relation gives every pair of a key position i and a query position j, 1 <= i <= j, a label phi(i, j). With a scale
hint the label may also depend on the scale n of the instance, phi(i, j, n) ([F], definitions of arXiv 2510.04130, Def.
2). A position encoding can treat two pairs differently only if their labels differ.

The standard relations and those of a function or a matrix follow the type. `label_classes` numbers the labels of a
matrix 0, 1, ... in their order: these are the parameters of an encoding with one free number for each label.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lengthgen.infrastructure.brief import Brief
from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.once import once
from lengthgen.infrastructure.userfile import Guarded, shown

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Law = Callable[[Labels, Labels, int | None], Labels]

_SMALL = 32
"""Largest size of which the pairs are remembered."""
NO_LABEL = -1
"""Entry of a label matrix below the diagonal, where the key would lie after the query."""


class RelationError(LengthgenError):
    """Raised for an invalid relation, or a position or scale at which a relation has no label."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Relation(Brief):
    """Position relation phi, which labels pairs of positions with non-negative integers.

    Attributes:
        name: name of the relation in tables and figures, in printable characters.
        law: vectorised phi. It takes int64 arrays of keys and queries of one shape (1-based, key <= query) and the
            scale (None without scale hint), and returns int64 labels of that shape. Errors in it are raised as
            RelationError.
        scale_hint: True if phi also depends on the scale n.

    Raises:
        RelationError: the name, the law or the hint is not as described.
    """

    name: str
    law: Law
    scale_hint: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise RelationError(f"the name of a relation is a text of printable characters, not {shown(self.name)}")
        if not callable(self.law):
            raise RelationError(f"the law of relation '{self.name}' must be a function, not {shown(self.law)}")
        if not isinstance(self.scale_hint, bool):
            hint = shown(self.scale_hint)
            raise RelationError(f"the scale_hint of relation '{self.name}' must be True or False, not {hint}")

        def fails(keys: Labels, queries: Labels, scale: int | None) -> str:
            return f"the law of relation '{self.name}' fails for {np.size(keys):,} pairs"

        object.__setattr__(self, "law", Guarded(self.law, read=np.asarray, fails=fails, error=RelationError))

    def labels(self, length: int, scale: int | None = None) -> Labels:
        """Label matrix of positions 1..length: int64 [length, length], rows are keys i, columns queries j.

        Entries below the diagonal (i > j) are NO_LABEL.

        Raises:
            RelationError: length is not positive, the relation needs a scale and got none, the law leaves some pair
                without a label, or gives a negative one.
        """
        if length < 1:
            raise RelationError(f"length must be at least 1, not {length}")
        keys, queries = upper_pairs(length)
        matrix = np.full((length, length), NO_LABEL, dtype=np.int64)
        matrix[keys, queries] = self.label(keys + 1, queries + 1, scale)
        return matrix

    def label(self, keys: Labels, queries: Labels, scales: Labels | int | None = None) -> Labels:
        """Labels of a list of pairs: int64 [pairs].

        Args:
            keys: int64 [pairs], 1-based.
            queries: int64 [pairs], keys <= queries.
            scales: the scale of each pair, int64 [pairs], or one scale for all; ignored without scale hint.

        Raises:
            RelationError: the shapes differ, a key is not in 1..query, the relation needs a scale and got none, or the
                law leaves some pair without a label or gives a negative one.
        """
        if keys.ndim != 1 or keys.shape != queries.shape:
            raise RelationError(f"keys {keys.shape} and queries {queries.shape} must be two lists of one length")
        misplaced = (keys < 1) | (keys > queries)
        if misplaced.any():
            index = int(np.argmax(misplaced))
            raise RelationError(f"key {keys[index]} is not in 1..{queries[index]}, the positions up to its query")
        if not self.scale_hint:
            return self._label_at(keys, queries, None)
        if scales is None:
            raise RelationError(f"relation '{self.name}' depends on the scale: pass scale=n")
        if not isinstance(scales, np.ndarray):
            return self._label_at(keys, queries, scales)
        if scales.shape != keys.shape:
            raise RelationError(f"scales {scales.shape} and keys {keys.shape} must be two lists of one length")
        labels = np.empty(keys.shape, dtype=np.int64)
        by_scale = np.argsort(scales, kind="stable")
        for pairs in np.split(by_scale, np.flatnonzero(np.diff(scales[by_scale])) + 1):
            if pairs.size:
                labels[pairs] = self._label_at(keys[pairs], queries[pairs], int(scales[pairs[0]]))
        return labels

    def _label_at(self, keys: Labels, queries: Labels, scale: int | None) -> Labels:
        """Checked labels of pairs at one scale."""
        labels = self.law(keys, queries, scale)
        if labels.shape != keys.shape or not np.can_cast(labels.dtype, np.int64):
            raise RelationError(
                f"relation '{self.name}' gave shape {labels.shape} of {labels.dtype} for {keys.size} pairs: "
                "its law must return one integer per pair"
            )
        if (labels < 0).any():
            at = int(np.argmax(labels < 0))
            raise RelationError(
                f"relation '{self.name}' has no label for key {keys[at]}, query {queries[at]}: labels are integers >= 0"
            )
        return labels.astype(np.int64, copy=False)

    def _brief(self) -> str:
        return self.name + (", which reads the scale" if self.scale_hint else "")


@once
def absolute() -> Relation:
    """Absolute relation phi(i, j) = (i, j): every pair has its own label [P]; the pair is numbered i + j(j-1)/2."""
    return Relation(name="absolute", law=lambda key, query, _: key + query * (query - 1) // 2)


def key_position() -> Relation:
    """Key position phi(i, j) = i, whatever the query [F]. Its meet with `query_position` is `absolute`."""
    return Relation(name="key", law=lambda key, query, _: key)


def query_position() -> Relation:
    """Query position phi(i, j) = j, whatever the key [F]."""
    return Relation(name="query", law=lambda key, query, _: query)


@once
def relative() -> Relation:
    """Relative offset phi(i, j) = j - i [P]."""
    return Relation(name="relative", law=lambda key, query, _: query - key)


def clipped_relative(limit: int) -> Relation:
    """Clipped relative offset phi(i, j) = min(j - i, limit) [P]; Shaw et al. clip so (arXiv 1803.02155, section 3.2).

    Raises:
        RelationError: limit is negative.
    """
    if limit < 0:
        raise RelationError(f"the clipping limit must be at least 0, not {limit}")
    return Relation(name=f"clipped-{limit}", law=lambda key, query, _: np.minimum(query - key, limit))


def t5_buckets(buckets: int = 32, longest: int = 128) -> Relation:
    """Buckets of causal T5 (arXiv 1910.10683, section 2.1; the rule is that of its published code).

    With e = buckets // 2 and d = j - i, phi(i, j) = d for d < e. For d >= e it is min(e + floor((buckets - e) log(d/e)
    / log(longest/e)), buckets - 1). The floor is computed in integers, by d^(buckets-e) >= longest^k e^(buckets-e-k).
    If d is exactly the start of a bucket, libraries that take logarithms in floating point may put it into the bucket
    before.

    Raises:
        RelationError: fewer than two buckets, or longest is not beyond the exact distances.
    """
    exact = buckets // 2
    if buckets < 2 or longest <= exact:
        raise RelationError(
            f"T5 buckets need buckets >= 2 and longest > buckets // 2, not buckets={buckets}, longest={longest}"
        )
    coarse = buckets - exact
    starts = [
        *range(1, exact + 1),
        *(
            bisect_left(range(longest), longest**k * exact ** (coarse - k), key=lambda distance: distance**coarse)
            for k in range(1, coarse)
        ),
    ]
    edges = np.array(starts, dtype=np.int64)
    return Relation(
        name=f"t5-{buckets}-{longest}",
        law=lambda key, query, _: np.searchsorted(edges, query - key, side="right"),
    )


@once
def constant() -> Relation:
    """Constant relation phi(i, j) = 0: no position encoding [P]."""
    return Relation(name="constant", law=lambda key, query, _: np.zeros_like(key))


def diagonal_apart(relation: Relation) -> Relation:
    """Return the relation with a label of its own, 0, for the pairs (j, j); every other label is one larger [F].

    So a view shows the query's own token apart from all other keys, as the residual stream of a Transformer does.
    """

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        return np.where(keys == queries, 0, relation.law(keys, queries, scale) + 1)

    return Relation(name=f"{relation.name}, diagonal apart", law=law, scale_hint=relation.scale_hint)


def from_function(function: Callable[..., int], *, name: str, scale_hint: bool = False) -> Relation:
    """Relation of a plain function phi(i, j), or phi(i, j, n) with scale_hint, of 1-based Python integers.

    Raises (when labels are computed):
        RelationError: the function returns something that is not an integer >= 0.
    """

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        hint = (scale,) if scale_hint else ()
        labels = np.empty(keys.shape, dtype=np.int64)
        for at, (key, query) in enumerate(zip(keys.tolist(), queries.tolist(), strict=True)):
            label = function(key, query, *hint)
            if not isinstance(label, int | np.integer) or label >= 2**63:
                raise RelationError(
                    f"relation '{name}' gave {shown(label)} for key {key}, query {query}: not an integer below 2**63"
                )
            labels[at] = label
        return labels

    return Relation(name=name, law=law, scale_hint=scale_hint)


def from_labels(matrices: ArrayLike | Mapping[int, ArrayLike], *, name: str) -> Relation:
    """Relation of a label matrix, or with scale hint of one label matrix per scale.

    Args:
        matrices: integers [length, length], rows keys and columns queries, read on and above the diagonal only; or a
            mapping from scale n to such a matrix.
        name: name of the relation in tables and figures.

    Raises:
        RelationError: a matrix is not square or not of integers; when labels are computed, a scale or a position beyond
            the matrices.
    """
    hinted = isinstance(matrices, Mapping)
    tables: dict[int | None, Labels] = {}
    if isinstance(matrices, Mapping):
        tables |= {scale: _label_matrix(matrix, name) for scale, matrix in matrices.items()}
    else:
        tables[None] = _label_matrix(matrices, name)

    def law(keys: Labels, queries: Labels, scale: int | None) -> Labels:
        if scale not in tables:
            raise RelationError(f"relation '{name}' is given for scales {sorted(map(str, tables))}, not {scale}")
        table = tables[scale]
        if queries.size and int(queries.max()) > len(table):
            raise RelationError(f"relation '{name}' is given for positions 1..{len(table)}, not {int(queries.max())}")
        return np.asarray(table[keys - 1, queries - 1])

    return Relation(name=name, law=law, scale_hint=hinted)


def _label_matrix(matrix: ArrayLike, name: str) -> Labels:
    """Label matrix as int64; raises `RelationError` if it is not a square matrix of integers."""
    table = np.asarray(matrix)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise RelationError(f"the label matrix of '{name}' must be square, not of shape {table.shape}")
    if not np.issubdtype(table.dtype, np.integer):
        raise RelationError(f"the label matrix of '{name}' must hold integers, not {table.dtype}")
    return table.astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelClasses:
    """Pairs i <= j of a label matrix, ordered by key and then query, with the parameter of each.

    Attributes:
        keys: int64 [pairs], from 0.
        queries: int64 [pairs], from 0.
        parameters: int64 [pairs], in 0..count-1.
        parameter_matrix: the parameter of each pair, int64 [n, n], 0 below the diagonal.
        count: K, the number of labels that occur.
    """

    keys: Labels
    queries: Labels
    parameters: Labels
    parameter_matrix: Labels
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
    matrix = np.zeros(labels.shape, dtype=np.int64)
    matrix[keys, queries] = parameters
    return LabelClasses(
        keys=keys, queries=queries, parameters=parameters, parameter_matrix=matrix, count=distinct_labels.size
    )


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
