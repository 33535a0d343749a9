"""Test positions of the audit: grids, windows of neighbours, and spread-out positions."""

import torch
from torch import Tensor

OFFSETS = (0, 1, 2, 7, 64, 1000)
"""Tested offsets D = j - i."""
WINDOW = 1000
"""Neighbouring positions whose codes are compared with each other."""
FIRST_POSITIONS = 4096
"""Positions tested without a gap: beyond the last exact integer in bfloat16 (256) and in float16 (2048)."""


def query_grid(reach: int, per_octave: int) -> Tensor:
    """Query positions in 0..reach: evenly spaced on a log scale, plus those near powers of two and of ten."""
    log_spaced = {round(2 ** (step / per_octave)) for step in range(per_octave * (reach.bit_length() + 1))}
    near_twos = {2**k + near for k in range(reach.bit_length() + 1) for near in (-1, 0, 1, 2)}
    near_tens = {10**k + near for k in range(len(str(reach)) + 1) for near in (-1, 0, 1)}
    return torch.tensor(sorted(p for p in {0, reach} | log_spaced | near_twos | near_tens if 0 <= p <= reach))


def decade(position: int) -> str:
    """Name of the decade of a position, such as "100-999"; the first is "0-9"."""
    digits = len(str(position))
    return "0-9" if digits == 1 else f"{10 ** (digits - 1)}-{10**digits - 1}"


def windows(reach: int) -> list[Tensor]:
    """Runs of neighbouring positions: the first ones, one from each power of ten that fits, one ending at `reach`."""
    starts = sorted({0, *(10**k for k in range(3, 12)), max(0, reach + 1 - WINDOW)})
    runs = [torch.arange(start, start + WINDOW) for start in starts if start + WINDOW <= reach + 1]
    return [first_positions(reach), *runs]


def first_positions(reach: int) -> Tensor:
    """Positions 0, 1, 2, ... without a gap, int64 [min(FIRST_POSITIONS, reach + 1)]."""
    return torch.arange(min(FIRST_POSITIONS, reach + 1))


def spread(reach: int, count: int) -> Tensor:
    """Return `count` positions in 0..reach, ascending with growing steps; `count` is at most reach + 1."""
    positions: list[int] = []
    for step in range(count):
        target = round((reach + 1) ** (step / max(1, count - 1)) - 1)
        positions.append(max(target, positions[-1] + 1 if positions else 0))
    return torch.tensor(positions)
