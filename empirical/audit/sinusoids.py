"""Sinusoidal embeddings: whether a table that is added is one, keeps its relative law, and is the published one."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lengthgen.empirical.audit.embedding import EmbedAdapter
from lengthgen.empirical.audit.published import sinusoids

SPAN = 512
"""Positions that are read."""
LEAST = 8
"""Fewest positions that show a sinusoid."""
CLOSE = 2e-3
"""Largest difference of entries, as a share of the amplitude, that is rounding: angles may be in float32."""
UNPAIRED = 1e-2
"""Largest change of a product of two embeddings of one distance, as a share of the largest product."""


FIRST = 3
"""Positions of the published table that the first one may be: some count from a padding index on."""


@dataclass(frozen=True, kw_only=True)
class Sinusoids:
    """Table of sines and cosines.

    Attributes:
        table: entries divided by the amplitude, float64 [P, D], from position 0.
        steps: angle of one position step for each channel, [D].
        in_pairs: True if it is meant as pairs of one frequency each: half sines and half cosines, or each sine twice.
        change: largest change of e(p) . e(p + d) with p, as a share of the largest product; 0 if each sine has a cosine
            of its frequency.
    """

    table: Tensor
    steps: Tensor
    in_pairs: bool
    change: float

    def version(self, base: float) -> str | None:
        """Published version with this base that the table is; None if it is none."""
        return next((name for name, far in self.distances(base).items() if far.abs().max() < CLOSE), None)

    def distances(self, base: float) -> dict[str, Tensor]:
        """Difference from each published version, from the first position on that is the nearest: [P, D]."""
        rows, width = self.table.shape
        nearest = {}
        for name, sheet in sinusoids(rows + FIRST - 1, width, base).items():
            far = self.table - torch.tensor(sheet, dtype=torch.float64).unfold(0, rows, 1).transpose(1, 2)
            nearest[name] = far[far.abs().mean((1, 2)).argmin()]
        return nearest

    @property
    def likely_bases(self) -> list[float]:
        """Bases that the second frequency may have, to four digits, by the published versions."""
        half = self.table.shape[1] // 2
        exponents = [(step, power) for step in self.steps[1:3].tolist() if step > 0 for power in (half, half - 1)]
        return [float(f"{step**-power:.4g}") for step, power in exponents]


def read(reference: EmbedAdapter) -> Sinusoids | None:
    """Read the added table; None if its channels are not sines and cosines of one amplitude.

    Each channel must follow e(p + 1) + e(p - 1) = 2 cos(w) e(p).
    """
    table = reference.code(torch.arange(reference.position_reach(SPAN - 1) + 1))
    amplitude = table.abs().max()
    if len(table) < LEAST or not 0 < amplitude < torch.inf or table.shape[1] % 2:
        return None
    table = table / amplitude
    middle, around = table[1:-1], table[2:] + table[:-2]
    twice_cosine = (middle * around).sum(0) / (middle**2).sum(0).clamp(min=torch.finfo(torch.float64).tiny)
    if (around - twice_cosine * middle).abs().max() > CLOSE:
        return None
    start, half = table[0].abs(), table.shape[1] // 2
    slow_last = twice_cosine.sort().values.unflatten(0, (half, 2))
    is_twice = (start < CLOSE).all() and (slow_last.diff(dim=1).abs() < CLOSE).all()
    products = table @ table.T / half
    changes = [(products.diagonal(far) - products[0, far]).abs().max() for far in range(len(table) // 2)]
    return Sinusoids(
        table=table,
        steps=(twice_cosine / 2).clamp(-1, 1).acos(),
        in_pairs=bool((start < CLOSE).sum() == (start > 1 - CLOSE).sum() == half or is_twice),
        change=float(torch.stack(changes).max()),
    )
