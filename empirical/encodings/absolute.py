"""Absolute position codes in torch, added to the token embeddings.  Formulas and sources: theory/encodings/absolute.py.

The width is D, the trained length is L.
"""

import math
from typing import get_args

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import (
    PositionEncoding,
    require_integers,
    require_planes,
    require_positive,
    require_width,
)
from lengthgen.empirical.encodings.tensors import drawn_table, rope_frequencies
from lengthgen.theory.encodings.absolute import Beyond


class Code(PositionEncoding):
    """x_p + PE(p) with a code PE of width D; subclasses compute it in `code`."""

    width: int

    def code(self, positions: Tensor) -> Tensor:
        """Codes of the positions, int64 [L] or [B, L]: [..., D], float64 unless they are trained."""
        raise NotImplementedError

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Add the codes at least in float32 and round the sum once: [B, L, D].

        Raises:
            ValueError: positions are not integers, embeddings are not D wide, or `code` refuses a position.
        """
        require_integers(positions)
        require_width(x_BLD, self.width, what="embeddings", name="width")
        wide = torch.promote_types(x_BLD.dtype, torch.float32)
        return (x_BLD.to(wide) + self.code(positions).to(wide)).to(x_BLD.dtype)


class Sinusoidal(Code):
    """x_p + PE(p); coordinates 2l and 2l + 1 of PE(p) are the sine and cosine of p base^(-2l/D).  No parameters.

    The paper multiplies token embeddings by sqrt(D) first, because its tables have a variance of 1/D; here the model
    must do so.
    """

    def __init__(self, *, width: int, base: float = 10000.0) -> None:
        """Set the width D, even, and the base."""
        super().__init__()
        require_planes(width=width)
        require_positive(base=base)
        self.width, self.base = width, base

    def code(self, positions: Tensor) -> Tensor:
        angles = positions[..., None] * rope_frequencies(self.width, self.base).to(positions.device)
        return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


class LearnedAbsolute(Code):
    """x_p + P[p], one learned row per position; rows that are never trained keep their initial values.

    Rows are initialised N(0, start^2); at 1, like the decoder's token table.  GPT-2 draws both with 0.02.
    """

    def __init__(self, *, length: int, width: int, start: float = 1.0) -> None:
        """Draw the table of positions 0 .. length - 1, float32 [length, width]."""
        super().__init__()
        if length < 1 or width < 1:
            raise ValueError(f"length and width must be at least 1, not {length} and {width}")
        self.width = width
        self.table = nn.Parameter(drawn_table(length, width, start=start))

    def code(self, positions: Tensor) -> Tensor:
        """Rows of the positions, [..., D]; raises ValueError beyond the table, which is never clamped."""
        length = len(self.table)
        if not torch.compiler.is_compiling():  # a compiled lookup raises its own error
            outside = positions[(positions < 0) | (positions >= length)]
            if outside.numel():
                raise ValueError(
                    f"position {int(outside[0])} is not in the table of {length} positions, 0 to {length - 1}"
                )
        return self.table[positions]


class OrthogonalCode(Code):
    """Code of orthogonal functions, without parameters to train.  Its formulas are our reading [F]."""

    def __init__(self, *, width: int, trained_length: int) -> None:
        """Set the width D and the trained length L, at least 2."""
        super().__init__()
        if width < 1 or trained_length < 2:
            raise ValueError(
                f"width must be at least 1 and trained_length at least 2, not {width} and {trained_length}"
            )
        self.width, self.trained_length = width, trained_length


class LegendreCode(OrthogonalCode):
    """Coordinate n of PE(p) is sqrt(2n + 1) P_n(x_p), with x_p = -1 + 2p/(L - 1) up to the trained length L.

    Beyond it, `rescale` divides by the length T of the row in place of L, T its largest position plus 1, so that every
    position of the row gets another code; `clamp` gives further positions the code of L - 1; `raw` goes on beyond 1,
    where the codes grow like (x + sqrt(x^2 - 1))^n.
    """

    def __init__(self, *, width: int, trained_length: int, beyond: Beyond = "rescale") -> None:
        """Set the sizes and the policy beyond the trained length."""
        super().__init__(width=width, trained_length=trained_length)
        if beyond not in get_args(Beyond):
            raise ValueError(f"beyond must be {', '.join(get_args(Beyond))}, not {beyond!r}")
        self.beyond = beyond

    def code(self, positions: Tensor) -> Tensor:
        """Codes by the recurrence (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1), in float64."""
        if not positions.numel():
            return positions.new_zeros((*positions.shape, self.width), dtype=torch.float64)
        last = positions.new_tensor(self.trained_length - 1)
        if self.beyond == "rescale":
            last = torch.maximum(last, positions.amax(-1, keepdim=True))
        if self.beyond == "clamp":
            positions = torch.minimum(positions, last)
        x = (2 * positions - last).double() / last.double()  # one rounding: both integers are exact
        functions = [torch.ones_like(x), x]
        for n in range(1, self.width - 1):
            functions.append(((2 * n + 1) * x * functions[n] - n * functions[n - 1]) / (n + 1))
        norms = torch.arange(self.width, dtype=torch.float64, device=x.device).mul(2).add(1).sqrt()
        return torch.stack(functions[: self.width], -1) * norms

    def embed(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Add the codes as `Code`; raises ValueError if raw codes make embeddings infinite that were not."""
        embedded = super().embed(x_BLD, positions)
        if self.beyond == "raw" and not torch.compiler.is_compiling():
            lost = ~embedded.isfinite().all(-1) & x_BLD.isfinite().all(-1)
            if lost.any():
                first = int(positions.expand(lost.shape)[lost].min())
                raise ValueError(
                    f"the raw Legendre code of position {first} exceeds the largest {embedded.dtype}: it is too far "
                    f"beyond the trained length {self.trained_length}; use beyond=rescale, beyond=clamp or a smaller "
                    "width"
                )
        return embedded


class HaarCode(OrthogonalCode):
    """Coordinate n of PE(p) is Haar function n at u = p/L: 1 for n = 0, then 2^(j/2) psi(2^j u - k) for n = 2^j + k.

    psi is 1 on [0, 1/2) and -1 on [1/2, 1).  The D functions are constant on D cells, so at most D codes differ, and
    positions from L on have the code 0.
    """

    def code(self, positions: Tensor) -> Tensor:
        """Codes by comparing integers, so that every position is in its cell exactly."""
        functions = [((positions >= 0) & (positions < self.trained_length)).double()]
        for n in range(1, self.width):
            level = n.bit_length() - 1
            # Number of the half cell of this level: wavelet k lives on the halves 2k and 2k + 1.
            half = torch.div(positions * 2 ** (level + 1), self.trained_length, rounding_mode="floor")
            left = 2 * (n - 2**level)
            functions.append(((half == left).double() - (half == left + 1).double()) * 2 ** (level / 2))
        return torch.stack(functions, -1)


class CosineCode(OrthogonalCode):
    """Coordinate n of PE(p) is cos(pi n (p + 1/2) / L): the DCT-II, whose D <= L columns are orthogonal on 0 .. L - 1.

    Beyond the trained length codes repeat: position 2L - 1 - p has the code of p, and so has p + 2L.
    """

    def code(self, positions: Tensor) -> Tensor:
        """Codes of angles reduced to one turn in integers, so that far positions are as exact as near ones."""
        n = torch.arange(self.width, device=positions.device)
        turn = 4 * self.trained_length
        phase = n * (2 * positions[..., None] + 1) % turn
        folded = torch.minimum(phase, turn - phase)  # equal cosines then have equal digits
        return (folded.double() * (2 * math.pi / turn)).cos()


MODULES = {
    "sinusoidal": Sinusoidal,
    "ape": LearnedAbsolute,
    "legendre": LegendreCode,
    "haar": HaarCode,
    "dct": CosineCode,
}
