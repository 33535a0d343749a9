"""Independence: a result must not depend on other instances or on earlier calls. Comparisons are bit by bit."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.adapter import Adapter, Setting
from lengthgen.empirical.audit.codes import bitwise_equal
from lengthgen.empirical.audit.grid import spread
from lengthgen.empirical.audit.kinds import adapter_for
from lengthgen.empirical.audit.subject import Subject

SHORT, LONG = 64, 512
LENGTHS = (SHORT, 1024, 4096, 16384, 65536, 262144)
"""Sequence lengths of the calls with short sequences."""
FIRST, LAST = Setting(dtype=torch.float32), Setting(dtype=torch.bfloat16)


@dataclass(frozen=True, kw_only=True)
class Independence:
    """Results of the independence tests; each is None if the test does not apply.

    Attributes:
        other: changed parameters of the second instance.
        unchanged_by_other: True if the first instance gives the same codes after the second was used, and so does a
            fresh instance.
        other_differs: True if the second instance has codes of its own.
        unchanged_by_length: True if codes of a long sequence are the same after a short one, and codes of shorter ones
            after a long one.
        repeats_start: True if a call gets exactly the codes of an earlier call with as many tokens and another start.
        unchanged_by_dtype: True if float32 codes are the same after use in bfloat16.
        unchanged_by_moves: True if codes are the same after a move to bfloat16 and back; None if it has trainable
            parameters.
    """

    other: dict[str, Any] | None
    unchanged_by_other: bool | None
    other_differs: bool | None
    unchanged_by_length: bool
    repeats_start: bool
    unchanged_by_dtype: bool
    unchanged_by_moves: bool | None

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return dict(vars(self))


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
    return Independence(
        other=None if subject.other is None else dict(subject.other),
        unchanged_by_other=unchanged_by_other,
        other_differs=other_differs,
        unchanged_by_length=all(lengths),
        repeats_start=not all(lengths) and _repeats_start(fresh_adapter(), count),
        unchanged_by_dtype=_unchanged_after_low_precision(fresh_adapter(), long, before),
        unchanged_by_moves=_unchanged_after_moves(fresh_adapter(), long, before)
        and _unchanged_after_moves(fresh_adapter(), ends[0], fresh_adapter().code(ends[0])),
    )


def _repeats_start(adapter: Adapter, count: int) -> bool:
    """True if a second call, with as many tokens and another start, gets the codes of the first one."""
    from_start = adapter.code(torch.arange(count // 2))
    return bitwise_equal(adapter.code(torch.arange(count // 2) + count // 2), from_start)


def _unchanged_after_low_precision(adapter: Adapter, positions: Tensor, expected: Tensor) -> bool:
    """True if the codes are the same after a call in bfloat16."""
    lower = copy(adapter)
    lower.setting = LAST
    lower.code(positions)
    return bitwise_equal(adapter.code(positions), expected)


def _unchanged_after_moves(adapter: Adapter, positions: Tensor, expected: Tensor) -> bool | None:
    """True if the codes are the same after a move to bfloat16 and back; None if the instance cannot be tested so."""
    if not isinstance(adapter.instance, nn.Module) or adapter.subject.is_trainable(adapter.instance):
        return None
    adapter.move(torch.bfloat16)
    adapter.move(torch.float32)
    return bitwise_equal(adapter.code(positions), expected)
