"""Layers of a decoder with a leading model axis: M models of equal shape, each with its own weights.

Shapes: M models, V alphabet, D width. Every layer is initialised like its PyTorch namesake: one model draws the same
numbers in the same order.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Linear(nn.Module):
    """y = x W + b: [M, ..., inputs] -> [M, ..., outputs]; weight [M, inputs, outputs], bias [M, outputs] or None."""

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True) -> None:
        """Make one model, uniform within 1/sqrt(inputs), as `nn.Linear`."""
        super().__init__()
        linear = nn.Linear(inputs, outputs, bias=bias)
        self.weight = nn.Parameter(linear.weight.detach().T[None].clone(memory_format=torch.contiguous_format))
        self.bias = nn.Parameter(linear.bias.detach()[None].clone()) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(1, -2)
        bias = self.bias
        output = rows @ self.weight if bias is None else torch.baddbmm(bias[:, None], rows, self.weight)
        return output.unflatten(1, x.shape[1:-1])


class Embedding(nn.Module):
    """Tokens int64 [M, B, L] -> embeddings [M, B, L, D]; weight [M, V, D]."""

    def __init__(self, symbols: int, width: int) -> None:
        """Make one model, N(0, 1), as `nn.Embedding`."""
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, symbols, width))

    def forward(self, tokens_MBL: Tensor) -> Tensor:
        models, symbols, _ = self.weight.shape
        first = symbols * torch.arange(models, device=tokens_MBL.device)
        return F.embedding(tokens_MBL + first[:, None, None], self.weight.flatten(0, 1))


class LayerNorm(nn.Module):
    """Normalise each row to mean 0 and variance 1, then apply the model's gain and offset, both [M, D]."""

    def __init__(self, width: int) -> None:
        """Make one model with gain 1 and offset 0, as `nn.LayerNorm`."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, width))
        self.bias = nn.Parameter(torch.zeros(1, width))

    def forward(self, x: Tensor) -> Tensor:
        models, width = self.weight.shape
        shape = (models, *[1] * (x.dim() - 2), width)
        return torch.addcmul(self.bias.view(shape), F.layer_norm(x, (width,)), self.weight.view(shape))
