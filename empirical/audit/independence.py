"""What an instance gives must not depend on what else was made or done before: all comparisons are bit by bit."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from empirical.audit.codes import same
from empirical.audit.grid import spread
from empirical.audit.kinds import use
from empirical.audit.subject import Subject
from empirical.audit.use import Setting, Use

SHORT, LONG = 64, 512
LENGTHS = (SHORT, 1024, 4096, 16384, 65536, 262144)
FIRST, LAST = Setting(dtype=torch.float32), Setting(dtype=torch.bfloat16)


@dataclass(frozen=True, kw_only=True)
class Independence:
    """Each is None where it could not be asked.

    Attributes:
        other: the parameters of the second instance.
        unchanged_by_other: the first gives the same after the second was used, and so does a fresh one.
        other_differs: the second has codes of its own.
        unchanged_by_length: the same for a long sequence after a short one, and for shorter ones after it.
        unchanged_by_dtype: the same in float32 after use in bfloat16.
        unchanged_by_moves: the same after a move to bfloat16 and back, of what is not learned.
    """

    other: dict[str, Any] | None
    unchanged_by_other: bool | None
    other_differs: bool | None
    unchanged_by_length: bool
    unchanged_by_dtype: bool
    unchanged_by_moves: bool | None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return dict(vars(self))


def measure(subject: Subject, reach: int, device: str = "cpu") -> Independence:
    """Makes and uses instances in several orders; nothing may have made one with other parameters before."""
    count = min(SHORT, reach + 1)
    long = torch.cat([torch.arange(min(LONG, reach + 1)), spread(reach, count)]).unique()
    ends = [torch.arange(length - count, length) for length in LENGTHS if length <= reach + 1] or [torch.arange(count)]

    def fresh(setting: Setting = FIRST, **changed: Any) -> Use:
        return use(subject, setting, device, **changed)

    first = fresh()
    first.code(ends[0])
    before = fresh().code(long)
    lengths = [same(first.code(long), before)] + [same(first.code(end), fresh().code(end)) for end in reversed(ends)]
    unchanged_by_other = other_differs = None
    if subject.other is not None:
        second = fresh(**subject.other).code(long)
        # Before a fresh one is made, which may put right what the second did, or take over what it left.
        unchanged_by_other = same(first.code(long), before) and same(fresh().code(long), before)
        other_differs = not same(second, before)
    return Independence(
        other=None if subject.other is None else dict(subject.other),
        unchanged_by_other=unchanged_by_other,
        other_differs=other_differs,
        unchanged_by_length=all(lengths),
        unchanged_by_dtype=_after_low_precision(fresh(), long, before),
        unchanged_by_moves=_after_moves(fresh(), long, before)
        and _after_moves(fresh(), ends[0], fresh().code(ends[0])),
    )


def _after_low_precision(one: Use, positions: Tensor, expected: Tensor) -> bool:
    lower = copy(one)
    lower.setting = LAST
    lower.code(positions)
    return same(one.code(positions), expected)


def _after_moves(one: Use, positions: Tensor, expected: Tensor) -> bool | None:
    if not isinstance(one.instance, nn.Module) or one.subject.learned(one.instance):
        return None
    one.move(torch.bfloat16)
    one.move(torch.float32)
    return same(one.code(positions), expected)
