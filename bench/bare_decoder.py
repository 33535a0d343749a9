"""Bare decoder: the project's model of one encoding, written as a user would write it for that model alone."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BareDecoder(nn.Module):
    """Pre-norm decoder with learned absolute positions: tokens int64 [B, L] -> logits [B, L - first_query, V]."""

    def __init__(self, *, symbols: int, length: int, width: int, layers: int, heads: int) -> None:
        """Make the layers with PyTorch's initial weights."""
        super().__init__()
        self.tokens, self.positions = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(_BareBlock(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, symbols, bias=False)

    def forward(self, tokens_BL: Tensor, first_query: int) -> Tensor:
        """Compute the logits of the queries from `first_query` on; the last block computes only these."""
        x = self.tokens(tokens_BL) + self.positions.weight[: tokens_BL.shape[1]]
        for block in self.blocks:
            x = block(x, first_query if block is self.blocks[-1] else 0)
        return self.head(self.norm(x))


class _BareBlock(nn.Module):
    """Causal attention and an MLP of 4D GELU units."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, first: int) -> Tensor:
        q, k, v = self.qkv(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        keys = k.shape[-2]
        mask = torch.full((keys - first, keys), -torch.inf).triu(1 + first)
        attended = F.scaled_dot_product_attention(q[..., first:, :], k, v, attn_mask=mask.to(q))
        x = x[:, first:] + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))
