"""Calling conventions: the signatures by which libraries and users write position encodings, each bound to one hook.

A binding is Python text, so that reproductions outside of lengthgen make the same calls.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.adapter import has_real_values
from lengthgen.empirical.audit.subject import AuditError, Kind
from lengthgen.infrastructure.userfile import user_code

LONGEST = 1024
"""Longest sequence for encodings that take lengths or whole sequences."""
LONGEST_SQUARE = 256
"""Longest sequence for encodings of which each call makes the bias of all pairs."""
SHOWN = 5
"""Most signatures that a refusal names, beside those of a rotation and of a model."""
ROTATED = "(q, k, positions) -> (q, k)"
PAIRS = "(query_positions, key_positions) -> bias [H, J, I]"
RUNS = "(lambda e: zip([0, *e], [*e, len(p)]))([n + 1 for n in range(len(p) - 1) if p[n + 1] != p[n] + 1])"
"""Text of the runs of consecutive positions in a tensor `p`: pairs (first index, index after the last)."""
HALVES = (
    "(lambda c, s, n: tuple(x * c.unsqueeze(-3) + torch.cat((-x[..., n:], x[..., :n]), -1) * s.unsqueeze(-3) "
    "for x in (q, k)))"
)
"""Text of the half-split rotation of q and k by cosines `c` and sines `s` of width 2 n."""
IN_SEQUENCE = (
    "(lambda call, parts, p: tuple(torch.cat(rows, -2) for rows in zip(*[[y[..., p[a:b], :] for y in call([x.new_zeros("
    "*x.shape[:-2], int(p[b - 1]) + 1, x.shape[-1]).index_copy(-2, p[a:b], x[..., a:b, :]) for x in parts])] "
    "for a, b in (lambda e: zip([0, *e], [*e, len(p)]))([n + 1 for n in range(len(p) - 1) if p[n + 1] <= p[n]])])))"
)
"""Text of a call of an object that numbers tokens itself: each run of rising positions is put at these places of a
sequence of zeros. `call` takes and returns a list of tensors [..., L, C]."""
ALONG = "(lambda p: torch.stack([p * (AXIS in (axis, {count})) for axis in range({count})], {axis}))"
"""Text of positions with `count` coordinates that run along coordinate AXIS, or along all if AXIS is `count`."""


@dataclass(frozen=True, kw_only=True)
class Convention:
    """Signature with the hook that it serves.

    Attributes:
        signature: as shown to users; cosines and sines are applied with rotate_half, and e is the code of a position.
        text: Python expression of `made`, the object, and of H and C: a function with the signature of the kind, or, if
            `by_lengths`, a function (number of queries, number of keys) -> bias, the queries being the last ones.
        required: numbers of required parameters of objects that may follow it, where no name of a `method` decides.
        in_sequence: True if the object numbers the tokens of its input itself.
        coordinates: number of coordinates of a position; AXIS in the text is the one along which positions run, and
            this number itself is all of them.
        note: what the object does in the other layout of its axes, which its calls cannot tell from this one.
    """

    signature: str
    kind: Kind
    text: str
    required: frozenset[int] = frozenset()
    method: str = ""
    by_lengths: bool = False
    in_sequence: bool = False
    coordinates: int = 0
    note: str = ""

    def along(self, axis: int) -> str:
        """Text for positions that run along a coordinate."""
        return self.text.replace("AXIS", str(axis))


ARGUMENTS = {Kind.ROTATE: "q, k, p", Kind.BIAS: "j, i, d=torch.float32", Kind.EMBED: "x, p"}
"""Arguments of the function that the text of a convention gives, by kind; "i, j" if the object takes lengths."""


def _convention(kind: Kind, required: int | set[int], signature: str, body: str, **more: Any) -> Convention:
    """Convention of objects with one of these numbers of required parameters; `body` is that of its text."""
    text = f"lambda {'i, j' if more.get('by_lengths') else ARGUMENTS[kind]}: {body}"
    numbers = frozenset({required} if isinstance(required, int) else required)
    return Convention(kind=kind, required=numbers, signature=signature, text=text, **more)


_rotate, _bias, _embed = (partial(_convention, kind) for kind in (Kind.ROTATE, Kind.BIAS, Kind.EMBED))
OVER_HEADS, OVER_BATCH = "with [B, H, L, C] positions run over heads", "with [B, L, D] positions run over the batch"
LAYOUTS = (
    ("[B, H, L, C]", "", "", ""),
    ("[B, L, H, C]", ".transpose(1, 2)", ".transpose(1, 2)", f"1, right for {{}}: {OVER_HEADS}"),
    ("[B H, L, C]", ".flatten(0, 1)", ".unflatten(0, (-1, H))", ""),
    ("[L, B, H, C]", ".permute(2, 0, 1, 3)", ".permute(1, 2, 0, 3)", "0, right for {}"),
    ("[L, B H, C]", ".flatten(0, 1).transpose(0, 1)", ".transpose(0, 1).unflatten(0, (-1, H))", "0, right for {}"),
)
"""Layouts of queries: the axes, texts that make them of [B, H, L, C] and undo it, and what their calls cannot tell."""


def _in_sequence(signature: str, required: int, call: str) -> list[Convention]:
    """Conventions of rotations that number tokens themselves; `call` is the text of a call with a list `x`."""
    return [
        _rotate(
            required,
            signature.format(axes),
            f"{IN_SEQUENCE}(lambda x: [z{undo} for z in {call.format(make)}], [q, k], p)",
            in_sequence=True,
            note=note and f"tokens are numbered along axis {note.format(axes)}",
        )
        for axes, make, undo, note in LAYOUTS
    ]


ROWS, PLANE, TIME = "p if p.ndim > 1 else p[None]", ALONG.format(count=2, axis=-1), ALONG.format(count=3, axis=0)
"""Texts of positions of rows, of those in a plane, and of those in time, height and width."""
UNIT = "torch.eye(1, C, dtype=d, device=i.device).repeat(*(i.shape[:-1] or (1,)), H, i.shape[-1] + j.shape[-1], 1)"
"""Text of unit vectors for all queries and keys: a product with one of them is not rounded."""
CONVENTIONS = (
    Convention(
        signature="an object with rotate_queries_or_keys(x, offset=...)",
        kind=Kind.ROTATE,
        method="rotate_queries_or_keys",
        text="lambda q, k, p: tuple(torch.cat([made.rotate_queries_or_keys(x[..., a:b, :], offset=int(p[a])) "
        f"for a, b in {RUNS}], -2) for x in (q, k))",
    ),
    _rotate(3, ROTATED, "made(q, k, p)"),
    _rotate(3, "(q, k, positions [B, L]) -> (q, k)", "made(q, k, p.expand(len(q), p.shape[-1]))"),
    _bias(
        3,
        "(q, k, positions) -> bias [H, L, L]",
        "(lambda b, n: b[..., n:, :n] if b.shape[-1] == b.shape[-2] else b)("
        f"made(*[{UNIT}] * 2, torch.cat([i, j], -1)), i.shape[-1])",
    ),
    _bias(
        3,
        "(q, k, positions) -> bias [H, L, L] of their number",
        "made(*[torch.eye(1, C).repeat(1, H, j, 1)] * 2, torch.arange(j))[..., -i:, :]",
        by_lengths=True,
    ),
    _rotate(3, "(q, k, positions [L, 2]) -> (q, k)", f"made(q, k, {PLANE}(p))", coordinates=2),
    _rotate(3, "(q, k, positions [3, B, L]) -> (q, k)", f"made(q, k, {TIME}({ROWS}))", coordinates=3),
    _bias(2, PAIRS, "made(j, i)"),
    _rotate({1, 2}, "(x [B, H, L, C], positions) -> x", "(made(q, p), made(k, p))"),
    _rotate(
        1,
        "(x [B, L, H, C], positions or input_pos=) -> x",
        f"tuple(made(x.transpose(1, 2), input_pos={ROWS}).transpose(1, 2) for x in (q, k))",
    ),
    _rotate(
        2,
        "(x [B, L, H, C], positions or input_pos=) -> x",
        "tuple(made(x.transpose(1, 2), p).transpose(1, 2) for x in (q, k))",
    ),
    _rotate(
        2,
        "(x [B H, L, C], positions) -> x",
        "tuple(made(x.flatten(0, 1), p if p.ndim < 2 else p.repeat_interleave(H, 0))"
        ".unflatten(0, (-1, H)) for x in (q, k))",
    ),
    _rotate(2, "(x, position_ids) -> (cos, sin)", f"{HALVES}(*made(q, {ROWS}), C // 2)"),
    *_in_sequence("(q {}, k) -> (q, k)", 2, "made(*[y{} for y in x])"),
    _rotate(2, "(x [B, H, L, C], positions [L, 2]) -> x", f"tuple(made(x, {PLANE}(p)) for x in (q, k))", coordinates=2),
    _rotate(
        2, "(x, position_ids [3, B, L]) -> (cos, sin)", f"{HALVES}(*made(q, {TIME}({ROWS})), C // 2)", coordinates=3
    ),
    _embed(2, "(x [B, L, D], positions) -> x + e", "made(x, p)"),
    _embed(2, "(x [B, L, D], positions [B, L]) -> x + e", "made(x, p.expand(len(x), p.shape[-1]))"),
    _rotate(
        1, "positions -> (cos, sin)", f"{HALVES}(*[torch.cat([t] * (C // t.shape[-1]), -1) for t in made(p)], C // 2)"
    ),
    _bias(2, "(number of queries, number of keys) -> bias", "made(i, j)", by_lengths=True),
    _bias(1, "scores [B, H, J, I] -> scores + bias", "made(torch.zeros(1, H, i, j))", by_lengths=True),
    _embed(1, "positions -> e [L, D]", "x + made(p).reshape(*p.shape, x.shape[-1])"),
    _embed(1, "x [B, L, D] -> x + e", f"{IN_SEQUENCE}(lambda x: [made(*x)], [x], p)[0]", in_sequence=True),
    _embed(
        1,
        "x [L, B, D] -> x + e",
        f"{IN_SEQUENCE}(lambda x: [made(x[0].transpose(0, 1)).transpose(0, 1)], [x], p)[0]",
        in_sequence=True,
        note=f"tokens are numbered along axis 0, right for [L, B, D]: {OVER_BATCH}",
    ),
    *_in_sequence("x {} -> x", 1, "[made(y{}) for y in x]"),
)
"""Conventions in the order in which they are tried."""
MODEL = "input_ids [B, L] -> logits [B, L, V]"
"""Signature of a whole model."""


def bound(text: str, made: Any, heads: int, head_dim: int) -> Callable[..., Any]:
    """Evaluate the text of a convention; texts are those of this module."""
    function: Callable[..., Any] = eval(text, {"torch": torch, "made": made, "H": heads, "C": head_dim})
    return function


def by_positions(of_lengths: Callable[[int, int], Tensor], *, is_streaming: bool = True) -> Callable[..., Tensor]:
    """Return (query_positions, key_positions, dtype) -> bias, for an encoding that takes lengths.

    If `is_streaming`, queries that are the last of the keys get a call of their own, as in decoding with a cache.
    """
    longest = LONGEST if is_streaming else LONGEST_SQUARE

    def bias(queries: Tensor, keys: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        if queries.ndim > 1 or keys.ndim > 1:
            raise ValueError("one row of positions only: it takes lengths")
        length = int(max(queries.max(), keys.max())) + 1
        if length > longest:
            raise ValueError(f"encodings that take lengths are audited up to {longest}")
        if is_streaming and torch.equal(queries, torch.arange(length - len(queries), length, device=queries.device)):
            return of_lengths(len(queries), length)[..., :, keys]
        square = of_lengths(length, length)
        return square.expand(*square.shape[:-2], length, length)[..., queries[:, None], keys]

    return bias


def in_sequences(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function of (..., positions), which refuses positions that need too long a sequence."""

    def called(*arguments: Any) -> Any:
        positions: Tensor = arguments[-1]
        if positions.ndim > 1:
            raise ValueError("one row of positions only: it numbers tokens itself")
        if positions.max() >= LONGEST:
            raise ValueError(f"encodings that number tokens themselves are audited up to {LONGEST}")
        return function(*arguments)

    return called


Fit = tuple[Convention, int, int]
"""Convention that an object follows, H heads, and their width C; an embedding has one head of the model's width."""


def recognise(instance: Any, name: str, heads: int, head_dim: int) -> Fit:
    """Convention that an object follows: the first whose call works, has the right shape, and acts by position.

    If no call acts by position, it is the first of the right shape: then this is what the audit finds. AuditError if
    none fits; the message gives the failure of the most likely call and all signatures.
    """
    if not callable(instance):
        raise AuditError(f"'{name}' makes {type(instance).__name__}, which is neither a function nor a module")
    required = _required(instance, name)
    kept = [*instance.parameters(), *instance.buffers()] if isinstance(instance, nn.Module) else []
    # Model widths D that an embedding may take: that of all heads, of one, and those of the tensors that it keeps.
    widths = dict.fromkeys([heads * head_dim, head_dim, *(tensor.shape[-1] for tensor in kept if tensor.ndim)])
    candidates: list[Fit] = [
        (convention, *sizes)
        for convention in CONVENTIONS
        if (hasattr(instance, convention.method) if convention.method else min(required, 3) in convention.required)
        for sizes in ([(1, width) for width in widths] if convention.kind is Kind.EMBED else [(heads, head_dim)])
    ]
    refusals: list[str] = []
    # As many tokens as heads fit by chance too, so that number is only tried where no other fits.
    for tokens in (heads + 3, heads if heads > 1 else 4):
        refusals, unmoved = [], []
        for fit in candidates:
            if tokens == heads and fit[0].in_sequence:
                continue  # its calls have any number of tokens
            try:
                if _acts_by_position(fit, instance, name, tokens):
                    return fit
                unmoved.append(fit)
            except AuditError as refusal:
                refusals.append(str(refusal))
        if unmoved:
            return unmoved[0]
    why = refusals[0] if refusals else f"'{name}' takes {required} arguments"
    of_as_many = list(dict.fromkeys(fit[0].signature for fit in candidates if not fit[0].method))
    signatures = "; ".join([*dict.fromkeys([*of_as_many[:SHOWN], ROTATED]), MODEL])
    raise AuditError(f"{why}; wrap it in a function of one of the signatures that are understood: {signatures}")


def _required(instance: Any, name: str) -> int:
    """Number of required positional parameters; 3 if any number is taken."""
    with user_code(f"'{name}' has no forward", error=AuditError):
        forward = instance.forward if issubclass(type(instance), nn.Module) else instance
    parameters = readable_parameters(forward, name)
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 3
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.default is p.empty and p.kind in positional for p in parameters)


def readable_parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    """Parameters of a function; AuditError if it has no readable signature."""
    with user_code(f"'{name}' has no readable signature: wrap it in a function", error=AuditError):
        return list(inspect.signature(function).parameters.values())


def _acts_by_position(fit: Fit, instance: Any, name: str, tokens: int) -> bool:
    """True if what a call of some tokens does depends on their positions, in the way of the convention's kind.

    Raises:
        AuditError: the call fails or returns another shape.
    """
    convention, heads, head_dim = fit
    function = bound(convention.along(convention.coordinates), instance, heads, head_dim)
    positions, q = torch.arange(tokens), torch.ones(1, heads, tokens, head_dim)
    given = f"q, k {list(q.shape)} and positions [{tokens}]"
    if convention.signature == PAIRS:
        given = f"query and key positions [{tokens}]"
    with user_code(f"'{name}' fails for {given}", error=AuditError), torch.no_grad():
        if convention.by_lengths:
            bias = _require_bias(function(tokens, tokens), name, tokens)
            return not has_real_values(bias) or not torch.equal(bias, bias[..., :1, :1].expand_as(bias))
        if convention.kind is Kind.BIAS:
            near = _require_bias(function(positions, positions), name, tokens)
            return not has_real_values(near) or not _is_the_same(near, function, 5 * positions)
        if convention.kind is Kind.EMBED:
            added = _require_like(function(torch.zeros_like(q[0]), positions), q[0], name)
            scaled = _require_like(function(q[0], positions), q[0], name) - added
            return _varies(added) and torch.allclose(scaled, scaled[:, :1].expand_as(scaled), atol=1e-4)
        answer = function(q, q.clone(), positions)
        if not (isinstance(answer, tuple | list) and len(answer) == 2):
            raise _unlike(answer, name, tokens)
        if convention.signature == ROTATED and not all(
            isinstance(part, Tensor) and has_real_values(part) and part.shape == q.shape for part in answer
        ):
            return False  # its adapter says what is wrong
        turned = [_require_like(part, q, name) for part in answer]
        fixed = function(torch.zeros_like(q), torch.zeros_like(q), positions)
        return any(map(_varies, turned)) and not any(has_real_values(x) and (x.abs() > 1e-6).any() for x in fixed)


def _require_bias(answer: Any, name: str, tokens: int) -> Tensor:
    """The answer if it is a bias of some tokens, else AuditError."""
    shapes = ((tokens, tokens), (1, tokens))  # one row may stand for all
    is_bias = isinstance(answer, Tensor) and answer.ndim in (3, 4) and answer.shape[-2:] in shapes
    if not is_bias or not (answer.is_floating_point() or answer.is_complex()):
        raise _unlike(answer, name, tokens)
    return answer


def _require_like(answer: Any, given: Tensor, name: str) -> Tensor:
    """The answer if it has the shape of what went in, else AuditError."""
    if not isinstance(answer, Tensor) or answer.shape != given.shape:
        raise _unlike(answer, name, f"tensors {list(given.shape)}")
    return answer


def _unlike(answer: Any, name: str, wanted: int | str) -> AuditError:
    """Error of an answer of another shape than the wanted one, or than that of a rotation or a bias of some tokens."""
    if isinstance(wanted, int):
        wanted = f"(q, k), or a bias [H, {wanted}, {wanted}], for positions [{wanted}]"
    shape = list(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
    return AuditError(f"'{name}' must return {wanted}; it returns {shape}")


def _is_the_same(near: Tensor, function: Callable[..., Any], far: Tensor) -> bool:
    """True if a bias is the same at positions that are farther apart, and these are not refused."""
    with suppress(AuditError), user_code("positions are refused", error=AuditError):
        return torch.equal(near, function(far, far))
    return False


def _varies(answer: Tensor) -> bool:
    """True if some row, that of a token, differs from the first one; also if it has no numbers, as its audit says."""
    return not has_real_values(answer) or not torch.equal(answer, answer[..., :1, :].expand_as(answer))
