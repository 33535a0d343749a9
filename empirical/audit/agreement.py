"""Agreement of call patterns: padding, batching and token-by-token decoding must not change results of real tokens."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import Adapter
from lengthgen.empirical.audit.grid import spread
from lengthgen.empirical.audit.subject import AuditError

TOKENS = 24
"""Tokens of the test sequence."""
PADS = 5
"""Padding tokens on one side."""
Tokens = tuple[Tensor, Tensor]
"""Queries and keys, [B, H, L, C] each."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Largest difference between one call pattern and a full forward pass of the sequence alone.

    Attributes:
        difference: largest absolute difference on real tokens; infinite if a value is NaN.
        tolerance: difference allowed for a code that is rounded once, at the entry with the largest ratio of both.
        first_beyond: first query (token) position whose difference exceeds the tolerance; None if there is none.
    """

    difference: float
    tolerance: float
    first_beyond: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file; an infinite difference becomes null."""
        difference = self.difference if self.difference < float("inf") else None
        return {"difference": difference, "tolerance": self.tolerance, "first_beyond": self.first_beyond}


def measure(adapter: Adapter, reference: Adapter, reach: int) -> tuple[dict[str, Agreement], str | None]:
    """Compare every call pattern with a full forward pass.

    Each pattern is tested with `near` positions 0, 1, 2, ... and with `far` positions spread out up to `reach`.
    Every call uses a fresh instance, so that no result depends on an earlier call.

    Returns:
        Agreement by pattern, such as "left padded, near"; and the error message if positions of each row, [B, L],
        are refused, else None.
    """
    count = min(TOKENS, reach + 1)
    near, far = torch.arange(count), spread(reach, count)
    tokens = adapter.draw(1, count)
    agreements = {}
    for name, positions in (("near", near), ("far", far)):
        full_pass = adapter.fresh().outcome(tokens, positions)
        tolerance = _tolerance(adapter, tokens, full_pass, reference)
        for pattern, outcome, first in _call_patterns(adapter, tokens, positions):
            difference = adapter.select(outcome, first, count) - adapter.select(full_pass, 0, count)
            agreements[f"{pattern}, {name}"] = _agreement(difference, adapter.select(tolerance, 0, count), positions)
    try:
        batch = adapter.fresh().outcome(_concatenate(tokens, tokens, 0), torch.stack([far, near]))
    except AuditError as error:
        return agreements, str(error)
    for row, (name, positions) in enumerate((("far", far), ("near", near))):
        full_pass = adapter.fresh().outcome(tokens, positions)
        tolerance = _tolerance(adapter, tokens, full_pass, reference)
        difference = adapter.select(batch[row : row + 1], 0, count) - adapter.select(full_pass, 0, count)
        pattern = f"a row with positions of its own, {name}"
        agreements[pattern] = _agreement(difference, adapter.select(tolerance, 0, count), positions)
    return agreements, None


def _tolerance(adapter: Adapter, tokens: Tokens, full_pass: Tensor, reference: Adapter) -> Tensor:
    """Tolerance of each entry: one rounding, in float32 at least, in which an encoding may compute whatever it gets."""
    coarser = max(1.0, torch.finfo(torch.float32).eps / adapter.setting.eps)
    return (coarser * adapter.tolerance(tokens, full_pass, reference)).expand_as(full_pass)


def _call_patterns(adapter: Adapter, tokens: Tokens, positions: Tensor) -> Iterator[tuple[str, Tensor, int]]:
    """Yield (name of the call pattern, its result, index of the first real token in it)."""
    pads = adapter.draw(1, PADS, seed=2)
    before, after = positions[:1].expand(PADS), positions[-1:].expand(PADS)
    yield "left padded", adapter.fresh().outcome(_concatenate(pads, tokens, 2), torch.cat([before, positions])), PADS
    yield "right padded", adapter.fresh().outcome(_concatenate(tokens, pads, 2), torch.cat([positions, after])), 0
    others = adapter.draw(2, len(positions), seed=3)
    yield "batched", adapter.fresh().outcome(_concatenate(tokens, others, 0), positions)[:1], 0
    yield "token by token", adapter.fresh().stepwise(tokens, positions), 0


def _concatenate(first: Tokens, second: Tokens, axis: int) -> Tokens:
    """Join queries and keys of two sequences along an axis."""
    return torch.cat([first[0], second[0]], axis), torch.cat([first[1], second[1]], axis)


def _agreement(difference: Tensor, tolerance: Tensor, positions: Tensor) -> Agreement:
    """Summarise a difference [..., J, I] or [..., L, D]; the second-last axis is that of queries (tokens)."""
    difference = difference.abs().nan_to_num(nan=torch.inf)
    beyond = (difference > tolerance).any(-1).flatten(0, -2).any(0)
    worst = int(torch.where(tolerance > 0, difference / tolerance, difference).argmax())
    return Agreement(
        difference=float(difference.max()),
        tolerance=float(tolerance.flatten()[worst]),
        first_beyond=int(positions[beyond][0]) if beyond.any() else None,
    )
