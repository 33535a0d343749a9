"""Adapter for encodings that act on token embeddings: x -> x + e(p), or any function of both. No relative law."""

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import Adapter
from lengthgen.empirical.audit.subject import AuditError

LONGEST = 256
"""Longest sequence of an encoding that reads earlier tokens: it is computed step by step."""


class EmbedAdapter(Adapter):
    """Adapter for (x, positions) -> x."""

    @property
    def reads_earlier_tokens(self) -> bool:
        """True if the instance says that the embedding of a token depends on the tokens before it."""
        return bool(getattr(self.instance, "reads_earlier_tokens", False))

    def position_reach(self, to: int) -> int:
        return super().position_reach(min(to, LONGEST - 1) if self.reads_earlier_tokens else to)

    @property
    def width(self) -> int:
        """Model width D = H C."""
        return self.subject.heads * self.subject.head_dim

    def embedded(self, x_BLD: Tensor, positions: Tensor) -> Tensor:
        """Embeddings with the position added: float64 [B, L, D]."""
        answer = self.call(x_BLD, self.positions(positions))
        if not isinstance(answer, Tensor) or answer.shape != x_BLD.shape:
            raise AuditError(f"{self.subject.name} must return embeddings of shape {list(x_BLD.shape)}")
        return answer.double().cpu()

    def code(self, positions: Tensor) -> Tensor:
        """Embeddings of zero vectors: float64 [P, D]."""
        zeros = torch.zeros(1, len(positions), self.width, dtype=self.setting.dtype, device=self.device)
        return self.embedded(zeros, positions)[0] + 0.0

    def law_errors(self, queries: Tensor, offsets: Tensor) -> Tensor:
        raise AuditError(f"{self.subject.name} acts on embeddings: it has no relative law to claim")

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Adapter) -> Tensor:
        raise AuditError(f"{self.subject.name} acts on embeddings: it has no relative law to claim")

    @property
    def rate(self) -> float:
        return float(self.code(torch.arange(2)).diff(dim=0).abs().max())

    @property
    def magnitude(self) -> float:
        return 1.0

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
