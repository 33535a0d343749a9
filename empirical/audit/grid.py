"""Where an audit looks."""

import torch
from torch import Tensor

OFFSETS = (0, 1, 2, 7, 64, 1000)
WINDOW = 1000
"""Neighbouring positions whose codes are told apart."""
FIRST_POSITIONS = 4096
"""Looked at without a gap: beyond where integers end in bfloat16 (256) and float16 (2048)."""


def queries(reach: int, per_octave: int) -> Tensor:
    """Query positions 0..reach: evenly spaced on a log scale, and hostile ones, where a binade or a decade begins."""
    spaced = {round(2 ** (step / per_octave)) for step in range(per_octave * (reach.bit_length() + 1))}
    hostile = {2**k + near for k in range(reach.bit_length() + 1) for near in (-1, 0, 1, 2)}
    decades = {10**k + near for k in range(len(str(reach)) + 1) for near in (-1, 0, 1)}
    return torch.tensor(sorted(one for one in {0, reach} | spaced | hostile | decades if 0 <= one <= reach))


def decade(position: int) -> str:
    """Of a position, like "100-999"; the first is "0-9"."""
    digits = len(str(position))
    return "0-9" if digits == 1 else f"{10 ** (digits - 1)}-{10**digits - 1}"


def windows(reach: int) -> list[Tensor]:
    """Runs of neighbouring positions: the first ones, and as many as fit from each power of ten and up to `reach`."""
    starts = sorted({0, *(10**k for k in range(3, 12)), max(0, reach + 1 - WINDOW)})
    runs = [torch.arange(start, start + WINDOW) for start in starts if start + WINDOW <= reach + 1]
    return [first_positions(reach), *runs]


def first_positions(reach: int) -> Tensor:
    """Without a gap."""
    return torch.arange(min(FIRST_POSITIONS, reach + 1))


def spread(reach: int, count: int) -> Tensor:
    """So many positions 0..reach, ascending, in ever wider steps; at most reach + 1 of them."""
    found: list[int] = []
    for step in range(count):
        wanted = round((reach + 1) ** (step / max(1, count - 1)) - 1)
        found.append(max(wanted, found[-1] + 1 if found else 0))
    return torch.tensor(found)
