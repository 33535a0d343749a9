"""Blocks of queries: arrays over all pairs of queries and keys that are needed for a moment are made block by block.

Arrays of some megabytes stay in the processor's caches, and the allocator reuses their memory.
"""

from collections.abc import Callable

import torch
from torch import Tensor

PAIRS = 1 << 18
"""Largest number of pairs of a block, unless one query has more keys."""


def query_blocks(queries: int, keys: int) -> list[slice]:
    """Return consecutive slices of the queries, each with at most PAIRS pairs of a query and a key."""
    size = max(1, PAIRS // max(1, keys))
    return [slice(start, start + size) for start in range(0, max(1, queries), size)]


def block_by_block(of_block: Callable[[slice], Tensor], queries: int, keys: int) -> Tensor:
    """Return what a function gives for blocks of queries, joined on the last axis but one; one block is not copied."""
    first, *others = [of_block(block) for block in query_blocks(queries, keys)]
    return torch.cat([first, *others], -2) if others else first
