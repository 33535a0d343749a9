"""Position encodings of x-transformers, as `lengthgen audit` takes them.

lengthgen audit docs/results/precision-audit/x_transformers_encodings.py:rotary
"""

import torch
from torch import nn
from x_transformers.x_transformers import (
    AlibiPositionalBias,
    DynamicPositionBias,
    RelativePositionBias,
    RotaryEmbedding,
    apply_rotary_pos_emb,
)


class Rotary(nn.Module):
    """The calls by which its attention rotates queries and keys."""

    def __init__(self, head_dim, base, use_xpos):
        super().__init__()
        self.rotary = RotaryEmbedding(head_dim, base=base, use_xpos=use_xpos)

    def forward(self, q, k, positions):
        angles, scale = self.rotary(positions)
        return apply_rotary_pos_emb(q, angles, scale), apply_rotary_pos_emb(k, angles, scale**-1.0)


def rotary(head_dim=64, base=10000.0):
    return Rotary(head_dim, base, use_xpos=False)


def xpos(head_dim=64, base=10000.0):
    made = Rotary(head_dim, base, use_xpos=True)
    made.claims = {"relative", "distinct"}  # the library caches keys before it rotates them
    return made


class Alibi(nn.Module):
    """The bias at any positions."""

    def __init__(self, heads):
        super().__init__()
        self.bias = AlibiPositionalBias(heads)

    def forward(self, query_positions, key_positions):
        return self.bias.forward_custom_pos(query_positions, key_positions)


def alibi(heads=4):
    made = Alibi(heads)
    made.claims = {"relative", "distinct", "streaming", "decays"}
    return made


class ByLengths(nn.Module):
    """A bias that is only given for the last i of j positions: row by row, 0 for keys after the query."""

    def __init__(self, bias):
        super().__init__()
        self.bias = bias

    def forward(self, query_positions, key_positions):
        if query_positions.ndim > 1:
            raise ValueError("one row of positions only")
        rows = []
        for query in query_positions.tolist():
            row = self.bias(1, query + 1)[:, 0]
            seen = row[:, key_positions.clamp(max=query)]
            rows.append(torch.where(key_positions > query, torch.zeros_like(seen), seen))
        return torch.stack(rows, 1)


def alibi_by_lengths(heads=4):
    made = ByLengths(AlibiPositionalBias(heads))
    made.claims = {"relative", "distinct", "streaming", "decays"}
    return made


def relative_position_bias(heads=4):
    return ByLengths(RelativePositionBias(scale=8.0, causal=True, heads=heads))


def dynamic_position_bias(heads=4):
    return ByLengths(DynamicPositionBias(dim=64, heads=heads, depth=2))


def dynamic_position_bias_log(heads=4):
    return ByLengths(DynamicPositionBias(dim=64, heads=heads, depth=2, log_distance=True))
