"""Codes of positions: how many are distinct, how far each is from its float64 value, and which ones coincide."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import Adapter, windows

ROUNDINGS = {"bfloat16": torch.bfloat16, "float16": torch.float16}
"""Low-precision dtypes to which positions may have been rounded."""
ENOUGH = 4
"""Least count of numbers that are not powers of two (powers of two are exact in every dtype).

By chance, any other number is within a relative distance a of a number of t bits with probability 2^(t + 1) a. For
t = 11 and a = 1e-6, four numbers are all that close with probability 3e-10.
"""


class Repetition(NamedTuple):
    """First position whose code equals that of an earlier position."""

    position: int
    same_as: int


@dataclass(frozen=True, kw_only=True)
class Codes:
    """Measurements of the position codes.

    Attributes:
        windows: for each run of neighbours: first position `from`, length `of`, number of `distinct` codes, and the
            number `expected`, see `expected_distinct`.
        repetition: first repeated code among the first positions.
        clamped_from: first position that has the same code as all positions after it.
        rounded_to: dtype to which positions seem to be rounded, because their codes coincide accordingly.
        not_finite_from: first position whose code is infinite or NaN although its value fits into the dtype.
        first_beyond: first tested position whose distance from its float64 code exceeds the budget.
    """

    windows: list[dict[str, int]]
    repetition: Repetition | None
    clamped_from: int | None
    rounded_to: str | None
    not_finite_from: int | None
    first_beyond: int | None

    @property
    def lost(self) -> bool:
        """True if some window has fewer distinct codes than expected."""
        return any(window["distinct"] < window["expected"] for window in self.windows)

    def as_json(self) -> dict[str, Any]:
        """Return the fields for a JSON file."""
        return {
            "windows": self.windows,
            "first_repeated": self.repetition and self.repetition._asdict(),
            "clamped_from": self.clamped_from,
            "positions_rounded_to": self.rounded_to,
            "not_finite_from": self.not_finite_from,
            "error_first_beyond": self.first_beyond,
        }


def measure(adapter: Adapter, reference: Adapter, reach: int) -> Codes:
    """Measure the codes of positions (for a pair hook: of offsets) up to `reach`; `reference` is in float64."""
    fresh = adapter.fresh()  # as the reference's is, so that both have made the same calls
    runs = windows(reach)
    codes = [fresh.code(positions) for positions in runs]

    def of_one(position: int) -> Tensor:
        return fresh.code(torch.tensor([position]))

    window_counts: list[dict[str, int]] = []
    first_beyond = first_not_finite = None
    for positions, code, exact in zip(runs, codes, reference.codes_of_windows(reach), strict=True):
        expected = expected_distinct(exact, fresh.setting.dtype, vanishing_terms=fresh.vanishing_terms)
        window_counts.append(
            {"from": int(positions[0]), "of": len(positions), "distinct": distinct(code), "expected": expected}
        )
        fits = exact.abs() < torch.finfo(fresh.setting.dtype).max / 2  # a larger value must overflow
        error = torch.where(fits, code - exact, 0).abs().nan_to_num(nan=torch.inf)
        beyond = (error > adapter.code_budget(exact, positions, reference)).any(1)
        if first_beyond is None and beyond.any():
            first_beyond = int(positions[beyond][0])
        not_finite = (~code.isfinite() & (fits | ~exact.isfinite())).any(1)
        if first_not_finite is None and not_finite.any():
            first_not_finite = int(positions[not_finite][0])
    clamped_from = None
    if reach >= 2 and bitwise_equal(of_one(reach - 1), last := of_one(reach)):
        clamped_from = bisect_left(range(reach - 1), True, key=lambda position: bitwise_equal(of_one(position), last))
    if first_not_finite:
        first_not_finite = bisect_left(range(first_not_finite), True, key=lambda p: not of_one(p).isfinite().all())
    return Codes(
        windows=window_counts,
        repetition=repetition(codes[0]),
        clamped_from=clamped_from,
        rounded_to=_rounded_to(codes[0]),
        not_finite_from=first_not_finite,
        first_beyond=first_beyond,
    )


def distinct(code: Tensor) -> int:
    """Number of rows that differ from each other in some bit."""
    return len({row.tobytes() for row in code.numpy()})


def expected_distinct(exact: Tensor, dtype: torch.dtype, *, vanishing_terms: int = 0) -> int:
    """Number of codes that must stay distinct if each is within a unit in the last place of its float64 value.

    Codes are rounded to two bits fewer, that is to cells of four units. Codes two cells apart stay distinct. All codes
    must stay distinct if all their cells differ; the same is expected if codes coincide in float64 already, where they
    should not. If terms may underflow, entries below `vanishing_terms` times the smallest normal number count as 0, and
    codes that are 0 are left out.
    """
    if vanishing_terms:
        exact = torch.where(exact.abs() < vanishing_terms * torch.finfo(dtype).tiny, 0, exact)
        exact = exact[(exact != 0).any(1)]
    if distinct(exact) < len(exact):
        return len(exact)
    mantissa, exponent = torch.frexp(exact)
    scale = 2.0 ** (-1 - int(torch.tensor(torch.finfo(dtype).eps).log2()))
    cells = distinct(((mantissa * scale).round() / scale * torch.exp2(exponent.double())).to(dtype).double() + 0.0)
    return cells if cells == len(exact) else cells // 2


def repetition(code: Tensor) -> Repetition | None:
    """First row that equals an earlier row; None if all differ."""
    first_position: dict[bytes, int] = {}
    for position, row in enumerate(code.numpy()):
        before = first_position.setdefault(row.tobytes(), position)
        if before != position:
            return Repetition(position=position, same_as=before)
    return None


def bitwise_equal(first: Tensor, second: Tensor) -> bool:
    """True if both are equal bit by bit; NaN counts as equal to NaN."""
    return first.shape == second.shape and torch.equal(first.nan_to_num(nan=torch.pi), second.nan_to_num(nan=torch.pi))


def _rounded_to(code: Tensor) -> str | None:
    """Name of the dtype for which two positions share a code exactly if they round to the same number; None if none."""
    positions = torch.arange(len(code))
    for name, dtype in ROUNDINGS.items():
        rounded = positions.to(dtype).long()
        inside = rounded < len(code)
        if (
            (rounded != positions).any()
            and bitwise_equal(code[inside], code[rounded[inside]])
            and distinct(code[inside]) == len(rounded[inside].unique())
        ):
            return name
    return None


def rounded_to(values: Tensor, accuracy: float) -> str | None:
    """Return the name of the dtype that represents all values up to a relative error `accuracy`; None if there is none.

    Most values must need all bits of the dtype: values that need three bits less (small integers, halves) may be
    exact by design and prove nothing.
    """
    mantissas = torch.frexp(values[values.isfinite() & (values.abs() > 1e-6)].abs().double()).mantissa
    mantissas = mantissas[(mantissas - 0.5).abs() > accuracy]

    def within(bits: int) -> Tensor:
        """True for each value that is, up to `accuracy`, a number of so many mantissa bits."""
        return (mantissas * 2**bits - (mantissas * 2**bits).round()).abs() <= accuracy * mantissas * 2**bits

    for name, dtype in ROUNDINGS.items() if len(mantissas) >= ENOUGH else ():
        bits = 1 - int(torch.tensor(torch.finfo(dtype).eps).log2())
        if within(bits).all() and not within(bits - 3).float().mean() > 0.5:
            return name
    return None
