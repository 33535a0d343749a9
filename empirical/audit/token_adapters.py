"""Adapters for encodings that act on tokens, which have no relative law, and the choice of the adapter by kind."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import Adapter, Setting
from lengthgen.empirical.audit.pair_adapters import BiasAdapter, ScoresAdapter, stacked
from lengthgen.empirical.audit.rotation import RotateAdapter
from lengthgen.empirical.audit.subject import AuditError, Kind, Subject

LONGEST_STEPWISE = 256
"""Longest sequence of an encoding that reads earlier tokens: it is computed step by step."""
LONGEST_SQUARE = 1024
"""Longest sequence: its logits form a square matrix."""


class TokenAdapter(Adapter):
    """Adapter for an encoding that acts on tokens, which has no relative law."""

    acts: str
    """What it does, after its name in messages."""

    def law_errors(self, queries: Tensor, offsets: Tensor, reference: Adapter | None = None) -> Tensor:
        raise AuditError(f"{self.subject.name} {self.acts}: it has no relative law to claim")

    law_budget = law_errors

    @cached_property
    def rate(self) -> float:
        return float(self.code(torch.arange(2)).diff(dim=0).abs().max())


class EmbedAdapter(TokenAdapter):
    """Adapter for (x, positions) -> x."""

    acts = "acts on embeddings"

    @property
    def reads_earlier_tokens(self) -> bool:
        """True if the instance says that the embedding of a token depends on the tokens before it."""
        return bool(getattr(self.instance, "reads_earlier_tokens", False))

    def position_reach(self, to: int) -> int:
        return super().position_reach(min(to, LONGEST_STEPWISE - 1) if self.reads_earlier_tokens else to)

    def embedded(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Embeddings with the position added: float64 [B, L, D]."""
        answer = self.call(x_BLD, positions)
        if not isinstance(answer, Tensor) or answer.shape != x_BLD.shape:
            raise AuditError(f"{self.subject.name} must return embeddings of shape {list(x_BLD.shape)}")
        return answer.double().cpu()

    def code(self, positions: Tensor) -> Tensor:
        """Embeddings of zero vectors: float64 [P, D]."""
        width = self.subject.heads * self.subject.head_dim
        return self.embedded(torch.zeros(1, len(positions), width, dtype=self.setting.dtype), positions)[0] + 0.0

    def _token_embeddings(self, tokens: tuple[Tensor, Tensor]) -> Tensor:
        return tokens[0].transpose(1, 2).flatten(2)

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        return self.embedded(self._token_embeddings(tokens), positions)

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        x = self._token_embeddings(tokens)
        firsts = [0 if self.reads_earlier_tokens else t for t in range(len(positions))]
        rows = [self.embedded(x[:, first : t + 1], positions[first : t + 1]) for t, first in enumerate(firsts)]
        return torch.cat([row[:, -1:] for row in rows], 1)

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Adapter) -> Tensor:
        """Row within eps of its size and sum within eps / 2 of its size, for two results."""
        x = self._token_embeddings(tokens).double().cpu()
        return 2 * self.setting.eps * (x.abs() + (outcome - x).abs())

    def select(self, outcome: Tensor, first: int, count: int) -> Tensor:
        return outcome[:, first : first + count]


class ContentAdapter(TokenAdapter):
    """Adapter for (q, k, x, positions, dtype) -> logits [B, H, L, L] of whole sequences; positions have no code."""

    acts = "reads content"

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        x_BLD = tokens[0].transpose(1, 2).flatten(2)
        answer = self.call(*tokens, x_BLD, positions, self.setting.dtype)
        length = positions.shape[-1]
        if not isinstance(answer, Tensor) or answer.shape != (*tokens[0].shape[:2], length, length):
            raise AuditError(f"{self.subject.name} must give logits [B, H, {length}, {length}]")
        return answer.double().cpu().tril()

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """Last row of every prefix's logits: what a decoder with a cache must reproduce, whatever it caches."""
        q, k = tokens
        ends = range(1, len(positions) + 1)
        return stacked([self.outcome((q[..., :end, :], k[..., :end, :]), positions[:end])[..., -1:, :] for end in ends])

    def code(self, positions: Tensor) -> Tensor:
        """Logits of the last query with each token: float64 [P, H]."""
        return self.outcome(self.draw(1, len(positions)), positions)[0, :, -1].T + 0.0

    def code_budget(self, code: Tensor, positions: Tensor, reference: Adapter) -> Tensor:
        tokens = self.draw(1, len(positions))
        return self.tolerance(tokens, code.T[None, :, None], reference)[0, :, -1].T

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Adapter) -> Tensor:
        """Sum of the tolerance of a rotation, divided by sqrt(C), and that of a bias."""
        q_norm, k_norm = (vectors.double().norm(dim=-1).cpu() for vectors in tokens)
        product = q_norm[..., :, None] * k_norm[..., None, :] / self.subject.head_dim**0.5
        return self.setting.eps * (8 * 2**0.5 * product + 2 * (1 + outcome.abs()))

    def position_reach(self, to: int) -> int:
        return super().position_reach(min(to, LONGEST_SQUARE - 1))


ADAPTERS: Mapping[Kind, type[Adapter]] = {
    Kind.ROTATE: RotateAdapter,
    Kind.BIAS: BiasAdapter,
    Kind.SCORES: ScoresAdapter,
    Kind.EMBED: EmbedAdapter,
    Kind.CONTENT: ContentAdapter,
}


def adapter_for(subject: Subject, setting: Setting, device: str = "cpu", **changed: Any) -> Adapter:
    """Return an adapter around a fresh instance of the subject, in a setting, with some parameters changed."""
    return ADAPTERS[subject.kind](subject, setting, device, **changed)
