"""Encodings that read the content of the tokens, so that positions by themselves have no code: whole sequences only."""

from functools import cached_property

import torch
from torch import Tensor

from empirical.audit.subject import AuditError
from empirical.audit.use import Use

LONGEST = 1024
"""Of a sequence, which is a square of logits."""


class ContentUse(Use):
    """Of (q, k, x, positions) -> logits [B, H, L, L]."""

    def outcome(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        x_BLD = tokens[0].transpose(1, 2).flatten(2)
        answer = self.call(*tokens, x_BLD, self.positions(positions), self.setting.dtype)
        length = positions.shape[-1]
        if not isinstance(answer, Tensor) or answer.shape[-2:] != (length, length):
            raise AuditError(f"{self.subject.name} must give logits [B, H, {length}, {length}]")
        return answer.double().cpu().tril()

    def stepwise(self, tokens: tuple[Tensor, Tensor], positions: Tensor) -> Tensor:
        """The last row of every prefix: what a cache must give, whatever it keeps."""
        q, k = tokens
        ends = range(1, len(positions) + 1)
        rows = [self.outcome((q[..., :end, :], k[..., :end, :]), positions[:end])[..., -1:, :] for end in ends]
        return torch.cat([torch.nn.functional.pad(row, (0, len(positions) - row.shape[-1])) for row in rows], -2)

    def code(self, positions: Tensor) -> Tensor:
        """What the last of a sequence makes of each token: [P, H]."""
        return self.outcome(self.draw(1, len(positions)), positions)[0, :, -1].T + 0.0

    def code_budget(self, code: Tensor, positions: Tensor, reference: Use) -> Tensor:
        tokens = self.draw(1, len(positions))
        return self.tolerance(tokens, code.T[None, :, None], reference)[0, :, -1].T

    def tolerance(self, tokens: tuple[Tensor, Tensor], outcome: Tensor, reference: Use) -> Tensor:
        """As of a rotation, divided by sqrt(C), and as of a bias."""
        q_norm, k_norm = (one.double().norm(dim=-1).cpu() for one in tokens)
        product = q_norm[..., :, None] * k_norm[..., None, :] / self.subject.head_dim**0.5
        return self.setting.eps * (8 * 2**0.5 * product + 2 * (1 + outcome.abs()))

    def position_reach(self, to: int) -> int:
        return super().position_reach(min(to, LONGEST - 1))

    def law(self, queries: Tensor, offsets: Tensor) -> Tensor:
        raise AuditError(f"{self.subject.name} reads content: it has no relative law to claim")

    def law_budget(self, queries: Tensor, offsets: Tensor, reference: Use) -> Tensor:
        raise AuditError(f"{self.subject.name} reads content: it has no relative law to claim")

    @cached_property
    def rate(self) -> float:
        return float(self.code(torch.arange(2)).diff(dim=0).abs().max())

    @property
    def magnitude(self) -> float:
        return 1.0
