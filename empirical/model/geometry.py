"""Positions of the tokens of a batch, and labels of a relation for their pairs, as tensors.

Shapes: M models, B batch, L length, S scales, J queries, I keys. The model axis of labels has size 1 if models share
them.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthgen.empirical.encodings.tensors import sample_positions
from lengthgen.theory.relation import NO_LABEL, Relation


class Geometry:
    """Labels and positions for sequences of a run's scales."""

    def __init__(
        self,
        lengths: Mapping[int, int],
        *,
        relation: Relation | None = None,
        longest: int | None = None,
        consecutive: bool = False,
        device: str = "cpu",
    ) -> None:
        """Compute the label matrices of all scales, padded to the longest sequence.

        Args:
            lengths: scale -> number of tokens that the model reads (it does not read the last token of a sequence).
            relation: relation whose labels are needed; None if the encoding reads positions alone.
            longest: if given, positions are drawn from 0 .. longest - 1; else they are 0 .. L - 1.
            consecutive: True if drawn positions follow each other.
            device: device of the tensors.

        Raises:
            RelationError: the relation has no label for some pair at some scale.
        """
        self.length = max(lengths.values())
        self.relation, self.longest, self.consecutive, self.device = relation, longest, consecutive, device
        self._row = dict.fromkeys(lengths, 0)
        self.labels_MSJI: Tensor | None = None
        if relation is None:
            return
        if relation.scale_hint:
            self._row = {scale: row for row, scale in enumerate(lengths)}
            matrices = [relation.labels(length, scale) for scale, length in lengths.items()]
        else:
            matrices = [relation.labels(self.length if longest is None else longest)]
        padded = np.stack([_padded_labels(matrix, self.length) for matrix in matrices])
        self.labels_MSJI = torch.from_numpy(padded[None]).to(device)

    @classmethod
    def joined(cls, geometries: Sequence[Self]) -> Self:
        """Return the geometry of models of different tasks, whose sequences have equal lengths.

        Raises:
            ValueError: lengths, drawn positions or the dependence on the scale differ.
        """
        first, distinct = geometries[0], {id(geometry): geometry for geometry in geometries}.values()
        sizes = {
            (each.length, each.longest, each.consecutive, each.labels_MSJI is None, *each._row.items())
            for each in distinct
        }
        if len(sizes) > 1:
            raise ValueError("models that are trained together need sequences of equal lengths at every scale")
        labels = [each.labels_MSJI for each in geometries if each.labels_MSJI is not None]
        if all(torch.equal(labels[0], other) for other in {id(each): each for each in labels}.values()):
            return first
        joined = copy.copy(first)
        joined.labels_MSJI = torch.cat(labels)
        return joined

    @property
    def count(self) -> int:
        """Number of labels in use, 0 .. count - 1."""
        assert self.labels_MSJI is not None
        return int(self.labels_MSJI.max()) + 1

    def sizes(self, trained_length: int) -> dict[str, int]:
        """Sizes that the module of an encoding is made with, besides those of the model."""
        sizes = {"length": self.longest or self.length, "trained_length": trained_length}
        return sizes if self.labels_MSJI is None else sizes | {"labels": self.count}

    def rows(self, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """Index of each scale's label matrix."""
        return np.vectorize(self._row.__getitem__, otypes=[np.int64])(scales)

    def positions(self, length: int, counters: Sequence[Sequence[int]], *, total: int | None = None) -> Tensor:
        """Positions, int64 [length], increasing; [M, length] if they are drawn.

        Args:
            length: number of positions.
            counters: (seed, split, step) of each model; they determine the drawn positions.
            total: number of positions to draw, of which the first `length` are returned; default `length`.
        """
        if self.longest is None:
            return torch.arange(length, device=self.device)
        return torch.stack([self._draw_positions(total or length, counter)[:length] for counter in counters]).to(
            self.device
        )

    def labels(self, rows_MB: Tensor, positions: Tensor) -> Tensor | None:
        """Labels, queries by keys: int64 [1, J, I] if all instances share them, else [M, B or 1, J, I]."""
        if self.labels_MSJI is None or self.labels_MSJI.shape[1] == 1:
            return self._labels_at(0, positions)
        models = torch.arange(len(self.labels_MSJI), device=rows_MB.device)[:, None]
        return self.labels_MSJI[:, :, : len(positions), : len(positions)][models, rows_MB]

    def labels_of_scale(self, scale: int, positions: Tensor) -> Tensor | None:
        """Labels for instances of one scale; shape as in `labels`."""
        return self._labels_at(self._row[scale], positions)

    def _labels_at(self, row: int, positions: Tensor) -> Tensor | None:
        """Labels of the matrices of one scale at these positions."""
        if self.labels_MSJI is None:
            return None
        labels_MJI = self.labels_MSJI[:, row]
        if self.longest is not None:
            models = torch.arange(len(labels_MJI), device=labels_MJI.device)[:, None, None]
            positions_ML = torch.atleast_2d(positions)
            return labels_MJI[models, positions_ML[:, :, None], positions_ML[:, None, :]][:, None]
        labels_MJI = labels_MJI[:, : len(positions), : len(positions)]
        return labels_MJI if len(labels_MJI) == 1 else labels_MJI[:, None]

    def _draw_positions(self, length: int, counter: Sequence[int]) -> Tensor:
        """Positions drawn by a counter, int64 [length]."""
        assert self.longest is not None
        seed = int(np.random.SeedSequence(list(counter)).generate_state(1, np.uint64)[0] >> 1)
        generator = torch.Generator().manual_seed(seed)
        return sample_positions(length, longest=self.longest, generator=generator, consecutive=self.consecutive)


def _padded_labels(matrix: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Label matrix, queries by keys, at least [length, length]; 0 after the query and beyond the end."""
    size = max(length, len(matrix))
    padded = np.zeros((size, size), dtype=np.int64)
    padded[: len(matrix), : len(matrix)] = matrix.T
    padded[padded == NO_LABEL] = 0
    return padded
