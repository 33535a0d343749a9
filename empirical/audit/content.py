"""Adapter for encodings that read token content: a position alone has no code, so whole sequences are compared."""

from functools import cached_property

import torch
from torch import Tensor

from lengthgen.empirical.audit.adapter import Adapter
from lengthgen.empirical.audit.subject import AuditError

LONGEST = 1024
"""Longest sequence: its logits form a square matrix."""


class ContentAdapter(Adapter):
    """Adapter for (q, k, x, positions, dtype) -> logits [B, H, L, L]."""

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        x_BLD = tokens[0].transpose(1, 2).flatten(2)
        answer = self.call(*tokens, x_BLD, self.positions(positions), self.setting.dtype)
        length = positions.shape[-1]
        if not isinstance(answer, Tensor) or answer.shape != (*tokens[0].shape[:2], length, length):
            raise AuditError(f"{self.subject.name} must give logits [B, H, {length}, {length}]")
        return answer.double().cpu().tril()

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """Last row of every prefix's logits: what a decoder with a cache must reproduce, whatever it caches."""
        q, k = tokens
        ends = range(1, len(positions) + 1)
        rows = [self.outcome((q[..., :end, :], k[..., :end, :]), positions[:end])[..., -1:, :] for end in ends]
        return torch.cat([torch.nn.functional.pad(row, (0, len(positions) - row.shape[-1])) for row in rows], -2)

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
        return super().position_reach(min(to, LONGEST - 1))

    def law_errors(self, queries: Tensor, offsets: Tensor) -> Tensor:
        raise AuditError(f"{self.subject.name} reads content: it has no relative law to claim")

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Adapter) -> Tensor:
        raise AuditError(f"{self.subject.name} reads content: it has no relative law to claim")

    @cached_property
    def rate(self) -> float:
        return float(self.code(torch.arange(2)).diff(dim=0).abs().max())

    @property
    def magnitude(self) -> float:
        return 1.0
