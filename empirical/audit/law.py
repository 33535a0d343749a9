"""The relative law: the logit of query j and key j - D is that of query D and key 0."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from empirical.audit.grid import OFFSETS, decade, queries
from empirical.audit.use import Use

SCANNED = {"rotate": 2**16, "bias": 2**12, "scores": 2**9}
"""Up to where every position is looked at for the first beyond the budget; above, only the grid is."""
SCAN = 4096
PER_OCTAVE = {"rotate": 24, "bias": 6, "scores": 6}
"""Positions of the grid; a call for each is needed where pairs are asked for."""


@dataclass(frozen=True, kw_only=True)
class First:
    """A query position j and an offset D."""

    position: int
    offset: int
    error: float


@dataclass(frozen=True, kw_only=True)
class Law:
    """What was measured on the grid.

    Attributes:
        positions: of queries, int64 [P].
        offsets: D, int64 [N].
        errors: float64 [N, P], as `Use.law`.
        budgets: of the same shape.
        first: the first query position beyond the budget, with its offset and its error; None if there is none.
        exact: whether every position before it was looked at.
        rate, magnitude: of the subject's code: by how much it changes in a step, and the size of its products.
    """

    positions: Tensor
    offsets: Tensor
    errors: Tensor
    budgets: Tensor
    first: First | None
    exact: bool
    rate: float
    magnitude: float

    def as_json(self) -> dict[str, Any]:
        """The worst error of each decade, beside its budget there; null where it is not finite."""
        worst: dict[str, tuple[float, float]] = {}
        for column, position in enumerate(self.positions.tolist()):
            row = int((self.errors[:, column] / self.budgets[:, column]).argmax())
            one = (float(self.errors[row, column]), float(self.budgets[row, column]))
            worst[decade(position)] = max(worst.get(decade(position), (0.0, one[1])), one)
        return {
            "worst": finite(float(self.errors.max())),
            "decades": {name: {"error": finite(error), "budget": budget} for name, (error, budget) in worst.items()},
            "first_beyond": self.first and self.first.position,
            "offset": self.first and self.first.offset,
            "exact": self.exact,
        }


def finite(value: float) -> float | None:
    """As JSON has it."""
    return value if value < float("inf") else None


def measure(use: Use, reference: Use, *, position_reach: int, offset_reach: int, budget: float | None) -> Law:
    """The law on the grid, and the first position beyond the budget.

    Args:
        use: what to look at.
        reference: the same in float64, from which the budget of a code that is rounded once is derived.
        position_reach: the last position that the subject takes.
        offset_reach: the last offset.
        budget: in place of that budget: of logits over |q| |k|, or of a bias.
    """
    both = [one for one in OFFSETS if one <= offset_reach]
    if "bidirectional" in use.subject.claims:
        both += [-one for one in both if 0 < one <= position_reach // 2]
    offsets = torch.tensor(both)

    def looked_at(positions: Tensor) -> tuple[Tensor, Tensor]:
        if budget is None:
            budgets = use.law_budget(positions, offsets, reference)
        else:
            budgets = torch.full((len(offsets), len(positions)), budget, dtype=torch.float64)
        return torch.cat([use.law(run, offsets) for run in _runs(positions)], 1), budgets.double()

    grid = queries(position_reach + min(0, int(offsets.min())), PER_OCTAVE[use.subject.kind])
    errors, budgets = looked_at(grid)
    first, exact = _first(grid, offsets, errors, budgets), True
    if first:
        exact = first.position <= SCANNED[use.subject.kind]
        for start in range(0, first.position if exact else 0, SCAN):
            positions = torch.arange(start, min(start + SCAN, first.position))
            if found := _first(positions, offsets, *looked_at(positions)):
                first = found
                break
    return Law(
        positions=grid,
        offsets=offsets,
        errors=errors,
        budgets=budgets,
        first=first,
        exact=exact,
        rate=reference.rate,
        magnitude=reference.magnitude,
    )


def _first(positions: Tensor, offsets: Tensor, errors: Tensor, budgets: Tensor) -> First | None:
    beyond = errors > budgets
    if not beyond.any():
        return None
    column = int(beyond.any(0).int().argmax())
    row = int(beyond[:, column].int().argmax())
    return First(position=int(positions[column]), offset=int(offsets[row]), error=float(errors[row, column]))


def _runs(positions: Tensor) -> list[Tensor]:
    """By octave: each run is asked for in one call, as of a sequence at most twice as long as any query's prefix."""
    octaves = positions.double().clamp(min=1).log2().floor()
    return list(positions.split(octaves.unique_consecutive(return_counts=True)[1].tolist()))
