"""The layers of a decoder over a leading model axis: M models of one shape, each with weights of its own.

Shapes: M model, N any number of rows, V alphabet, D width.  Every layer starts as its PyTorch namesake does, one model
after the other would draw the same numbers in the same order.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Linear(nn.Module):
    """y = x W + b, [M, ..., inputs] -> [M, ..., outputs]; weight [M, inputs, outputs], bias [M, outputs] or none."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True) -> None:
        """One model, uniform within 1/sqrt(inputs), as `nn.Linear`."""
        super().__init__()
        plain = nn.Linear(inputs, outputs, bias=bias)
        self.weight = nn.Parameter(plain.weight.detach().T[None].clone(memory_format=torch.contiguous_format))
        self.bias = nn.Parameter(plain.bias.detach()[None].clone()) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(1, -2)
        plain = self.bias is None
        found = rows @ self.weight if plain else torch.baddbmm(self.bias[:, None], rows, self.weight)
        return found.unflatten(1, x.shape[1:-1])


class Embedding(nn.Module):
    """Token numbers [M, B, L] -> [M, B, L, D]; weight [M, V, D]."""

    def __init__(self, symbols: int, width: int) -> None:
        """One model, N(0, 1), as `nn.Embedding`."""
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, symbols, width))

    def forward(self, tokens_MBL: Tensor) -> Tensor:
        models, symbols, _ = self.weight.shape
        first = symbols * torch.arange(models, device=tokens_MBL.device)
        return F.embedding(tokens_MBL + first[:, None, None], self.weight.flatten(0, 1))


class LayerNorm(nn.Module):
    """Each row to mean 0 and variance 1, then a gain and an offset of the model's own; both [M, D]."""

    def __init__(self, width: int) -> None:
        """One model, gain 1 and offset 0, as `nn.LayerNorm`."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, width))
        self.bias = nn.Parameter(torch.zeros(1, width))

    def forward(self, x: Tensor) -> Tensor:
        models, width = self.weight.shape
        shape = (models, *[1] * (x.dim() - 2), width)
        return torch.addcmul(self.bias.view(shape), F.layer_norm(x, (width,)), self.weight.view(shape))
