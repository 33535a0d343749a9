"""What is audited: anything that says how positions act on attention, and how to make a fresh instance of it.

Shapes: B batch, L length, D width, H heads, J queries, I keys, C head width. Positions are int64, 0-based.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch
from torch import nn

from theory.system.errors import LengthgenError
from theory.system.userfile import user_code


class AuditError(LengthgenError):
    """What is to be audited cannot be: not found, or not of a shape that an audit understands."""


class Kind(StrEnum):
    """How an encoding acts, and the form in which the audit calls it."""

    ROTATE = "rotate"
    """(q_BHLC, k_BHLC, positions) -> (q, k), linear in q and in k."""
    BIAS = "bias"
    """(query_positions, key_positions, dtype) -> [H, J, I] or [B, H, J, I]."""
    SCORES = "scores"
    """(q_BHJC, k_BHIC, query_positions, key_positions) -> [B, H, J, I], bilinear in q and k."""
    EMBED = "embed"
    """(x_BLD, positions) -> x_BLD."""
    CONTENT = "content"
    """(q_BHLC, k_BHLC, x_BLD, positions, dtype) -> logits [B, H, L, L]: of encodings that read what tokens hold."""


CLAIMS = ("relative", "distinct", "streaming", "decays", "bidirectional")
"""What a subject may claim: logits depend on j - i alone; every offset (position) has a code of its own; a logit does
not change when the sequence grows, so that keys may be cached; the bias never rises with the distance; keys after the
query are in use, so that `relative` and `distinct` are asked of both sides."""

USUAL_CLAIMS = {
    Kind.ROTATE: frozenset({"relative", "distinct", "streaming"}),
    Kind.BIAS: frozenset({"relative", "streaming"}),
    Kind.SCORES: frozenset({"relative", "distinct", "streaming"}),
    Kind.EMBED: frozenset({"distinct", "streaming"}),
    Kind.CONTENT: frozenset({"streaming"}),
}
"""What is taken for claimed where a subject does not say."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One way in which one encoding acts.

    Attributes:
        name: for people.
        kind: how it acts.
        build: makes a fresh instance from the parameters; called with a fixed seed.
        bind: the instance -> a function in the form of `kind`.
        parameters: of the instance that is audited.
        other: what the second instance has in their place; None if there is nothing to choose.
        claims: of CLAIMS.
        heads: H of the queries that it is given.
        head_dim: C.
    """

    name: str
    kind: Kind
    build: Callable[..., Any]
    bind: Callable[[Any], Callable[..., Any]]
    parameters: Mapping[str, Any]
    other: Mapping[str, Any] | None
    claims: frozenset[str]
    heads: int
    head_dim: int

    def instance(self, *, device: str = "cpu", **changed: Any) -> Any:
        """A fresh one, with some parameters changed; drawn from seed 0 where it draws."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            made = self.build(**{**self.parameters, **changed})
        with user_code(f"{self.name} cannot be moved to {device}", error=AuditError):
            return made.to(device) if isinstance(made, nn.Module) else made

    @staticmethod
    def learned(instance: Any) -> bool:
        """Whether an instance has parameters that are trained."""
        return isinstance(instance, nn.Module) and any(one.requires_grad for one in instance.parameters())
