"""Sinusoidal embeddings: whether a table that is added is one, keeps its relative law, and is the published one."""

from dataclasses import dataclass

import torch
from torch import Tensor

from empirical.audit.embedding import EmbedAdapter
from empirical.audit.published import sinusoids

SPAN = 512
"""Positions that are read."""
LEAST = 8
"""Fewest positions that show a sinusoid."""
CLOSE = 2e-3
"""Largest difference of entries, as a share of the amplitude, that is rounding: angles may be in float32."""
UNPAIRED = 1e-2
"""Largest change of a product of two embeddings of one distance, as a share of the largest product."""


@dataclass(frozen=True, kw_only=True)
class Sinusoids:
    """Table of sines and cosines.

    Attributes:
        table: entries divided by the amplitude, float64 [P, D], from position 0.
        change: largest change of e(p) . e(p + d) with p, as a share of the largest product; 0 if each sine has a cosine
            of its frequency.
    """

    table: Tensor
    change: float

    def version(self, base: float) -> str | None:
        """Published version with this base that the table is; None if it is none."""
        return next((name for name, far in self.distances(base).items() if far.abs().max() < CLOSE), None)

    def distances(self, base: float) -> dict[str, Tensor]:
        """Difference from each published version: [P, D]."""
        rows, width = self.table.shape
        return {name: self.table - torch.tensor(sheet) for name, sheet in sinusoids(rows, width, base).items()}


def read(reference: EmbedAdapter) -> Sinusoids | None:
    """Read the added table; None if its channels are not half sines and half cosines of one amplitude.

    Each channel must follow e(p + 1) + e(p - 1) = 2 cos(w) e(p).
    """
    table = reference.code(torch.arange(reference.position_reach(SPAN - 1) + 1))
    amplitude = table.abs().max()
    if len(table) < LEAST or not 0 < amplitude < torch.inf or table.shape[1] % 2:
        return None
    table = table / amplitude
    start = table[0].abs()
    if not (start < CLOSE).sum() == (start > 1 - CLOSE).sum() == len(start) // 2:
        return None
    middle, around = table[1:-1], table[2:] + table[:-2]
    twice_cosine = (middle * around).sum(0) / (middle**2).sum(0).clamp(min=torch.finfo(torch.float64).tiny)
    if (around - twice_cosine * middle).abs().max() > CLOSE:
        return None
    products = table @ table.T / (len(start) / 2)
    half = len(table) // 2
    changes = [(products.diagonal(distance) - products[0, distance]).abs().max() for distance in range(half)]
    return Sinusoids(table=table, change=float(torch.stack(changes).max()))
