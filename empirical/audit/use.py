"""One instance of a subject, called in one setting: the dtype of its inputs, and what else is in low precision."""

from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from empirical.audit.subject import AuditError, Subject
from theory.system.userfile import user_code

U64 = 2.0**-53
"""Unit roundoff of float64."""
MOVED = ", module moved"
"""Ending of the label of a setting."""


class Refusal(AuditError):
    """The subject raised an error: an honest answer to a position beyond its table."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Inputs of a dtype; `moved`: the module moved to it as well; `autocast`: called under autocast to it."""

    dtype: torch.dtype
    moved: bool = False
    autocast: bool = False

    @property
    def eps(self) -> float:
        """One unit in the last place of 1."""
        return torch.finfo(self.dtype).eps

    @property
    def label(self) -> str:
        """For people and as a key."""
        name = str(self.dtype).removeprefix("torch.")
        return name + (MOVED if self.moved else "") + (", autocast" if self.autocast else "")


def _is_real(tensor: Tensor) -> bool:
    """Whether it holds real numbers that can be looked at."""
    return bool(tensor.numel()) and tensor.layout is torch.strided and not (tensor.is_complex() or tensor.is_meta)


class Use(ABC):
    """A fresh instance in a setting. Measures come back as float64 on the CPU, exactly as they were in the dtype."""

    def __init__(self, subject: Subject, setting: Setting, device: str = "cpu", **changed: Any) -> None:
        """`changed`: parameters other than the subject's own."""
        self.subject, self.setting, self.device, self.changed = subject, setting, device, changed
        self.instance = subject.instance(device=device, **changed)
        if setting.moved:
            self.move(setting.dtype)
        self.function = subject.bind(self.instance)

    def fresh(self) -> "Use":
        """Of another instance, made as this one was, that has not been called."""
        return type(self)(self.subject, self.setting, self.device, **self.changed)

    def move(self, dtype: torch.dtype) -> None:
        """As `model.to(dtype)` does."""
        with user_code(f"{self.subject.name} cannot be moved to {dtype}", error=AuditError):
            if isinstance(self.instance, nn.Module):
                self.instance.to(dtype)

    def call(self, *arguments: Any) -> Any:
        """The subject's answer.

        Raises:
            Refusal: it raised an error.
            AuditError: it gives what is no array of real numbers in memory, or an empty one.
        """
        with ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            if self.setting.autocast:
                stack.enter_context(torch.autocast(self.device, dtype=self.setting.dtype))
            stack.enter_context(user_code(f"{self.subject.name} fails", error=Refusal, expected=(AuditError,)))
            answer = self.function(*arguments)
        for part in answer if isinstance(answer, tuple | list) else (answer,):
            if isinstance(part, Tensor) and not _is_real(part):
                raise AuditError(
                    f"{self.subject.name} must give real numbers, not {part.dtype} {list(part.shape)}, {part.layout}, "
                    f"on {part.device}"
                )
        return answer

    def positions(self, values: Tensor) -> Tensor:
        """On the device."""
        return values.to(self.device)

    def draw(self, batch: int, length: int, *, seed: int = 1) -> tuple[Tensor, Tensor]:
        """Standard normal queries and keys, the same in every dtype: two [B, H, L, C]."""
        generator = torch.Generator().manual_seed(seed)
        shape = (2, batch, self.subject.heads, length, self.subject.head_dim)
        q, k = torch.randn(shape, generator=generator).bfloat16().to(self.setting.dtype).to(self.device)
        return q, k

    @abstractmethod
    def code(self, positions: Tensor) -> Tensor:
        """What the subject makes of each position, or of each distance from key 0 if it takes pairs: [P, F]."""

    @abstractmethod
    def law(self, queries: Tensor, offsets: Tensor) -> Tensor:
        """By how much the logit of (j, j - D) differs from that of (D, 0), in the worst coordinates: [offsets, P].

        Zero where j - D is before 0, infinite where one is not finite.
        """

    @abstractmethod
    def law_budget(self, queries: Tensor, offsets: Tensor, reference: "Use") -> Tensor:
        """What `law` may be where the code is rounded once: [offsets, P]."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """By how much a code changes in one step of position, at most."""

    @property
    @abstractmethod
    def magnitude(self) -> float:
        """The size of the products that a logit of unit vectors is the sum of, at least 1."""

    @abstractmethod
    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """Of a whole sequence, positions [L] or [B, L]: logits [B, H, J, I], or embeddings [B, L, D]."""

    @abstractmethod
    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """The same, token by token, as in decoding with a cache of keys that were rotated when they came."""

    @abstractmethod
    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: "Use") -> Tensor:
        """By how much two outcomes may differ where each is rounded once: broadcasts to them."""

    @property
    def vanishing_terms(self) -> int:
        """Of how many terms a code is the sum, if they may underflow: then zeros are no sign of lost codes; else 0."""
        return 0

    def select(self, outcome: Tensor, first: int, count: int) -> Tensor:
        """Of some tokens among themselves, keys not after queries."""
        return outcome[..., first : first + count, first : first + count].tril()

    def code_budget(self, code: Tensor, positions: Tensor, reference: "Use") -> Tensor:
        """By how much a code may differ from the reference's where it is rounded once: broadcasts to [P, F]."""
        return 2 * self.setting.eps * (1 + code.abs())

    def position_reach(self, to: int) -> int:
        """The largest position up to `to` that the subject takes."""
        return self._reach(to, lambda position: self.code(torch.tensor([position])))

    def offset_reach(self, to: int) -> int:
        """The largest offset up to `to` that the subject takes."""
        return self.position_reach(to)

    @staticmethod
    def _reach(to: int, attempt: Any) -> int:
        """The last value that is taken, if all up to it are and none after it is."""

        def taken(value: int) -> bool:
            try:
                attempt(value)
            except Refusal:
                return False
            return True

        if taken(to):
            return to
        attempt(0)  # nothing is taken: that is an error of its own
        low, high = 0, to
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if taken(middle) else (low, middle)
        return low
