"""Layers of a decoder with a leading model axis: M models of equal shape, each with its own weights.

Shapes: M models, V alphabet, D width. Every layer is initialised like its PyTorch namesake: one model draws the same
numbers in the same order.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthgen.empirical.encodings.tensors import one_hot, takes_products

PRODUCTS = 132
"""Number of products that are computed at once on a GPU: the multiprocessors of an NVIDIA H100 or H200."""


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
        weight: Tensor = self.weight
        bias: Tensor | None = self.bias
        if (parts := _parts(x)) > 1:
            rows = rows.unflatten(1, (parts, -1)).flatten(0, 1)
            weight, bias = _repeat(weight, parts), None if bias is None else _repeat(bias, parts)
        output = rows @ weight if bias is None else torch.baddbmm(bias[:, None], rows, weight)
        return output.reshape(*x.shape[:-1], weight.shape[-1])


def _parts(x: Tensor) -> int:
    """Number of parts of equal size into which the batch of x [M, B, ...] is split: one product of matrices each.

    The gradient of a model's weights is a sum over all its rows, for which a few multiprocessors of a GPU are used.
    """
    models, batch = x.shape[:2]
    if not _splits(x):
        return 1
    return max(parts for parts in range(1, max(PRODUCTS // models, 1) + 1) if batch % parts == 0)


def _splits(x: Tensor) -> bool:
    """True where there is something to gain by splitting: in training on a GPU."""
    return x.is_cuda and torch.is_grad_enabled()


def _repeat(parameter: Tensor, parts: int) -> Tensor:
    """Repeat the parameter of each model for its parts: [M, ...] -> [M * parts, ...]."""
    return parameter[:, None].expand(-1, parts, *parameter.shape[1:]).flatten(0, 1)


class Embedding(nn.Module):
    """Tokens int64 [M, B, L] -> embeddings [M, B, L, D]; weight [M, V, D]."""

    def __init__(self, symbols: int, width: int) -> None:
        """Make one model, N(0, 1), as `nn.Embedding`."""
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, symbols, width))

    def forward(self, tokens_MBL: Tensor) -> Tensor:
        models, symbols, _ = self.weight.shape
        if takes_products(self.weight, symbols):
            chosen = one_hot(tokens_MBL, symbols, self.weight.dtype)
            return (chosen.flatten(1, 2) @ self.weight).unflatten(1, tokens_MBL.shape[1:])
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
        if x.is_cuda or torch.compiler.is_compiling():
            shape = (models, *[1] * (x.dim() - 2), width)
            return torch.addcmul(self.bias.view(shape), F.layer_norm(x, (width,)), self.weight.view(shape))
        # A CPU waits for memory, and the kernel for one model reads each row fewer times than single operations do.
        if models == 1:
            return F.layer_norm(x, (width,), self.weight[0], self.bias[0])
        parameters = zip(x.unbind(), self.weight.unbind(), self.bias.unbind(), strict=True)
        return torch.stack([F.layer_norm(rows, (width,), weight, bias) for rows, weight, bias in parameters])
