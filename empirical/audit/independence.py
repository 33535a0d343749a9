"""Independence: a result must not depend on other instances, on earlier calls, or on the pattern of a call."""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.adapter import Adapter, Setting, spread
from lengthgen.empirical.audit.position_codes import bitwise_equal
from lengthgen.empirical.audit.subject import AuditError, Subject
from lengthgen.empirical.audit.token_adapters import adapter_for

SHORT, LONG = 64, 512
LENGTHS = (SHORT, 1024, 4096, 16384, 65536, 262144)
"""Sequence lengths of the calls with short sequences."""
FIRST, LAST = Setting(dtype=torch.float32), Setting(dtype=torch.bfloat16)
TOKENS = 24
"""Tokens of the test sequence."""
PADS = 5
"""Padding tokens on one side."""
Tokens = tuple[Tensor, Tensor]
"""Queries and keys, [B, H, L, C] each."""


@dataclass(frozen=True, kw_only=True)
class Independence:
    """Results of the independence tests, bit by bit; each is None if the test does not apply.

    Attributes:
        other: changed parameters of the second instance.
        unchanged_by_other: codes of the first instance and of a fresh one are the same after the second was used.
        other_differs: the second instance has codes of its own.
        unchanged_by_length: codes of long sequences are the same after a short one, and of short ones after a long one.
        repeats_start: a call gets exactly the codes of an earlier call with as many tokens and another start.
        unchanged_by_dtype: float32 codes are the same after use in bfloat16.
        unchanged_by_moves: codes are the same after a move to bfloat16 and back; None with trainable parameters.
    """

    other: dict[str, Any] | None
    unchanged_by_other: bool | None
    other_differs: bool | None
    unchanged_by_length: bool
    repeats_start: bool
    unchanged_by_dtype: bool
    unchanged_by_moves: bool | None


def measure(subject: Subject, reach: int, device: str = "cpu") -> Independence:
    """Make and call instances in several orders. No instance with other parameters may have been made before."""
    count = min(SHORT, reach + 1)
    long = torch.cat([torch.arange(min(LONG, reach + 1)), spread(reach, count)]).unique()
    ends = [torch.arange(length - count, length) for length in LENGTHS if length <= reach + 1] or [torch.arange(count)]

    def fresh_adapter(setting: Setting = FIRST, **changed: Any) -> Adapter:
        return adapter_for(subject, setting, device, **changed)

    first = fresh_adapter()
    first.code(ends[0])
    before = fresh_adapter().code(long)
    lengths = [bitwise_equal(first.code(long), before)] + [
        bitwise_equal(first.code(end), fresh_adapter().code(end)) for end in reversed(ends)
    ]
    unchanged_by_other = other_differs = None
    if subject.other is not None:
        second = fresh_adapter(**subject.other).code(long)
        # The first instance is called before a fresh one is made: making one may repair or copy a shared table.
        unchanged_by_other = bitwise_equal(first.code(long), before) and bitwise_equal(
            fresh_adapter().code(long), before
        )
        other_differs = not bitwise_equal(second, before)
    repeats_start = False
    if not all(lengths):
        again, start = fresh_adapter(), torch.arange(count // 2)
        from_start = again.code(start)
        repeats_start = bitwise_equal(again.code(start + count // 2), from_start)
    used = fresh_adapter()
    in_low_precision = copy(used)
    in_low_precision.setting = LAST
    in_low_precision.code(long)
    return Independence(
        other=None if subject.other is None else dict(subject.other),
        unchanged_by_other=unchanged_by_other,
        other_differs=other_differs,
        unchanged_by_length=all(lengths),
        repeats_start=repeats_start,
        unchanged_by_dtype=bitwise_equal(used.code(long), before),
        unchanged_by_moves=_unchanged_after_moves(fresh_adapter(), long, before)
        and _unchanged_after_moves(fresh_adapter(), ends[0], fresh_adapter().code(ends[0])),
    )


def _unchanged_after_moves(adapter: Adapter, positions: Tensor, expected: Tensor) -> bool | None:
    """True if the codes are the same after a move to bfloat16 and back; None if the instance cannot be tested so."""
    if not isinstance(adapter.instance, nn.Module) or adapter.subject.is_trainable(adapter.instance):
        return None
    adapter.move(torch.bfloat16)
    adapter.move(torch.float32)
    return bitwise_equal(adapter.code(positions), expected)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Largest absolute difference, on real tokens, between a call pattern and a full forward pass of a sequence alone.

    `tolerance` is allowed for a code that is rounded once, at the entry with the largest ratio of both; `first_beyond`
    is the first query (token) position whose difference exceeds it.
    """

    difference: float
    tolerance: float
    first_beyond: int | None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file; an infinite difference becomes null."""
        difference = self.difference if self.difference < float("inf") else None
        return {"difference": difference, "tolerance": self.tolerance, "first_beyond": self.first_beyond}


def measure_patterns(adapter: Adapter, reference: Adapter, reach: int) -> tuple[dict[str, Agreement], str | None]:
    """Compare every call pattern with a full forward pass: agreement by pattern, such as "left padded, near".

    Each is tested with `near` positions 0, 1, 2, ... and with `far` positions spread out up to `reach`, by a fresh
    instance for every call. The text is the error message if positions of each row, [B, L], are refused.
    """
    count = min(TOKENS, reach + 1)
    near, far = torch.arange(count), spread(reach, count)
    tokens = adapter.draw(1, count)
    agreements = {}
    # One rounding is tolerated, in float32 at least, in which an encoding may compute whatever it gets.
    coarser = max(1.0, torch.finfo(torch.float32).eps / adapter.setting.eps)

    def compare(name: str, positions: Tensor, patterns: Iterable[tuple[str, Tensor, int]]) -> None:
        full_pass = adapter.fresh().outcome(tokens, positions)
        tolerance = (coarser * adapter.tolerance(tokens, full_pass, reference)).expand_as(full_pass)
        for pattern, outcome, first in patterns:
            difference = adapter.select(outcome, first, count) - adapter.select(full_pass, 0, count)
            agreements[f"{pattern}, {name}"] = _agreement(difference, adapter.select(tolerance, 0, count), positions)

    for name, positions in (("near", near), ("far", far)):
        compare(name, positions, _call_patterns(adapter, tokens, positions))
    try:
        batch = adapter.fresh().outcome(_concatenate(tokens, tokens, 0), torch.stack([far, near]))
    except AuditError as error:
        return agreements, str(error)
    for name, positions, row in (("far", far, batch[:1]), ("near", near, batch[1:])):
        compare(name, positions, [("a row with positions of its own", row, 0)])
    return agreements, None


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
