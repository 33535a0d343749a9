"""Adapter around a fresh instance of a subject: calls it in one precision setting and measures what comes back."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.subject import AuditError, Subject
from lengthgen.infrastructure.userfile import user_code

OFFSETS = (0, 1, 2, 7, 64, 1000)
"""Tested offsets D = j - i."""
WINDOW = 1000
"""Neighbouring positions whose codes are compared with each other."""
FIRST_POSITIONS = 4096
"""Positions tested without a gap: beyond the last exact integer in bfloat16 (256) and in float16 (2048)."""
U64 = 2.0**-53
"""Unit roundoff of float64."""
MOVED = ", module moved"
"""Ending of a setting's label: the module itself was moved to the dtype."""


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
    """Positions in 0..reach, ascending with growing steps; `count` is at most reach + 1."""
    positions: list[int] = []
    for step in range(count):
        target = round((reach + 1) ** (step / max(1, count - 1)) - 1)
        positions.append(max(target, positions[-1] + 1 if positions else 0))
    return torch.tensor(positions)


def halves_and_evens(width: int) -> Tensor:
    """Two vectors, ones in the first half and at even places: one of them shows each plane's cosine and sine."""
    channels = torch.arange(width)
    return torch.stack([channels < (width + 1) // 2, channels % 2 == 0]).double()


class RefusedPosition(AuditError):
    """The subject raised an error, for example for a position beyond its table: an honest answer, not a defect."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Precision setting: dtype of the inputs; `moved`: the module is moved to it too; `autocast`: autocast to it."""

    dtype: torch.dtype
    moved: bool = False
    autocast: bool = False

    @property
    def eps(self) -> float:
        """Machine epsilon of the dtype: one unit in the last place of 1."""
        return torch.finfo(self.dtype).eps

    @property
    def label(self) -> str:
        """Name in reports, used as a key."""
        return f"{self.dtype}{MOVED * self.moved}{', autocast' * self.autocast}".removeprefix("torch.")


def has_real_values(tensor: Tensor) -> bool:
    """True if the tensor is non-empty, dense, in memory, and holds real numbers that convert to float64."""
    if tensor.is_complex() or tensor.is_meta or tensor.is_nested or tensor.is_quantized or not tensor.numel():
        return False
    return tensor.layout is torch.strided


class Adapter(ABC):
    """Fresh instance of a subject in one precision setting.

    Measurements are computed in the dtype and returned as float64 on the CPU, without any further rounding.
    """

    def __init__(self, subject: Subject, setting: Setting, device: str = "cpu", **changed: Any) -> None:
        """Make the instance; `changed` replaces parameters of the subject."""
        self.subject, self.setting, self.device, self.changed = subject, setting, device, changed
        self.instance = subject.instance(device, **changed)
        if setting.moved:
            self.move(setting.dtype)
        with user_code(f"{subject.name} fails", error=AuditError):
            self.function = subject.bind(self.instance)
        self._codes_of_windows: dict[int, list[Tensor]] = {}

    def fresh(self) -> "Adapter":
        """Return an adapter of another instance, made in the same way and not called yet."""
        return type(self)(self.subject, self.setting, self.device, **self.changed)

    def move(self, dtype: torch.dtype) -> None:
        """Convert the instance to a dtype, as `model.to(dtype)` does."""
        with user_code(f"{self.subject.name} cannot be moved to {dtype}", error=AuditError):
            if isinstance(self.instance, nn.Module):
                self.instance.to(dtype)

    def call(self, *arguments: Any) -> Any:
        """Answer of the subject to copies on the adapter's device, as it may write into its arguments.

        Raises:
            RefusedPosition: the subject raised an error.
            AuditError: the answer is empty, or not an array of real numbers in memory.
        """
        cast = torch.autocast(self.device, dtype=self.setting.dtype) if self.setting.autocast else nullcontext()
        failing = user_code(f"{self.subject.name} fails", error=RefusedPosition, expected=(AuditError,))
        with torch.no_grad(), cast, failing:
            given = (part.to(self.device).clone() if isinstance(part, Tensor) else part for part in arguments)
            answer = self.function(*given)
            is_single = not isinstance(answer, tuple | list)
            parts = [self._checked(part) for part in ((answer,) if is_single else answer)]
        return parts[0] if is_single else parts

    def _checked(self, part: Any) -> Any:
        """Part of an answer, a plain tensor without its graph; AuditError if it holds no real numbers in memory."""
        if not isinstance(part, Tensor):
            return part
        if not has_real_values(part):
            shape = "nested" if part.is_nested else list(part.shape)
            raise AuditError(
                f"{self.subject.name} must give real numbers, not {part.dtype} {shape}, {part.layout}, on {part.device}"
            )
        return part.detach().as_subclass(Tensor)

    def draw(self, batch: int, length: int, *, seed: int = 1) -> tuple[Tensor, Tensor]:
        """Standard normal queries and keys, the same numbers in every dtype: two tensors [B, H, L, C]."""
        generator = torch.Generator().manual_seed(seed)
        shape = (2, batch, self.subject.heads, length, self.subject.head_dim)
        q, k = torch.randn(shape, generator=generator).bfloat16().to(self.setting.dtype).to(self.device)
        return q, k

    @abstractmethod
    def code(self, positions: Tensor) -> Tensor:
        """Numbers [P, F] that the subject computes from each position alone, or from each distance to key 0."""

    def codes_of_windows(self, reach: int) -> list[Tensor]:
        """Codes of each of the windows up to a position, by another instance; computed once for all settings."""
        if reach not in self._codes_of_windows:
            fresh = self.fresh()
            self._codes_of_windows[reach] = [fresh.code(positions) for positions in windows(reach)]
        return self._codes_of_windows[reach]

    @abstractmethod
    def law_errors(self, queries: Tensor, offsets: Tensor) -> Tensor:
        """Absolute difference of the logits of (j, j - D) and (D, 0) in the worst coordinates: float64 [N offsets, P].

        It is 0 if j - D is negative, and infinite if a logit is not finite.
        """

    @abstractmethod
    def law_budget(self, queries: Tensor, offsets: Tensor, reference: "Adapter") -> Tensor:
        """Largest error of the relative law for a code that is rounded once: [N offsets, P]."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """Largest change of the code in one position step."""

    @property
    def magnitude(self) -> float:
        """Size of the products whose sum is the logit of unit vectors, at least 1."""
        return 1.0

    @property
    def vanishing_terms(self) -> int:
        """Number of terms whose sum is a code, if these may underflow (then a zero is no lost code); else 0."""
        return 0

    @abstractmethod
    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """Full forward pass with positions [L] or [B, L]: logits [B, H, J, I], or embeddings [B, L, D]."""

    @abstractmethod
    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """Same result computed token by token, as a decoder does whose cache holds keys rotated when they arrived."""

    @abstractmethod
    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: "Adapter") -> Tensor:
        """Allowed difference of two results, each rounded once; broadcasts to `outcome`."""

    def select(self, outcome: Tensor, first: int, count: int) -> Tensor:
        """Results of `count` tokens from index `first` on, among themselves; keys after the query are set to 0."""
        return outcome[..., first : first + count, first : first + count].tril()

    def code_budget(self, code: Tensor, positions: Tensor, reference: "Adapter") -> Tensor:
        """Allowed distance of a code from the reference's if it is rounded once; broadcasts to [P, F]."""
        return 2 * self.setting.eps * (1 + code.abs())

    def position_reach(self, to: int) -> int:
        """Largest position, at most `to`, that the subject accepts."""
        return self._reach(to, lambda position: self.code(torch.tensor([position])))

    def offset_reach(self, to: int) -> int:
        """Largest offset, at most `to`, that the subject accepts."""
        return self.position_reach(to)

    @staticmethod
    def _reach(to: int, attempt: Callable[[int], object]) -> int:
        """Last accepted value, by bisection: all values up to it must be accepted and none after it."""

        def is_refused(value: int) -> bool:
            try:
                attempt(value)
            except RefusedPosition:
                return True
            return False

        if not is_refused(to):
            return to
        attempt(0)  # raises if not even position 0 is accepted
        return bisect_left(range(1, to), True, key=is_refused)
