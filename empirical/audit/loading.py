"""Subjects from what a user has: a name of ours, or an object of a file.

An object is one of
    a record, `theory.encodings.encoding.Encoding`, with a module;
    a function (q, k, positions) -> (q, k), or -> bias [H, J, I] of all positions among themselves;
    a function (query_positions, key_positions) -> bias [H, J, I];
    a PositionEncoding, or any nn.Module whose forward is such a function;
    what makes one of these: a class, or a function whose parameters all have defaults or are sizes, as for training:
        heads, head_dim, width, layers, length, trained_length.
Only what makes instances can be asked whether two of them are independent. Each may have an attribute `claims`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from circuits.encodings import parse_encoding
from empirical.audit.subject import CLAIMS, USUAL_CLAIMS, AuditError, Kind, Subject
from empirical.encodings.base import Content, PositionEncoding
from empirical.encodings.catalogue import MODULES, named
from theory.encodings.encoding import Encoding, Law
from theory.encodings.own import is_file
from theory.relation import Relation, relative
from theory.system.userfile import load_object, user_code

HEADS, HEAD_DIM, LENGTH = 4, 64, 2048
SIZES = ("heads", "head_dim", "width", "layers", "length", "trained_length")
"""Sizes of a model that an encoding may ask for by name."""
SECOND_BASES = (500.0, 10000.0)
"""Of the second instance, the first that the audited one does not have, where a parameter is one of `BASES` and no
others are asked for."""
BASES = ("base", "theta", "rope_theta")
NOT_CLAIMED = {
    Kind.ROTATE: frozenset(),
    Kind.BIAS: frozenset(),
    Kind.SCORES: frozenset(),
    Kind.EMBED: frozenset({"relative"}),
    Kind.CONTENT: frozenset({"relative", "distinct"}),
}
"""What a way of acting cannot claim, whatever its encoding does."""


def load(spec: str, **options: Any) -> list[Subject]:
    """The subjects of NAME or path/to/file.py:OBJECT. The file is run: it is the user's own code.

    Args:
        spec: a name of `empirical.encodings.catalogue`, or a file and the object that it defines.
        **options: as `subjects`.

    Raises:
        AuditError: no such file or object, or it is of no known form.
        EncodingError: no such name.
    """
    if not is_file(spec):
        return _named(spec, **options)
    thing = load_object(spec, what="encoding", error=AuditError)
    return subjects(thing, name=spec.rpartition(":")[2], **options)


def _named(text: str, *, claims: Iterable[str] | None = None, **options: Any) -> list[Subject]:
    """A registered encoding; it claims the laws that its record declares."""
    spec = parse_encoding(text)
    record, make = spec.record, MODULES[spec.record.drawn_from or spec.name]
    if record.learns_labels or getattr(make, "needs_labels", False):
        raise AuditError(f"'{spec}' acts through labels of a relation, in which nothing is rounded")

    def build(*, heads: int, head_dim: int, **parameters: Any) -> PositionEncoding:
        return named(str(spec), heads=heads, head_dim=head_dim, **parameters)

    taken = list(dict.fromkeys(["heads", "head_dim", "length", *inspect.signature(make).parameters]))
    taken = [name for name in taken if name in SIZES or name in record.options]
    declared = _declared(record) if claims is None else claims
    return _subjects(build, taken, name=str(spec), claims=declared, sizes=("heads", "head_dim"), **options)


def _declared(record: Encoding) -> frozenset[str]:
    laws = {"relative": Law.RELATIVE in record.laws, "streaming": Law.STREAMING in record.laws}
    # A bias may give several distances one value, unless its relation is the distance itself.
    distinct = not record.bias or (record.relation is not None and record.relation.name == relative().name)
    return frozenset([law for law, holds in laws.items() if holds] + ["distinct"] * distinct)


def subjects(
    thing: Any,
    *,
    name: str,
    claims: Iterable[str] | None = None,
    **options: Any,
) -> list[Subject]:
    """One for each way in which an object acts.

    Args:
        thing: as above.
        name: for people.
        claims: in place of its own or the usual ones.
        options: heads: H of the queries it is given, and its parameter of this name where it has one; head_dim: C,
            alike; parameters: of the instance that is audited, where `thing` makes instances; other: what the second
            instance has in their place.

    Raises:
        AuditError: it is of no known form, has no such parameters, or fails.
    """
    if type(thing) is Encoding:
        if thing.module is None:
            raise AuditError(f"'{name}' has no module: there is nothing to audit")
        thing, claims = thing.module, _declared(thing) if claims is None and not thing.no_formula else claims
    if issubclass(type(thing), Relation):
        raise AuditError(f"'{name}' is a relation, in whose labels nothing is rounded: there is nothing to audit")
    return _subjects(*_builder(thing, name), name=name, claims=claims, **options)


def _subjects(
    build: Callable[..., Any],
    taken: list[str] | None,
    *,
    name: str,
    heads: int = HEADS,
    head_dim: int = HEAD_DIM,
    parameters: Mapping[str, Any] | None = None,
    other: Mapping[str, Any] | None = None,
    claims: Iterable[str] | None = None,
    sizes: Sequence[str] = SIZES,
) -> list[Subject]:
    """`taken`: the names of `build`'s parameters, None where it only gives what there is; `sizes`: those to fill in."""
    names = taken or []
    for key in {**(parameters or {}), **(other or {})}:
        if key not in names:
            raise AuditError(f"'{name}' has no parameter '{key}'; it has {', '.join(names) or 'none'}")
    values = (heads, head_dim, heads * head_dim, 1, LENGTH, LENGTH)
    filled = {key: size for key, size in zip(SIZES, values, strict=True) if key in names and key in sizes}
    given = {**filled, **(parameters or {})}
    base = next((one for one in BASES if one in names), None)
    second = other or (base and {base: next(value for value in SECOND_BASES if value != given.get(base))}) or None

    def made(**chosen: Any) -> Any:
        with user_code(f"'{name}' cannot be made with {chosen}", error=AuditError):
            instance = build(**chosen)
            if isinstance(instance, nn.Module):
                list(instance.parameters())  # which there are none of where its __init__ left out that of Module
            return instance

    instance = made(**given)
    declared = _claims(instance, name) if claims is None else claims
    unknown = [one for one in declared or () if one not in CLAIMS]
    if unknown:
        raise AuditError(f"unknown claim '{unknown[0]}': choose among {', '.join(CLAIMS)}")
    ways = _ways(instance, name, heads, head_dim)
    return [
        Subject(
            name=name if len(ways) == 1 else f"{name}, {kind.value}",
            kind=kind,
            build=made,
            bind=bind,
            parameters=given,
            other=second,
            claims=USUAL_CLAIMS[kind] if declared is None else frozenset(declared) - NOT_CLAIMED[kind],
            heads=heads,
            head_dim=head_dim,
        )
        for kind, bind in ways
    ]


def _claims(instance: Any, name: str) -> list[str] | None:
    """What an instance says that it claims, if it says so."""
    with user_code(f"the attribute 'claims' of '{name}' fails", error=AuditError):
        claims = getattr(instance, "claims", None)
        if claims is None:
            return None
        if not all(isinstance(claim, str) for claim in claims):
            raise AuditError(f"the attribute 'claims' of '{name}' must hold names: {', '.join(CLAIMS)}")
        return [*claims]


def _builder(thing: Any, name: str) -> tuple[Callable[..., Any], list[str] | None]:
    """What makes instances, and the names of its parameters; None where it only copies the one there is."""
    if issubclass(type(thing), nn.Module):
        return lambda: deepcopy(thing), None
    if not callable(thing):
        raise AuditError(f"'{name}' is {type(thing).__name__}: give a function, a module, or what makes one")
    taken = _parameters(thing, name)
    required = [
        one.name for one in taken if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    ]
    if set(required) <= set(SIZES):
        return thing, [one.name for one in taken]
    if isinstance(thing, type):
        raise AuditError(f"'{name}' needs {', '.join(required)}: wrap it in a function with defaults")
    return lambda: thing, None


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    with user_code(f"'{name}' does not show its parameters; wrap it in a function", error=AuditError):
        return list(inspect.signature(function).parameters.values())


def _ways(
    instance: Any, name: str, heads: int, head_dim: int
) -> list[tuple[Kind, Callable[[Any], Callable[..., Any]]]]:
    """How an instance acts, each with what turns it into a function of the kind's form."""
    if issubclass(type(instance), PositionEncoding):
        acts = {kind: binding for kind, binding in BINDINGS.items() if _overrides(instance, kind)}
        ways = [(kind, binding) for kind, binding in acts.items() if kind is not Kind.ROTATE or Kind.SCORES not in acts]
        with user_code(f"'{name}' fails for positions [4]", error=AuditError):
            if _reads_content(instance, heads, head_dim):
                return [(Kind.CONTENT, _logits)]
        if not ways:
            raise AuditError(f"'{name}' does nothing with positions: there is nothing to audit")
        return ways
    if not callable(instance):
        raise AuditError(f"'{name}' makes {type(instance).__name__}, which is neither a function nor a module")
    with user_code(f"'{name}' has no forward", error=AuditError):
        called = instance.forward if issubclass(type(instance), nn.Module) else instance
    taken = [one for one in _parameters(called, name) if one.default is one.empty]
    takes_pairs = len(taken) == 2 and not any(one.kind is one.VAR_POSITIONAL for one in taken)
    four, q = torch.arange(4), torch.ones(1, heads, 4, head_dim)
    given = "query and key positions [4]" if takes_pairs else f"q, k {list(q.shape)} and positions [4]"
    with user_code(f"'{name}' fails for {given}", error=AuditError), torch.no_grad():
        answer = instance(four, four) if takes_pairs else instance(q, q.clone(), four)
    if isinstance(answer, tuple | list) and len(answer) == 2 and not takes_pairs:
        return [(Kind.ROTATE, lambda made: made)]
    if isinstance(answer, Tensor) and answer.ndim in (3, 4) and answer.shape[-2:] == (4, 4):
        if takes_pairs:
            return [(Kind.BIAS, lambda made: lambda queries, keys, dtype: made(queries, keys))]
        return [(Kind.BIAS, lambda made: _bias_of_tokens(made, heads, head_dim))]
    shape = list(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
    raise AuditError(f"'{name}' must return (q, k), or a bias [H, 4, 4], for positions [4]; it returns {shape}")


def _reads_content(instance: PositionEncoding, heads: int, head_dim: int) -> bool:
    """Whether it refuses to act without content, and acts with it."""
    four, q = torch.arange(4), torch.ones(1, heads, 4, head_dim)
    try:
        with torch.no_grad():
            instance.rotate(q, q.clone(), four)
            instance.bias(four, four)
    except ValueError:
        with torch.no_grad():
            _logits(instance)(q, q.clone(), torch.ones(1, 4, heads * head_dim), four, q.dtype)
        return True
    return False


def _logits(made: PositionEncoding) -> Callable[..., Tensor]:
    """Of a whole sequence and its content; products and sums of what the encoding gives are taken in float64."""

    def logits(q: Tensor, k: Tensor, x: Tensor, positions: Tensor, dtype: torch.dtype) -> Tensor:
        content = Content(x_BLD=x, q_BHJC=q, k_BHIC=k)
        turned_q, turned_k = made.rotate(q, k, positions, content)
        bias = made.bias(positions, positions, content, dtype=dtype)
        scores = turned_q.double() @ turned_k.double().transpose(-1, -2) / q.shape[-1] ** 0.5
        return scores if bias is None else scores + bias.double()

    return logits


def _overrides(instance: PositionEncoding, hook: Kind) -> bool:
    """Whether the method called as the kind does anything."""
    return getattr(type(instance), hook.value) is not getattr(PositionEncoding, hook.value)


BINDINGS: dict[Kind, Callable[[Any], Callable[..., Any]]] = {
    Kind.EMBED: lambda made: made.embed,
    Kind.ROTATE: lambda made: made.rotate,
    Kind.SCORES: lambda made: (
        lambda q, k, queries, keys: made.scores(
            made.rotate(q, q, queries)[0], made.rotate(k, k, keys)[1], queries, keys
        )
    ),
    Kind.BIAS: lambda made: lambda queries, keys, dtype: made.bias(queries, keys, dtype=dtype),
}


def _bias_of_tokens(made: Any, heads: int, head_dim: int) -> Callable[[Tensor, Tensor, torch.dtype], Tensor]:
    """Of all positions among themselves, for equal queries and equal keys, so that only positions differ."""

    def bias(queries: Tensor, keys: Tensor, dtype: torch.dtype) -> Tensor:
        positions = torch.cat([keys, queries], -1)
        ones = torch.ones(1, heads, positions.shape[-1], head_dim, dtype=dtype, device=positions.device)
        answer = made(ones, ones.clone(), positions)
        return answer[..., keys.shape[-1] :, : keys.shape[-1]]

    return bias
