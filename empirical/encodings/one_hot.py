"""Picking rows of a table by index, and adding by index, as products with 0 and 1: what a GPU does fast."""

import torch
from torch import Tensor

MANY = 512
"""Number of rows from which products with 0 and 1 would take too much memory."""


def takes_products(tensor: Tensor, count: int) -> bool:
    """True where products with 0 and 1 are faster than picking and adding by index, for a table of `count` rows.

    A GPU that is to add in the same order each time sorts all indices first.
    """
    return tensor.is_cuda and count < MANY


def one_hot(indices: Tensor, count: int, dtype: torch.dtype) -> Tensor:
    """1 at each index, else 0: int64 [...] -> [..., count]."""
    return (indices[..., None] == torch.arange(count, device=indices.device)).to(dtype)
