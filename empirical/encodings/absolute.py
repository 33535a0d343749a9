"""Learned absolute position embeddings."""

import torch
from torch import Tensor, nn

from empirical.encodings.base import PositionEncoding


class LearnedAbsolute(PositionEncoding):
    """x_p + P[p], one learned row a position, N(0, 1) at first; rows never trained stay as they were drawn."""

    def __init__(self, *, length: int, width: int) -> None:
        """Table of `length` positions, float32 [length, width]."""
        super().__init__()
        self.table = nn.Parameter(torch.randn(length, width))

    def embed(self, x_BLD: Tensor) -> Tensor:
        """Adds rows 1..L.

        Raises:
            ValueError: a position beyond the table.
        """
        length = x_BLD.shape[1]
        if length > len(self.table):
            raise ValueError(f"position {length} is beyond the {len(self.table)} rows of the position table")
        return x_BLD + self.table[:length]
