"""Calling conventions: the signatures by which libraries and users write position encodings, each bound to one hook.

A binding is Python text, so that reproductions outside of lengthgen make the same calls.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from empirical.audit.subject import AuditError, Kind
from theory.system.userfile import user_code

LONGEST = 1024
"""Longest sequence for encodings that take lengths: their bias is a square matrix."""
ROTATED = "(q, k, positions) -> (q, k)"
PAIRS = "(query_positions, key_positions) -> bias [H, J, I]"
RUNS = "(lambda e: zip([0, *e], [*e, len(p)]))([n + 1 for n in range(len(p) - 1) if p[n + 1] != p[n] + 1])"
"""Text of the runs of consecutive positions in a tensor `p`: pairs (first index, index after the last)."""
HALVES = (
    "(lambda c, s, n: tuple(x * c.unsqueeze(-3) + torch.cat((-x[..., n:], x[..., :n]), -1) * s.unsqueeze(-3) "
    "for x in (q, k)))"
)
"""Text of the half-split rotation of q and k by cosines `c` and sines `s` of width 2 n."""


@dataclass(frozen=True, kw_only=True)
class Convention:
    """Signature with the hook that it serves.

    Attributes:
        signature: as shown to users.
        kind: hook.
        text: Python expression of `made`, the object, and of H and C: a function with the signature of the kind, or, if
            `by_lengths`, a function (number of queries, number of keys) -> bias, the queries being the last ones.
        required: numbers of required parameters of objects that may follow it; empty if `method` decides.
        method: name of a method that the object must have.
        by_lengths: True if the object takes lengths in place of positions.
    """

    signature: str
    kind: Kind
    text: str
    required: frozenset[int] = frozenset()
    method: str = ""
    by_lengths: bool = False


CONVENTIONS = (
    Convention(
        signature="an object with rotate_queries_or_keys(x, offset=...)",
        kind=Kind.ROTATE,
        method="rotate_queries_or_keys",
        text="lambda q, k, p: tuple(torch.cat([made.rotate_queries_or_keys(x[..., a:b, :], offset=int(p[a])) "
        f"for a, b in {RUNS}], -2) for x in (q, k))",
    ),
    Convention(
        signature=ROTATED,
        kind=Kind.ROTATE,
        required=frozenset({3}),
        text="lambda q, k, p: made(q, k, p)",
    ),
    Convention(
        signature="(q, k, positions) -> bias [H, L, L]",
        kind=Kind.BIAS,
        required=frozenset({3}),
        text="lambda j, i, d=torch.float32: (lambda b, n: b[..., n:, :n] if b.shape[-1] == b.shape[-2] else b)("
        "made(*[torch.ones(1, H, i.shape[-1] + j.shape[-1], C, dtype=d, device=i.device)] * 2, "
        "torch.cat([i, j], -1)), i.shape[-1])",
    ),
    Convention(
        signature=PAIRS,
        kind=Kind.BIAS,
        required=frozenset({2}),
        text="lambda j, i, d=torch.float32: made(j, i)",
    ),
    Convention(
        signature="(x [B, H, L, C], positions) -> x",
        kind=Kind.ROTATE,
        required=frozenset({1, 2}),
        text="lambda q, k, p: (made(q, p), made(k, p))",
    ),
    Convention(
        signature="(x [B, L, H, C], positions) -> x, or with input_pos=positions",
        kind=Kind.ROTATE,
        required=frozenset({1}),
        text="lambda q, k, p: tuple(made(x.transpose(1, 2), input_pos=p if p.ndim > 1 else p[None]).transpose(1, 2) "
        "for x in (q, k))",
    ),
    Convention(
        signature="(x [B, L, H, C], positions) -> x, or with input_pos=positions",
        kind=Kind.ROTATE,
        required=frozenset({2}),
        text="lambda q, k, p: tuple(made(x.transpose(1, 2), p).transpose(1, 2) for x in (q, k))",
    ),
    Convention(
        signature="(x, position_ids [B, L]) -> (cos, sin), applied with rotate_half",
        kind=Kind.ROTATE,
        required=frozenset({2}),
        text=f"lambda q, k, p: {HALVES}(*made(q, p if p.ndim > 1 else p[None]), C // 2)",
    ),
    Convention(
        signature="positions -> (cos, sin), applied with rotate_half",
        kind=Kind.ROTATE,
        required=frozenset({1}),
        text=f"lambda q, k, p: {HALVES}(*[torch.cat([t] * (C // t.shape[-1]), -1) for t in made(p)], C // 2)",
    ),
    Convention(
        signature="(number of queries, number of keys) -> bias [H, J, I]",
        kind=Kind.BIAS,
        required=frozenset({2}),
        by_lengths=True,
        text="lambda i, j: made(i, j)",
    ),
    Convention(
        signature="scores [B, H, J, I] -> scores with the bias added",
        kind=Kind.BIAS,
        required=frozenset({1}),
        by_lengths=True,
        text="lambda i, j: made(torch.zeros(1, H, i, j))",
    ),
)
"""Conventions in the order in which they are tried."""
MODEL = "input_ids [B, L] -> logits [B, L, V]"
"""Signature of a whole model."""
SIGNATURES = (*dict.fromkeys(convention.signature for convention in CONVENTIONS), MODEL)


def bound(text: str, made: Any, heads: int, head_dim: int) -> Callable[..., Any]:
    """Evaluate the text of a convention; texts are those of this module."""
    function: Callable[..., Any] = eval(text, {"torch": torch, "made": made, "H": heads, "C": head_dim})
    return function


def by_positions(of_lengths: Callable[[int, int], Tensor]) -> Callable[..., Tensor]:
    """Return (query_positions, key_positions, dtype) -> bias, for an encoding that takes lengths.

    Queries that are the last of the keys get a call of their own, as in decoding with a cache.
    """

    def bias(queries: Tensor, keys: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        if queries.ndim > 1 or keys.ndim > 1:
            raise ValueError("one row of positions only: it takes lengths")
        length = int(max(queries.max(), keys.max())) + 1
        if length > LONGEST:
            raise ValueError(f"encodings that take lengths are audited up to {LONGEST}")
        if torch.equal(queries, torch.arange(length - len(queries), length, device=queries.device)):
            return of_lengths(len(queries), length)[..., :, keys]
        return of_lengths(length, length)[..., queries[:, None], keys]

    return bias


def recognise(instance: Any, name: str, heads: int, head_dim: int) -> Convention:
    """Convention that an object follows: the first whose call works and returns the right shape.

    Raises:
        AuditError: none does; the message gives the failure of the most likely call and all signatures.
    """
    if not callable(instance):
        raise AuditError(f"'{name}' makes {type(instance).__name__}, which is neither a function nor a module")
    required = _required(instance, name)
    candidates = [
        convention
        for convention in CONVENTIONS
        if (hasattr(instance, convention.method) if convention.method else min(required, 3) in convention.required)
    ]
    refusals: list[str] = []
    # As many tokens as heads fit by chance too, so that number is only tried where no other fits.
    for tokens in (heads + 3, heads if heads > 1 else 4):
        refusals = []
        for convention in candidates:
            try:
                return _require_fit(convention, instance, name, heads, head_dim, tokens)
            except AuditError as refusal:
                refusals.append(str(refusal))
    why = refusals[0] if refusals else f"'{name}' takes {required} arguments"
    raise AuditError(f"{why}; signatures that are understood: {'; '.join(SIGNATURES)}")


def _required(instance: Any, name: str) -> int:
    """Number of required positional parameters; 3 if any number is taken."""
    with user_code(f"'{name}' has no forward", error=AuditError):
        forward = instance.forward if issubclass(type(instance), nn.Module) else instance
    with user_code(f"'{name}' has no readable signature: wrap it in a function", error=AuditError):
        parameters = inspect.signature(forward).parameters.values()
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 3
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in positional for p in parameters)


def _require_fit(
    convention: Convention, instance: Any, name: str, heads: int, head_dim: int, tokens: int
) -> Convention:
    """Return the convention if a call of some tokens works and has the right shape, else raise AuditError."""
    function = bound(convention.text, instance, heads, head_dim)
    positions, q = torch.arange(tokens), torch.ones(1, heads, tokens, head_dim)
    given = f"q, k {list(q.shape)} and positions [{tokens}]"
    if convention.signature == PAIRS:
        given = f"query and key positions [{tokens}]"
    with user_code(f"'{name}' fails for {given}", error=AuditError), torch.no_grad():
        if convention.by_lengths:
            answer = function(tokens, tokens)
        elif convention.kind is Kind.BIAS:
            answer = function(positions, positions)
        else:
            answer = function(q, q.clone(), positions)
        shape = list(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
        wanted = f"(q, k), or a bias [H, {tokens}, {tokens}], for positions [{tokens}]"
        wrong = f"'{name}' must return {wanted}; it returns {shape}"
        if convention.kind is Kind.BIAS:
            is_bias = isinstance(answer, Tensor) and answer.ndim in (3, 4) and answer.shape[-2:] == (tokens, tokens)
            if not is_bias or not (answer.is_floating_point() or answer.is_complex()):
                raise AuditError(wrong)
        elif not (isinstance(answer, tuple | list) and len(answer) == 2):
            raise AuditError(wrong)
        elif convention.signature != ROTATED and any(
            not isinstance(part, Tensor) or part.shape != q.shape for part in answer
        ):
            shapes = [list(part.shape) if isinstance(part, Tensor) else type(part).__name__ for part in answer]
            raise AuditError(f"'{name}' must return tensors {list(q.shape)}; it returns {shapes}")
    return convention
