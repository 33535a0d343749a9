"""Tensors that several encodings share: blocks of queries, picking by products, frequencies, orders of positions.

Shapes: B batch, L length.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def drawn_table(*sizes: int, start: float) -> Tensor:
    """Draw a table N(0, start^2), float32 of these sizes; another `start` takes the same random numbers."""
    return torch.randn(*sizes) * start


PAIRS = 1 << 18
"""Largest number of pairs of a block, unless one query has more keys."""


def query_blocks(queries: int, keys: int) -> list[slice]:
    """Return consecutive slices of the queries, each with at most PAIRS pairs of a query and a key."""
    size = max(1, PAIRS // max(1, keys))
    return [slice(start, start + size) for start in range(0, max(1, queries), size)]


def block_by_block(of_block: Callable[[slice], Tensor], queries: int, keys: int) -> Tensor:
    """Return what a function gives for blocks of queries, joined on the last axis but one; one block is not copied.

    It is for arrays over all pairs of queries and keys that are needed for a moment: arrays of some megabytes stay in
    the processor's caches, and the allocator reuses their memory.
    """
    first, *others = [of_block(block) for block in query_blocks(queries, keys)]
    return torch.cat([first, *others], -2) if others else first


MANY = 512
"""Number of rows from which products with 0 and 1 would take too much memory."""


def takes_products(tensor: Tensor, count: int) -> bool:
    """True where products with `one_hot` are faster than picking and adding by index, for a table of `count` rows.

    A GPU that is to add in the same order each time sorts all indices first.
    """
    return tensor.is_cuda and count < MANY


def one_hot(indices: Tensor, count: int, dtype: torch.dtype) -> Tensor:
    """1 at each index, else 0: int64 [...] -> [..., count]."""
    return (indices[..., None] == torch.arange(count, device=indices.device)).to(dtype)


def rope_frequencies(head_dim: int, base: float) -> Tensor:
    """Angle base^(-2l/C) by which each plane turns in one position step: float64 [C/2]."""
    planes = torch.arange(head_dim // 2, dtype=torch.float64)
    return base ** (-2 * planes / head_dim)


def order_by_position(positions: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Return the token at each place, and the place of each token, for sums along the sequence: int64 [B, L] each.

    Tokens at the same position keep the order of their indices, so that padding on one side stays on that side.
    """
    by_place = torch.argsort(positions.expand(batch, -1), stable=True)
    return by_place, torch.argsort(by_place)


def sample_positions(length: int, *, longest: int, generator: torch.Generator, consecutive: bool = False) -> Tensor:
    """Draw `length` distinct positions of 0 .. longest - 1, uniformly over all subsets, ascending: int64 [length].

    Source: Ruoss et al., arXiv 2305.16843, who count 1 .. M; here every position is one lower.  Training draws anew for
    each batch, and so does evaluation, with the same `longest`.

    With `consecutive` the first position alone is drawn, uniformly, and the others follow (arXiv 2410.02140).

    Raises:
        ValueError: length is negative, or above longest.
    """
    if not 0 <= length <= longest:
        raise ValueError(f"length {length} is not in 0..{longest}: positions are distinct, below longest = {longest}")
    if consecutive:
        first = torch.randint(longest - length + 1, (), generator=generator, device=generator.device)
        return first + torch.arange(length, device=generator.device)
    return torch.randperm(longest, generator=generator, device=generator.device)[:length].sort().values
