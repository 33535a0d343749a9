"""Randomized positions: a sorted random choice of distinct or consecutive positions, for any encoding.

Source: Ruoss et al., arXiv 2305.16843.  Symbolic twin: theory/encodings/randomized.py.
"""

import torch
from torch import Tensor


def sample_positions(length: int, *, longest: int, generator: torch.Generator, consecutive: bool = False) -> Tensor:
    """Draw `length` distinct positions of 0 .. longest - 1, uniformly over all subsets, ascending: int64 [length].

    The paper counts 1 .. M; here every position is one lower.  Training draws anew for each batch, and so does
    evaluation, with the same `longest`.

    Args:
        length: number of positions.
        longest: number of positions to draw from.
        generator: source of the draw.
        consecutive: True to draw the first position alone, uniformly, and let the others follow (arXiv 2410.02140).

    Raises:
        ValueError: length is negative, or above longest.
    """
    if not 0 <= length <= longest:
        raise ValueError(f"length {length} is not in 0..{longest}: positions are distinct, below longest = {longest}")
    if consecutive:
        first = torch.randint(longest - length + 1, (), generator=generator, device=generator.device)
        return first + torch.arange(length, device=generator.device)
    return torch.randperm(longest, generator=generator, device=generator.device)[:length].sort().values
