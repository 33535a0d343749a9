"""Detection of rounding: were numbers (frequencies, slopes) rounded to a low-precision dtype?"""

import torch
from torch import Tensor

from lengthgen.empirical.audit.codes import ROUNDINGS

ENOUGH = 4
"""Least count of numbers that are not powers of two (powers of two are exact in every dtype).

By chance, any other number is within a relative distance a of a number of t bits with probability 2^(t + 1) a. For
t = 11 and a = 1e-6, four numbers are all that close with probability 3e-10.
"""


def rounded_to(values: Tensor, accuracy: float) -> str | None:
    """Return the name of the dtype that represents all values up to a relative error `accuracy`; None if there is none.

    Most values must need all bits of the dtype: values that need three bits less (small integers, halves) may be
    exact by design and prove nothing.
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
    """True for each value that is, up to `accuracy`, a number of `bits` mantissa bits."""
    scaled = torch.frexp(values).mantissa * 2**bits
    return (scaled - scaled.round()).abs() <= accuracy * scaled
