"""One sequence used in several ways: padded, in a batch, token by token. What is real must come out the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from empirical.audit.grid import spread
from empirical.audit.subject import AuditError
from empirical.audit.use import Use

TOKENS = 24
PADS = 5
Tokens = tuple[Tensor, Tensor]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Of one way of use with the whole sequence alone.

    Attributes:
        difference: the largest on real tokens; infinite where one is no number.
        tolerance: of a code that is rounded once, where the difference is largest in proportion to it.
        first_beyond: the first position of a query (of a token) that differs by more.
    """

    difference: float
    tolerance: float
    first_beyond: int | None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        difference = self.difference if self.difference < float("inf") else None
        return {"difference": difference, "tolerance": self.tolerance, "first_beyond": self.first_beyond}


def measure(use: Use, reference: Use, reach: int) -> tuple[dict[str, Agreement], str | None]:
    """By way of use, and why rows of a batch could not have positions of their own, where they could not.

    `near`: positions 0, 1, 2, ...; `far`: spread out up to `reach`. Every call is made on a fresh instance, so that
    none depends on those before it.
    """
    count = min(TOKENS, reach + 1)
    near, far = torch.arange(count), spread(reach, count)
    tokens = use.draw(1, count)
    found = {}
    for name, positions in (("near", near), ("far", far)):
        whole = use.fresh().outcome(tokens, positions)
        tolerance = use.tolerance(tokens, whole, reference).expand_as(whole)
        for way, outcome, first in _ways(use, tokens, positions):
            difference = use.select(outcome, first, count) - use.select(whole, 0, count)
            found[f"{way}, {name}"] = _judged(difference, use.select(tolerance, 0, count), positions)
    try:
        both = use.fresh().outcome(_joined(tokens, tokens, 0), torch.stack([far, near]))
    except AuditError as error:
        return found, str(error)
    for row, (name, positions) in enumerate((("far", far), ("near", near))):
        whole = use.fresh().outcome(tokens, positions)
        tolerance = use.tolerance(tokens, whole, reference).expand_as(whole)
        difference = use.select(both[row : row + 1], 0, count) - use.select(whole, 0, count)
        way = f"a row with positions of its own, {name}"
        found[way] = _judged(difference, use.select(tolerance, 0, count), positions)
    return found, None


def _ways(use: Use, tokens: Tokens, positions: Tensor) -> Iterator[tuple[str, Tensor, int]]:
    """(way, outcome, where the real tokens begin in it)."""
    pads = use.draw(1, PADS, seed=2)
    before, after = positions[:1].expand(PADS), positions[-1:].expand(PADS)
    yield "left padded", use.fresh().outcome(_joined(pads, tokens, 2), torch.cat([before, positions])), PADS
    yield "right padded", use.fresh().outcome(_joined(tokens, pads, 2), torch.cat([positions, after])), 0
    others = use.draw(2, len(positions), seed=3)
    yield "batched", use.fresh().outcome(_joined(tokens, others, 0), positions)[:1], 0
    yield "token by token", use.fresh().stepwise(tokens, positions), 0


def _joined(first: Tokens, second: Tokens, axis: int) -> Tokens:
    return torch.cat([first[0], second[0]], axis), torch.cat([first[1], second[1]], axis)


def _judged(difference: Tensor, tolerance: Tensor, positions: Tensor) -> Agreement:
    """Where the axis before the last is that of queries (tokens)."""
    difference = difference.abs().nan_to_num(nan=torch.inf)
    beyond = (difference > tolerance).any(-1).flatten(0, -2).any(0)
    worst = int(torch.where(tolerance > 0, difference / tolerance, difference).argmax())
    return Agreement(
        difference=float(difference.max()),
        tolerance=float(tolerance.flatten()[worst]),
        first_beyond=int(positions[beyond][0]) if beyond.any() else None,
    )
