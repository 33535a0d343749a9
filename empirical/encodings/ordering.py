"""Order of tokens by position, for encodings that sum along the sequence.

Shapes: B batch, L length.
"""

import torch
from torch import Tensor


def order_by_position(positions: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Return two tensors int64 [B, L]: the token at each place, and the place of each token.

    Tokens at the same position keep the order of their indices, so that padding on one side stays on that side.
    """
    by_place = torch.argsort(positions.expand(batch, -1), stable=True)
    return by_place, torch.argsort(by_place)
