"""Learned absolute position embeddings.

Source: Gehring et al., arXiv 1705.03122, Section 3.1.  Symbolic twin: theory/encodings/learned.py.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import PositionEncoding, require_integers


class LearnedAbsolute(PositionEncoding):
    """x_p + P[p], one learned row per position; rows that are never trained keep their initial values.

    Rows are initialised N(0, 1), like the decoder's token table; GPT-2 draws both with a standard deviation of 0.02.
    """

    def __init__(self, *, length: int, width: int) -> None:
        """Draw the table of positions 0 .. length - 1, float32 [length, width].

        Raises:
            ValueError: length or width is below 1.
        """
        super().__init__()
        if length < 1 or width < 1:
            raise ValueError(f"length and width must be at least 1, not {length} and {width}")
        self.table = nn.Parameter(torch.randn(length, width))

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Add the rows of the positions, at least in float32, and round once: [B, L, D].

        Raises:
            ValueError: a position is not an integer, negative, or beyond the table, which is never clamped; or the last
                axis is not as wide as the table.
        """
        require_integers(positions)
        length, width = self.table.shape
        if x_BLD.shape[-1] != width:
            raise ValueError(f"embeddings are {x_BLD.shape[-1]} wide, not width = {width}")
        if not torch.compiler.is_compiling():  # a compiled lookup raises its own error
            _require_inside(positions, length)
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        return (x_BLD.to(wide) + self.table[positions].to(wide)).to(x_BLD.dtype)


def _require_inside(positions: Tensor, length: int) -> None:
    """Raise ValueError unless all positions are in 0 .. length - 1."""
    outside = positions[(positions < 0) | (positions >= length)]
    if outside.numel():
        raise ValueError(f"position {int(outside[0])} is not in the table of {length} positions, 0 to {length - 1}")


MODULES = {"ape": LearnedAbsolute}
