"""How a bias depends on the distance: its sign, and the slopes of its heads."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from empirical.audit.codes import distinct
from empirical.audit.grid import WINDOW, first_positions
from empirical.audit.pairs import BiasUse


@dataclass(frozen=True, kw_only=True)
class Slope:
    """In float64.

    Attributes:
        directions: by head, as the distance grows: "falls", "rises", "flat" or "mixed".
        first_rise: the first distance at which some head has more than at the one before.
        steps: by head, what the first step of distance adds.
        distinct_after: of keys after the query, the codes of as many distances as `of_after`.
    """

    directions: list[str]
    first_rise: int | None
    steps: list[float]
    distinct_after: int | None
    of_after: int | None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return dict(vars(self))


def measure(reference: BiasUse, reach: int) -> Slope:
    """Over all distances 0..4095, or as far as the subject goes."""
    values = reference.code(first_positions(reach))
    change = values.diff(dim=0)
    rising = (change > 0).any(1).nonzero().flatten()
    after = None
    if "bidirectional" in reference.subject.claims:
        after = reference.after(torch.arange(min(WINDOW, reach + 1)))
    return Slope(
        directions=[_direction(head) for head in change.T],
        first_rise=int(rising[0]) + 1 if len(rising) else None,
        steps=change[0].tolist() if len(change) else [],
        distinct_after=None if after is None else distinct(after),
        of_after=None if after is None else len(after),
    )


def _direction(change: Tensor) -> str:
    falls, rises = bool((change < 0).any()), bool((change > 0).any())
    return {(True, False): "falls", (False, True): "rises", (False, False): "flat"}.get((falls, rises), "mixed")
