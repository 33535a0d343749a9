"""Subject of an audit: a position encoding, the hook through which it acts, and a factory for fresh instances.

Shapes: B batch, L length, D model width, H heads, J queries, I keys, C head width. Positions are int64, 0-based.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch
from torch import nn

from lengthgen.infrastructure.errors import LengthgenError
from lengthgen.infrastructure.userfile import user_code


class AuditError(LengthgenError):
    """The encoding cannot be audited: it does not exist, fails, or returns values of an unexpected shape."""


class Kind(StrEnum):
    """Hook through which an encoding acts on attention; it fixes the signature that the audit calls."""

    ROTATE = "rotate"
    """(q_BHLC, k_BHLC, positions) -> (q, k), each of the input's shape; linear in q and in k."""
    BIAS = "bias"
    """(query_positions, key_positions, dtype) -> bias added to the logits, [H, J, I] or [B, H, J, I]."""
    SCORES = "scores"
    """(q_BHJC, k_BHIC, query_positions, key_positions) -> scores in place of q.k, [B, H, J, I]; bilinear in q and k."""
    EMBED = "embed"
    """(x_BLD, positions) -> token embeddings with the position added, [B, L, D]."""
    CONTENT = "content"
    """(q_BHLC, k_BHLC, x_BLD, positions, dtype) -> logits [B, H, L, L]; for encodings that read token content."""


CLAIMS = "relative", "distinct", "streaming", "decays", "bidirectional"
"""Properties that a subject may claim.

relative: logits depend on j - i alone. distinct: every offset (or position) has its own code. streaming: a logit does
not change when the sequence grows, so keys may be cached. decays: the bias never rises with the distance.
bidirectional: keys after the query are used too, so `relative` and `distinct` are tested on both sides.
"""

USUAL_CLAIMS = {
    Kind.ROTATE: frozenset({"relative", "distinct", "streaming"}),
    Kind.BIAS: frozenset({"relative", "streaming"}),
    Kind.SCORES: frozenset({"relative", "distinct", "streaming"}),
    Kind.EMBED: frozenset({"distinct", "streaming"}),
    Kind.CONTENT: frozenset({"streaming"}),
}
"""Default claims of each kind, used if the subject declares none."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Subject of an audit: one hook of an encoding, with all that is needed to make and call instances of it.

    Attributes:
        build: factory of a fresh instance; called with the parameters as keywords, under a fixed seed.
        bind: function that turns an instance into a callable with the signature of `kind`.
        other: changed parameters of a second instance, which must not influence the first; None if there are none.
        claims: properties to test, a subset of CLAIMS.
        recipe: Python lines that make the instance as `made`, and its call as `rotate` or `bias`, without this package.
        signature: signature of the object as the user wrote it; empty for an encoding of this project.
        of_lengths: for an object that takes lengths: instance -> (number of queries, number of keys) -> bias.
        follows: published constants that it claims, as fields of `rope_parameters`, or {"alibi": "text" or "code"}.
        of_coordinate: True if its positions run along one coordinate of several.
        note: what its calls cannot tell, see `conventions.Convention`.
        makes_tables: True if each call makes tables of the whole length, so that far positions are costly.
        by_softmax: True if softmax turns the logits into weights, so that a constant of a row changes nothing.
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
    by_softmax: bool = True
    recipe: tuple[str, ...] = ()
    signature: str = ""
    of_lengths: Callable[[Any], Callable[[int, int], Any]] | None = None
    follows: Mapping[str, Any] | None = None
    of_coordinate: bool = False
    note: str = ""
    makes_tables: bool = False

    def instance(self, device: str = "cpu", **changed: Any) -> Any:
        """Return a fresh instance with some parameters changed; random initial values are drawn from seed 0."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)  # torch.manual_seed notes a stack trace for each kind of device
            with user_code(f"{self.name} cannot be made", error=AuditError):
                instance = self.build(**{**self.parameters, **changed})
        with user_code(f"{self.name} cannot be moved to {device}", error=AuditError):
            return instance.to(device) if isinstance(instance, nn.Module) else instance

    @staticmethod
    def is_trainable(instance: Any) -> bool:
        """True if the instance is a module with trainable parameters."""
        return isinstance(instance, nn.Module) and any(parameter.requires_grad for parameter in instance.parameters())
