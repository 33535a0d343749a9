"""Where the tokens of a batch stand, and what a relation says of them, as tensors.

Shapes: M model, B batch, L length, S scale, J query, I key.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirical.encodings.randomized import sample_positions
from empirical.runs.buildable import require_positions
from theory.relation import NO_LABEL, Relation


class Geometry:
    """Labels and positions for sequences of the scales of a run."""

    def __init__(
        self,
        lengths: Mapping[int, int],
        *,
        relation: Relation | None = None,
        longest: int | None = None,
        device: str = "cpu",
    ) -> None:
        """Label matrices at all scales, filled to the longest sequence.

        Args:
            lengths: scale -> tokens that are read (the last token of a sequence is not).
            relation: whose labels are needed; none if the encoding reads positions alone.
            longest: positions are drawn out of 0 .. longest - 1, if given; else they are 0 .. L - 1.
            device: of the tensors.

        Raises:
            RelationError: the relation has no label for some pair at some scale.
            ProfileError: there are more tokens than positions to draw from.
        """
        self.length = max(lengths.values())
        if longest is not None:
            require_positions(self.length, longest)
        self.relation, self.longest, self.device = relation, longest, device
        self._row = dict.fromkeys(lengths, 0)
        self.labels_SJI: Tensor | None = None
        if relation is None:
            return
        if relation.scale_hint:
            self._row = {scale: row for row, scale in enumerate(lengths)}
            matrices = [relation.labels(length, scale) for scale, length in lengths.items()]
        else:
            matrices = [relation.labels(self.length if longest is None else longest)]
        self.labels_SJI = torch.from_numpy(np.stack([_filled(matrix, self.length) for matrix in matrices])).to(device)

    @property
    def count(self) -> int:
        """Labels in use: 0 .. count - 1."""
        assert self.labels_SJI is not None
        return int(self.labels_SJI.max()) + 1

    def rows(self, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which label matrix each scale has."""
        return np.vectorize(self._row.__getitem__, otypes=[np.int64])(scales)

    def positions(self, length: int, counters: Sequence[Sequence[int]], *, of: int | None = None) -> Tensor:
        """int64 [length], increasing; [M, length] where positions are drawn.

        Args:
            length: how many.
            counters: (seed, split, step) of each model: says which draw is its own, where positions are drawn.
            of: they are the first of so many, if given.
        """
        if self.longest is None:
            return torch.arange(length, device=self.device)
        return torch.stack([self._draw(of or length, counter)[:length] for counter in counters]).to(self.device)

    def labels(self, rows_MB: Tensor, positions: Tensor) -> Tensor | None:
        """int64 [1, J, I] where all instances have the same labels, else [M, B or 1, J, I]; queries by keys."""
        if self.labels_SJI is None or len(self.labels_SJI) == 1:
            return self._at(0, positions)
        return self.labels_SJI[:, : len(positions), : len(positions)][rows_MB]

    def labels_of_scale(self, scale: int, positions: Tensor) -> Tensor | None:
        """As `labels`, for instances of one scale."""
        return self._at(self._row[scale], positions)

    def _at(self, row: int, positions: Tensor) -> Tensor | None:
        if self.labels_SJI is None:
            return None
        if self.longest is not None:
            return self.labels_SJI[row, positions[:, :, None], positions[:, None, :]][:, None]
        return self.labels_SJI[row, : len(positions), : len(positions)][None]

    def _draw(self, length: int, counter: Sequence[int]) -> Tensor:
        assert self.longest is not None
        seed = int(np.random.SeedSequence(list(counter)).generate_state(1, np.uint64)[0] >> 1)
        return sample_positions(length, longest=self.longest, generator=torch.Generator().manual_seed(seed))


def _filled(matrix: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Queries by keys, [length, length] at least; 0 where there is no label: after the query, and beyond the end."""
    size = max(length, len(matrix))
    whole = np.zeros((size, size), dtype=np.int64)
    whole[: len(matrix), : len(matrix)] = matrix.T
    whole[whole == NO_LABEL] = 0
    return whole
