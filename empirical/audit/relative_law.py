"""Relative law: the logit of query j and key j - D must equal that of query D and key 0. Measures the error of it."""

from dataclasses import dataclass
from math import inf, log2
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import OFFSETS, Adapter, decade, query_grid

SCANNED = {"rotate": 2**16, "bias": 2**12, "scores": 2**9}
"""Last position up to which the first violation is searched position by position; beyond, only the grid is tested."""
SCAN = 4096
"""Positions tested in one step of that search."""
PER_OCTAVE = {"rotate": 24, "bias": 6, "scores": 6}
"""Grid positions per factor of two; a bias and a score need one call for each, hence fewer."""


class LawViolation(NamedTuple):
    """First query position j at which the error of the relative law exceeds its budget, with the offset D = j - i."""

    position: int
    offset: int
    error: float


@dataclass(frozen=True, kw_only=True)
class RelativeLawErrors:
    """Errors of the relative law on a grid of query positions and offsets.

    Attributes:
        positions: query positions j, int64 [P].
        offsets: offsets D, int64 [N].
        errors: absolute errors, float64 [N, P], see `Adapter.law_errors`.
        budgets: largest allowed errors, of the same shape.
        rounding: largest errors of a code that is rounded once to `dtype`, of the same shape; the default budgets.
        first: first query position whose error exceeds the budget; None if there is none.
        exact: True if every position before `first` was tested, not only grid positions.
        rate: largest change of the code in one position step.
        magnitude: size of the products that make up a logit.
    """

    positions: Tensor
    offsets: Tensor
    errors: Tensor
    budgets: Tensor
    rounding: Tensor
    dtype: torch.dtype
    first: LawViolation | None
    exact: bool
    rate: float
    magnitude: float

    @property
    def beyond_rounding(self) -> LawViolation | None:
        """First error on the grid that one rounding to the dtype of the inputs cannot make; None if there is none."""
        return _first_violation(self.positions, self.offsets, self.errors, self.rounding)

    def worst(self) -> dict[str, Any]:
        """Query position and offset whose error is the most times its budget, with both numbers."""
        row, column = divmod(int((self.errors / self.budgets).nan_to_num(posinf=0).argmax()), self.errors.shape[1])
        return {
            "query": int(self.positions[column]),
            "offset": int(self.offsets[row]),
            "error_of_the_law": finite(float(self.errors[row, column])),
            "budget": float(self.budgets[row, column]),
        }

    def as_json(self) -> dict[str, Any]:
        """Return the largest error of each decade of positions with its budget; null for an infinite error.

        `by_position` has more: of each eighth of an octave the position whose error is the most times its budget.
        """
        worst: dict[str, tuple[float, float]] = {}
        by_position: dict[int, tuple[float, int, float, float]] = {}
        for column, position in enumerate(self.positions.tolist()):
            row = int((self.errors[:, column] / self.budgets[:, column]).argmax())
            pair = (float(self.errors[row, column]), float(self.budgets[row, column]))
            worst[decade(position)] = max(worst.get(decade(position), (0.0, pair[1])), pair)
            eighth, point = int(8 * log2(position + 1)), (pair[0] / pair[1] if pair[1] else inf, position, *pair)
            by_position[eighth] = max(by_position.get(eighth, point), point)
        return {
            "worst": finite(float(self.errors.max())),
            "decades": {name: {"error": finite(error), "budget": budget} for name, (error, budget) in worst.items()},
            "by_position": {
                "position": [position for _, position, _, _ in by_position.values()],
                "error": [finite(error) for _, _, error, _ in by_position.values()],
                "budget": [budget for _, _, _, budget in by_position.values()],
            },
            "first_beyond": self.first and self.first.position,
            "offset": self.first and self.first.offset,
            "exact": self.exact,
        }


def finite(value: float) -> float | None:
    """Return the value, or None (JSON null) if it is infinite or NaN."""
    return value if value < float("inf") else None


def measure(
    adapter: Adapter, reference: Adapter, *, position_reach: int, offset_reach: int, budget: float | None
) -> RelativeLawErrors:
    """Measure the relative law on the grid and find the first position whose error exceeds the budget.

    `reference` is the subject in float64; `budget` replaces the error that one rounding of the code gives: error of a
    logit divided by |q| |k|, or error of a bias.
    """
    signed_offsets = [offset for offset in OFFSETS if offset <= offset_reach]
    if "bidirectional" in adapter.subject.claims:
        signed_offsets += [-offset for offset in signed_offsets if 0 < offset <= position_reach // 2]
    offsets = torch.tensor(signed_offsets)

    def errors_and_budgets(positions: Tensor) -> tuple[Tensor, Tensor]:
        if budget is None:
            budgets = adapter.law_budget(positions, offsets, reference)
        else:
            budgets = torch.full((len(offsets), len(positions)), budget, dtype=torch.float64)
        return torch.cat([adapter.law_errors(octave, offsets) for octave in _octaves(positions)], 1), budgets.double()

    grid = query_grid(position_reach + min(0, int(offsets.min())), PER_OCTAVE[adapter.subject.kind])
    errors, budgets = errors_and_budgets(grid)
    rounding = budgets if budget is None else adapter.law_budget(grid, offsets, reference).double()
    first, exact = _first_violation(grid, offsets, errors, budgets), True
    if first:
        exact = first.position <= SCANNED[adapter.subject.kind]
        for start in range(0, first.position if exact else 0, SCAN):
            positions = torch.arange(start, min(start + SCAN, first.position))
            if earlier := _first_violation(positions, offsets, *errors_and_budgets(positions)):
                first = earlier
                break
    return RelativeLawErrors(
        positions=grid,
        offsets=offsets,
        errors=errors,
        budgets=budgets,
        rounding=rounding,
        dtype=adapter.setting.dtype,
        first=first,
        exact=exact,
        rate=reference.rate,
        magnitude=reference.magnitude,
    )


def _first_violation(positions: Tensor, offsets: Tensor, errors: Tensor, budgets: Tensor) -> LawViolation | None:
    """First position of the grid with an error beyond its budget, with its first such offset; None if there is none."""
    beyond = errors > budgets
    if not beyond.any():
        return None
    column = int(beyond.any(0).int().argmax())
    row = int(beyond[:, column].int().argmax())
    return LawViolation(position=int(positions[column]), offset=int(offsets[row]), error=float(errors[row, column]))


def _octaves(positions: Tensor) -> list[Tensor]:
    """Split the positions by octave: each part is one call, with a sequence at most twice any query's prefix."""
    octaves = positions.double().clamp(min=1).log2().floor()
    return list(positions.split(octaves.unique_consecutive(return_counts=True)[1].tolist()))
