"""Codes of positions: how many are distinct, how far each is from its own in float64, which coincide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from empirical.audit.grid import first_positions, windows
from empirical.audit.use import Use

ROUNDINGS = {"bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """The first position whose code an earlier one has."""

    position: int
    same_as: int


@dataclass(frozen=True, kw_only=True)
class Codes:
    """What was measured.

    Attributes:
        windows: for each run of positions: from, of, distinct, and expected, as `at_least` says.
        repetition: among the first positions.
        clamped_from: the first position that has the code of all after it.
        rounded_to: the dtype to which positions are rounded, where codes agree with that.
        not_finite_from: the first position whose code is infinite or no number, though it fits into the dtype.
        first_beyond: the first position met whose distance from its code in float64 is beyond the budget.
    """

    windows: list[dict[str, int]]
    repetition: Repetition | None
    clamped_from: int | None
    rounded_to: str | None
    not_finite_from: int | None
    first_beyond: int | None

    @property
    def lost(self) -> bool:
        """Whether some window has fewer codes than expected."""
        return any(one["distinct"] < one["expected"] for one in self.windows)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        repeated = self.repetition
        return {
            "windows": self.windows,
            "first_repeated": repeated and {"position": repeated.position, "same_as": repeated.same_as},
            "clamped_from": self.clamped_from,
            "positions_rounded_to": self.rounded_to,
            "not_finite_from": self.not_finite_from,
            "error_first_beyond": self.first_beyond,
        }


def measure(use: Use, reference: Use, reach: int) -> Codes:
    """Of positions (for a law of pairs: of offsets) up to `reach`; `reference` is the same subject in float64."""
    one, wide = use.fresh(), reference.fresh()  # which have the same past, should codes depend on that
    runs: list[dict[str, int]] = []
    first_beyond = first_bad = None
    for positions in windows(reach):
        code, exact = one.code(positions), wide.code(positions)
        expected = at_least(exact, one.setting.dtype, vanishing_terms=one.vanishing_terms)
        runs.append({"from": int(positions[0]), "of": len(positions), "distinct": distinct(code), "expected": expected})
        fits = exact.abs() < torch.finfo(one.setting.dtype).max / 2  # what does not is bound to overflow
        error = torch.where(fits, code - exact, 0).abs().nan_to_num(nan=torch.inf)
        beyond = (error > use.code_budget(exact, positions, reference)).any(1)
        if first_beyond is None and beyond.any():
            first_beyond = int(positions[beyond][0])
        bad = (~code.isfinite() & (fits | ~exact.isfinite())).any(1)
        if first_bad is None and bad.any():
            first_bad = int(positions[bad][0])
    code = one.code(first_positions(reach))
    return Codes(
        windows=runs,
        repetition=repetition(code),
        clamped_from=_clamped_from(one, reach),
        rounded_to=_rounded_to(code),
        not_finite_from=first_bad and _bisect(first_bad, lambda position: not _alone(one, position).isfinite().all()),
        first_beyond=first_beyond,
    )


def distinct(code: Tensor) -> int:
    """Rows that differ in some bit."""
    return len({row.tobytes() for row in code.numpy()})


def at_least(exact: Tensor, dtype: torch.dtype, *, vanishing_terms: int = 0) -> int:
    """How many of the codes stay distinct if each comes within a unit in the last place of its own in float64.

    Rounded to two bits fewer, so to cells of four units, codes that are two cells apart do. All should where all their
    cells differ, and where they should differ in float64 already but do not. Where terms may underflow, what is below
    so many of the smallest normal numbers is taken for 0, and 0 is no code.
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
    """The first row that an earlier one equals."""
    seen: dict[bytes, int] = {}
    for position, row in enumerate(code.numpy()):
        before = seen.setdefault(row.tobytes(), position)
        if before != position:
            return Repetition(position=position, same_as=before)
    return None


def same(first: Tensor, second: Tensor) -> bool:
    """Bit by bit; what is no number equals itself."""
    return first.shape == second.shape and torch.equal(first.nan_to_num(nan=torch.pi), second.nan_to_num(nan=torch.pi))


def _rounded_to(code: Tensor) -> str | None:
    """The dtype such that two positions have one code if and only if their roundings to it are one."""
    positions = torch.arange(len(code))
    for name, dtype in ROUNDINGS.items():
        rounded = positions.to(dtype).long()
        inside = rounded < len(code)
        if (
            (rounded != positions).any()
            and same(code[inside], code[rounded[inside]])
            and distinct(code[inside]) == len(rounded[inside].unique())
        ):
            return name
    return None


def _clamped_from(use: Use, reach: int) -> int | None:
    """The first of the positions whose codes are all equal, to the end."""
    if reach < 2:
        return None
    last = _alone(use, reach)
    if not same(_alone(use, reach - 1), last):
        return None
    return _bisect(reach - 1, lambda position: same(_alone(use, position), last))


def _alone(use: Use, position: int) -> Tensor:
    return use.code(torch.tensor([position]))


def _bisect(known: int, holds: Callable[[int], bool]) -> int:
    """The first position from which on it holds, if it holds at `known` and from some position on."""
    low, high = -1, known
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
