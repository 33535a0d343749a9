"""Randomized positions: a random sorted choice of distinct positions, to be given to any encoding.

Source: Ruoss et al., arXiv 2305.16843.  Symbolic twin: theory/encodings/randomized.py.
"""

import torch
from torch import Tensor


def sample_positions(length: int, *, longest: int, generator: torch.Generator) -> Tensor:
    """`length` distinct positions out of 0 .. longest - 1 in increasing order, all sets alike likely: int64 [length].

    The paper's 1 .. M, one lower.  Training draws anew for each batch, and so does a test, with the same `longest`.

    Raises:
        ValueError: length is negative, or above longest.
    """
    if not 0 <= length <= longest:
        raise ValueError(f"length {length} is not in 0..{longest}: positions are distinct, below longest = {longest}")
    return torch.randperm(longest, generator=generator, device=generator.device)[:length].sort().values
