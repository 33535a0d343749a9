"""rotary-embedding-torch, as `lengthgen audit` takes it.

lengthgen audit docs/results/precision-audit/rotary_embedding_torch_encodings.py:by_offset
"""

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from torch import nn


class ByPositions(nn.Module):
    """Angles of given positions, then the rotation: no cache takes part."""

    def __init__(self, head_dim, theta):
        super().__init__()
        self.rotary = RotaryEmbedding(head_dim, theta=theta)

    def forward(self, q, k, positions):
        angles = self.rotary(positions)
        angles = angles[:, None] if angles.ndim == 3 else angles
        return apply_rotary_emb(angles, q), apply_rotary_emb(angles, k)


def by_positions(head_dim=64, theta=10000.0):
    return ByPositions(head_dim, theta)


class ByOffset(nn.Module):
    """`rotate_queries_or_keys`, the call that its documentation begins with: for each run of positions, its first."""

    def __init__(self, head_dim, theta):
        super().__init__()
        self.rotary = RotaryEmbedding(head_dim, theta=theta)

    def forward(self, q, k, positions):
        if positions.ndim > 1:
            raise ValueError("one offset for all rows")
        breaks = (positions.diff() != 1).nonzero().flatten() + 1
        lengths = torch.tensor([0, *breaks.tolist(), len(positions)]).diff().tolist()
        firsts = [int(run[0]) for run in positions.split(lengths)]
        return tuple(
            torch.cat(
                [
                    self.rotary.rotate_queries_or_keys(part, offset=first)
                    for part, first in zip(x.split(lengths, -2), firsts, strict=True)
                ],
                -2,
            )
            for x in (q, k)
        )


def by_offset(head_dim=64, theta=10000.0):
    return ByOffset(head_dim, theta)


class XPosByPositions(nn.Module):
    """The same parts with the scales of xPos, which are centred on the middle of each call."""

    def __init__(self, head_dim, theta):
        super().__init__()
        self.rotary = RotaryEmbedding(head_dim, theta=theta, use_xpos=True)

    def forward(self, q, k, positions):
        if positions.ndim > 1:
            raise ValueError("one row of positions only")
        angles, scale = self.rotary(positions), self.rotary.get_scale(positions)
        return apply_rotary_emb(angles, q, scale=scale), apply_rotary_emb(angles, k, scale=scale**-1)


def xpos_by_positions(head_dim=64, theta=10000.0):
    made = XPosByPositions(head_dim, theta)
    made.claims = {"relative", "distinct"}  # the library caches keys before it rotates them
    return made
