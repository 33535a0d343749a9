"""Tokens in the order of their positions, for laws that add up along the sequence.

Shapes: B batch, L length.
"""

import torch
from torch import Tensor


def order(positions: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Two int64 [B, L]: which token comes at each place, and the place of each token.

    Tokens at one position keep the order of their indices, so that padding on a side stays on it.
    """
    by_place = torch.argsort(positions.expand(batch, -1), stable=True)
    return by_place, torch.argsort(by_place)
