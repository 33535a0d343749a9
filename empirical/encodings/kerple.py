"""KERPLE: biases that are conditionally positive definite kernels of the positions, with two learned numbers per head.

Source: Chi, Fan, Ramadge, Rudnicky, arXiv 2205.09921; initial values and bounds of the parameters are those of its
released classes.  Symbolic twins: theory/encodings/kerple.py.
"""

import torch
from torch import Tensor, nn

from lengthgen.empirical.encodings.base import Content, PairBias

SMALLEST, LARGEST_EXPONENT = 1e-2, 2.0


class _Kerple(PairBias):
    """Base class of both kernels: parameters float32 [H], shared by all layers, kept within their bounds.

    As in the released classes, each call first moves a parameter that a training step left outside back to its bound.
    (A clamp in the formula would leave it there, because its gradient would be zero.)  They give a key after the query
    the distance 0; here the kernel is symmetric, as in the paper.  The causal mask hides the difference.
    """

    def __init__(self, *, heads: int) -> None:
        """Allocate the scale; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.scale = nn.Parameter(torch.empty(heads))

    def keep_within_bounds(self) -> None:
        """Clamp the parameters in place, invisibly to autograd."""
        self.scale.data.clamp_(min=SMALLEST)

    def bias(
        self,
        query_positions: Tensor,
        key_positions: Tensor,
        content: Content | None = None,
        *,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """Bias of all pairs: [H, J, I], or [B, H, J, I] if positions have a batch axis."""
        self.keep_within_bounds()
        return super().bias(query_positions, key_positions, content, dtype=dtype)

    def law(self, head: Tensor, query_position: Tensor, key_position: Tensor, dtype: torch.dtype) -> Tensor:
        """Bias of each triple, at least in float32, where distances up to 2^24 are exact."""
        wide = torch.promote_types(dtype, torch.float32)
        distance = (query_position - key_position).abs().to(wide)
        return (-self.scale.to(wide)[head] * self.growth(head, distance)).to(dtype)

    def growth(self, head: Tensor, distance: Tensor) -> Tensor:
        """Kernel for the scale -1, in the dtype of the distance."""
        raise NotImplementedError


class KerplePower(_Kerple):
    """-r1 |j - i|^p.  Parameters: r1 from U(0, 1) and p from U(0, 2), kept at r1 >= 0.01 and 0.01 <= p <= 2."""

    def __init__(self, *, heads: int) -> None:
        """Draw both parameters; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.exponent = nn.Parameter(2 * torch.rand(heads))
        nn.init.uniform_(self.scale, 0, 1)
        self.keep_within_bounds()

    def keep_within_bounds(self) -> None:
        """Clamp the parameters in place, invisibly to autograd."""
        super().keep_within_bounds()
        self.exponent.data.clamp_(min=SMALLEST, max=LARGEST_EXPONENT)

    def growth(self, head: Tensor, distance: Tensor) -> Tensor:
        """D^p for the distance D."""
        return distance ** self.exponent.to(distance.dtype)[head]


class KerpleLog(_Kerple):
    """-r1 log(1 + r2 |j - i|).  Parameters: r1 from U(0, 2) and r2 from U(0, 1), both kept at 0.01 or more."""

    def __init__(self, *, heads: int) -> None:
        """Draw both parameters; `heads` is H, at least 1."""
        super().__init__(heads=heads)
        self.rate = nn.Parameter(torch.rand(heads))
        nn.init.uniform_(self.scale, 0, 2)
        self.keep_within_bounds()

    def keep_within_bounds(self) -> None:
        """Clamp the parameters in place, invisibly to autograd."""
        super().keep_within_bounds()
        self.rate.data.clamp_(min=SMALLEST)

    def growth(self, head: Tensor, distance: Tensor) -> Tensor:
        """log(1 + r2 D) for the distance D."""
        return torch.log1p(self.rate.to(distance.dtype)[head] * distance)


MODULES = {"kerple-power": KerplePower, "kerple-log": KerpleLog}
