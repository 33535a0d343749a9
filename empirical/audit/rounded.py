"""Whether numbers (frequencies, slopes) were rounded to a dtype on their way."""

import torch
from torch import Tensor

from empirical.audit.codes import ROUNDINGS

ENOUGH = 4
"""Numbers that are no powers of two: those are in every dtype. By chance, each other number is within a relative a of
one of t bits with probability 2^(t + 1) a: for t = 11 and a = 1e-6, four are with probability 3e-10."""


def rounded_to(values: Tensor, accuracy: float) -> str | None:
    """The dtype in which all values are, up to a relative `accuracy`, though most need all of its bits.

    Values that need three bits less (small integers, halves) may be exact by design, so they tell nothing.
    """
    values = values[values.isfinite() & (values.abs() > 1e-6)].abs().double()
    mantissa = torch.frexp(values).mantissa
    values = values[(mantissa - 0.5).abs() > accuracy]
    if len(values) < ENOUGH:
        return None
    for name, dtype in ROUNDINGS.items():
        bits = 1 - int(torch.tensor(torch.finfo(dtype).eps).log2())
        if _within(values, bits, accuracy).all() and not _within(values, bits - 3, accuracy).float().mean() > 0.5:
            return name
    return None


def _within(values: Tensor, bits: int, accuracy: float) -> Tensor:
    """Which are multiples of their own 2^(exponent - bits)."""
    scaled = torch.frexp(values).mantissa * 2**bits
    return (scaled - scaled.round()).abs() <= accuracy * scaled
