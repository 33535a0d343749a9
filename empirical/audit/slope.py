"""Dependence of a bias on the distance: sign and slope of every head."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from empirical.audit.codes import distinct
from empirical.audit.grid import WINDOW, first_positions
from empirical.audit.pairs import BiasAdapter


@dataclass(frozen=True, kw_only=True)
class Slope:
    """Direction and first step of the bias, measured in float64.

    Attributes:
        directions: for each head, as the distance grows: "falls", "rises", "flat" or "mixed".
        first_rise: first distance at which the bias of some head is larger than at the distance before; None if none.
        steps: for each head, change of the bias from distance 0 to 1.
        distinct_after: number of distinct codes among `of_after` distances to keys after the query; None if unused.
        of_after: number of these distances.
    """

    directions: list[str]
    first_rise: int | None
    steps: list[float]
    distinct_after: int | None
    of_after: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return dict(vars(self))


def measure(reference: BiasAdapter, reach: int) -> Slope:
    """Measure distances 0..4095, or up to the last one that the subject accepts."""
    values = reference.code(first_positions(reach))
    change = values.diff(dim=0)
    rising = (change > 0).any(1).nonzero().flatten()
    codes_after = None
    if "bidirectional" in reference.subject.claims:
        codes_after = reference.after(torch.arange(min(WINDOW, reach + 1)))
    return Slope(
        directions=[_direction(head) for head in change.T],
        first_rise=int(rising[0]) + 1 if len(rising) else None,
        steps=change[0].tolist() if len(change) else [],
        distinct_after=None if codes_after is None else distinct(codes_after),
        of_after=None if codes_after is None else len(codes_after),
    )


def _direction(change: Tensor) -> str:
    """Direction of one head's bias, from its changes per step of distance."""
    falls, rises = bool((change < 0).any()), bool((change > 0).any())
    return {(True, False): "falls", (False, True): "rises", (False, False): "flat"}.get((falls, rises), "mixed")
