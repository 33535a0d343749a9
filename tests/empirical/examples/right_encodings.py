"""Right implementations, into which tests plant bugs by replacing text."""

import torch
from torch import nn

TABLES = {}


class Rope(nn.Module):
    """Half-split RoPE with a table that is keyed by all that it depends on."""

    def __init__(self, head_dim=64, base=10000.0):
        super().__init__()
        self.tables = TABLES
        self.head_dim, self.base = head_dim, base

    def table(self, positions):
        key = (self.base, self.head_dim, positions.dtype, tuple(positions.flatten().tolist()), positions.shape)
        if key not in self.tables:
            self.tables.clear()
            steps = self.base ** (-torch.arange(0, self.head_dim, 2).double() / self.head_dim)
            angles = positions.double()[..., None] * steps
            angles = torch.cat((angles, angles), -1)
            self.tables[key] = angles.cos().unsqueeze(-3), angles.sin().unsqueeze(-3)
        return self.tables[key]

    def forward(self, q, k, positions):
        cosine, sine = self.table(positions)
        half = self.head_dim // 2

        def turn(x):
            wide = x.double()
            swapped = torch.cat((-wide[..., half:], wide[..., :half]), -1)
            return (wide * cosine + swapped * sine).to(x.dtype)

        return turn(q), turn(k)


def alibi(heads=12):
    """ALiBi with the slopes of the paper's text."""
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1).double() / heads)

    def bias(query_positions, key_positions):
        distance = query_positions[..., :, None] - key_positions[..., None, :]
        return -slopes[:, None, None] * distance.abs()[..., None, :, :]

    return bias
