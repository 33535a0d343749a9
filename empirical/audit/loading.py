"""Loading of subjects: an encoding of this project by name, or an object that a user's file defines.

The object is a record (`Encoding`) that has a module; a function or a module that follows one of `CONVENTIONS`; a
PositionEncoding; or a factory of one of these: a class, or a function whose parameters all have defaults or are sizes.
Independence of two instances can be tested for a factory only. The object may have an attribute `claims`, and an
attribute `follows`: fields of `rope_parameters` whose published constants it should have.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import sympy as sp
import torch
from torch import Tensor, nn

from lengthgen.circuits.encoding_spec import parse_encoding
from lengthgen.empirical.audit.conventions import (
    Convention,
    bound,
    by_positions,
    in_sequences,
    readable_parameters,
    recognise,
)
from lengthgen.empirical.audit.subject import CLAIMS, USUAL_CLAIMS, AuditError, Kind, Subject
from lengthgen.empirical.encodings.base import Content, PositionEncoding, overrides
from lengthgen.empirical.encodings.biases import path_distances
from lengthgen.empirical.encodings.modules import MODULES, named
from lengthgen.infrastructure.userfile import load_object, user_code
from lengthgen.theory.encodings.encoding import Encoding, Law
from lengthgen.theory.encodings.own import is_file
from lengthgen.theory.relation import Relation, relative

HEADS, HEAD_DIM, LENGTH = 4, 64, 2048
SIZES = ("heads", "head_dim", "width", "layers", "length", "trained_length")
"""Model sizes that an encoding may name as parameters."""
SYNONYMS = {
    "n_heads": "heads", "num_heads": "heads", "n_head": "heads", "nhead": "heads", "num_attention_heads": "heads",
    "dim": "head_dim", "d_head": "head_dim", "dim_head": "head_dim", "head_size": "head_dim", "rotary_dim": "head_dim",
    "d_model": "width", "hidden_size": "width", "embed_dim": "width", "n_embd": "width", "model_dim": "width",
    "max_len": "length", "max_length": "length", "max_seq_len": "length", "seq_len": "length", "n_positions": "length",
    "max_position_embeddings": "length", "block_size": "length", "context_length": "length",
}  # fmt: skip
"""Other names of sizes; filled in where they have no default."""
SECOND_BASES = (500.0, 10000.0)
"""Default bases of the second instance: the first one that the audited instance does not have.

Used if there is a base parameter and the caller gives no other parameters for the second instance.
"""
BASES = ("base", "theta", "rope_theta")
"""Names of a base parameter."""
NOT_CLAIMED = {Kind.EMBED: {"relative"}, Kind.CONTENT: {"relative", "distinct"}}
"""Claims dropped for a kind because that hook cannot satisfy them."""


class Hook(NamedTuple):
    """Way in which an instance acts: the kind, and the function that turns it into a callable of the kind's signature.

    `part` names it among several; `text` is that of the convention, if the object follows one.
    """

    kind: Kind
    bind: Callable[[Any], Callable[..., Any]]
    heads: int
    head_dim: int
    part: str
    convention: Convention | None = None
    text: str = ""


def load(spec: str, **options: Any) -> list[Subject]:
    """Subjects of NAME or path/to/file.py:OBJECT, with the options of `subjects`. The file is run: it is the user's.

    Raises:
        AuditError: the file or object does not exist, or the object has an unknown form.
        EncodingError: the name does not exist.
    """
    if is_file(spec):
        loaded = load_object(spec, what="encoding", error=AuditError)
        path, _, name = spec.rpartition(":")
        return subjects(loaded, name=name, source=f"runpy.run_path({path!r})[{name!r}]", **options)
    registered = parse_encoding(spec)
    record, make = registered.record, MODULES[registered.record.drawn_from or registered.name]
    if record.learns_labels or getattr(make, "needs_labels", False):
        raise AuditError(f"'{registered}' acts through integer labels of a relation: there is no rounding to audit")
    taken = dict.fromkeys(["heads", "head_dim", "length", *inspect.signature(make).parameters])
    parameter_names = [name for name in taken if name in SIZES or name in record.options]
    if options.get("claims") is None:
        options["claims"] = _claims_of_record(record)
    build = partial(named, str(registered))
    return _subjects_of_factory(build, parameter_names, name=str(registered), sizes=("heads", "head_dim"), **options)


def _claims_of_record(record: Encoding) -> frozenset[str]:
    """Claims that follow from the laws of a record; a structure is audited on a path, whose distances are |j - i|."""
    if record.has_structure:
        return frozenset({"relative", "streaming", "bidirectional"})
    laws = {"relative": Law.RELATIVE in record.laws, "streaming": Law.STREAMING in record.laws}
    # A bias may give several distances the same value, unless its relation is the distance itself within its window.
    by_distance = record.relation is not None and (
        record.relation.name == relative().name or record.window is not sp.oo
    )
    distinct = not record.repeats and (not record.bias or by_distance)
    return frozenset([law for law, holds in laws.items() if holds] + ["distinct"] * distinct)


def subjects(
    thing: Any, *, name: str, source: str = "", claims: Iterable[str] | None = None, **options: Any
) -> list[Subject]:
    """Subjects of an object, one for each hook through which it acts.

    Args:
        thing: object of one of the forms listed above.
        name: name in messages and reports.
        source: Python expression of the object, for reproductions.
        claims: replaces the object's own claims or the usual ones.
        options: heads and head_dim of the queries, and of an encoding that has such parameters; parameters of the
            audited instance, if `thing` is a factory; other: those that the second instance has changed.

    Raises:
        AuditError: the object has an unknown form, lacks a named parameter, or fails.
    """
    if type(thing) is Encoding:
        if thing.module is None:
            raise AuditError(f"'{name}' has no module: there is nothing to audit")
        thing, claims = thing.module, _claims_of_record(thing) if claims is None and not thing.no_formula else claims
    if issubclass(type(thing), Relation):
        raise AuditError(f"'{name}' is a relation with integer labels: there is no rounding to audit")
    return _subjects_of_factory(*_factory(thing, name), name=name, source=source, claims=claims, **options)


def _subjects_of_factory(
    build: Callable[..., Any],
    parameter_names: list[str] | None,
    optional: frozenset[str] = frozenset(SYNONYMS),
    *,
    name: str,
    heads: int = HEADS,
    head_dim: int = HEAD_DIM,
    parameters: Mapping[str, Any] | None = None,
    other: Mapping[str, Any] | None = None,
    claims: Iterable[str] | None = None,
    sizes: Sequence[str] = SIZES,
    source: str = "",
) -> list[Subject]:
    """Make an instance and return its subjects; `sizes` are the model sizes to fill in.

    `parameter_names` are those of `build`; None if it only copies an existing object.
    """
    names = parameter_names or []
    for key in {**(parameters or {}), **(other or {})}:
        if key not in names:
            raise AuditError(f"'{name}' has no parameter '{key}'; it has {', '.join(names) or 'none'}")
    values = (heads, head_dim, heads * head_dim, 1, LENGTH, LENGTH)
    by_name = dict(zip(SIZES, values, strict=True))
    arguments: dict[str, Any] = {key: size for key, size in by_name.items() if key in names and key in sizes}
    arguments |= {key: by_name[SYNONYMS[key]] for key in names if key in SYNONYMS and key not in optional}
    arguments |= parameters or {}
    base_name = next((candidate for candidate in BASES if candidate in names), None)
    second_base = base_name and {base_name: next(value for value in SECOND_BASES if value != arguments.get(base_name))}

    def make(**keywords: Any) -> Any:
        with user_code(f"'{name}' cannot be made with {keywords}", error=AuditError):
            instance = build(**keywords)
            if isinstance(instance, nn.Module):
                unset = [part for part in instance.parameters() if part.requires_grad and not part.any()]
                if not isinstance(instance, PositionEncoding):
                    for part in unset:  # a table that training fills would have one code
                        nn.init.uniform_(part)
                    instance.eval()
            return instance

    instance = make(**arguments)
    claimed = _claims_attribute(instance, name) if claims is None else claims
    unknown = [claim for claim in claimed or () if claim not in CLAIMS]
    if unknown:
        raise AuditError(f"unknown claim '{unknown[0]}': choose among {', '.join(CLAIMS)}")
    kinds = USUAL_CLAIMS if claimed is None else dict.fromkeys(Kind, frozenset(claimed))
    hooks = _hooks(instance, name, heads, head_dim, is_streaming="streaming" in kinds[Kind.BIAS])
    return [
        Subject(
            name=name if len(hooks) == 1 else f"{name}, {hook.part}",
            kind=hook.kind,
            build=make,
            bind=hook.bind,
            parameters=arguments,
            # Beside a rotation the bias has no base.
            other=other or (second_base if hook.kind is not Kind.BIAS or len(hooks) == 1 else None) or None,
            claims=kinds[hook.kind] - NOT_CLAIMED.get(hook.kind, set()),
            heads=hook.heads,
            head_dim=hook.head_dim,
            by_softmax=not (isinstance(instance, PositionEncoding) and overrides(instance, "normalise")),
            follows=_follows_attribute(instance, name),
            **_convention_fields(hook, source, arguments, parameter_names is not None),
        )
        for hook in hooks
    ]


def _convention_fields(hook: Hook, source: str, arguments: Mapping[str, Any], is_factory: bool) -> dict[str, Any]:
    """Fields of a subject that follow from the convention: its signature, its recipe, and its call by lengths."""
    convention, text, heads, head_dim = hook.convention, hook.text, hook.heads, hook.head_dim
    if convention is None:
        return {}
    made = f"made = {source}"
    if is_factory:
        made = f"factory = {source}; make = lambda **k: factory(**({dict(arguments)!r} | k)); made = make()"
    named = re.sub(r"\bH\b", str(heads), re.sub(r"\bC\b", str(head_dim), text))
    if convention.by_lengths:
        lengths = f"of_lengths = {named}"
        named = "lambda j, i: (lambda n: of_lengths(n, n)[..., j[:, None], i])(int(max(j.max(), i.max())) + 1)"
    lines = [f"import runpy, torch; torch.manual_seed(0); {made}"]
    lines += [lengths] if convention.by_lengths else []
    return {
        "signature": convention.signature,
        "recipe": (*lines, f"{convention.kind.value} = {named}") if source else (),
        "of_lengths": (lambda made: bound(text, made, heads, head_dim)) if convention.by_lengths else None,
        "of_coordinate": hook.part.startswith("coordinate"),
        "note": convention.note,
        "makes_tables": convention.by_lengths or convention.in_sequence,
    }


def _follows_attribute(instance: Any, name: str) -> Mapping[str, Any] | None:
    """Published constants that the object says it follows; None if it says nothing."""
    with user_code(f"the attribute 'follows' of '{name}' fails", error=AuditError):
        follows = getattr(instance, "follows", None)
        if follows is not None and not isinstance(follows, Mapping):
            raise AuditError(f"the attribute 'follows' of '{name}' must be a dict such as {{'rope_type': 'yarn', ...}}")
        return follows and dict(follows)


def _claims_attribute(instance: Any, name: str) -> list[str] | None:
    """Claims of the object's attribute `claims`; None if it has none."""
    with user_code(f"the attribute 'claims' of '{name}' fails", error=AuditError):
        claims = getattr(instance, "claims", None)
        if claims is not None and not all(isinstance(claim, str) for claim in claims):
            raise AuditError(f"the attribute 'claims' of '{name}' must hold names: {', '.join(CLAIMS)}")
        return None if claims is None else [*claims]


def _factory(thing: Any, name: str) -> tuple[Callable[..., Any], list[str] | None, frozenset[str]]:
    """Factory of instances, names of its parameters (None if it copies an existing object), and the optional ones."""
    if issubclass(type(thing), nn.Module):
        return lambda: deepcopy(thing), None, frozenset()
    if not callable(thing):
        raise AuditError(f"'{name}' is {type(thing).__name__}: give a function, a module, or a factory of one")
    parameters = readable_parameters(thing, name)
    required = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]
    named = [parameter.name for parameter in parameters]
    is_made = isinstance(thing, type) or bool(set(required) & set(SIZES)) or not required
    if set(required) <= {*SIZES, *SYNONYMS} and is_made:
        return thing, named, frozenset(named) - frozenset(required)
    if isinstance(thing, type):
        raise AuditError(f"'{name}' needs {', '.join(required)}: wrap it in a function with defaults")
    return lambda: thing, None, frozenset()


def _hooks(instance: Any, name: str, heads: int, head_dim: int, *, is_streaming: bool) -> list[Hook]:
    """Hooks of an instance; `is_streaming`: a bias of lengths is asked for the last queries alone, too."""
    if issubclass(type(instance), PositionEncoding):
        overridden = {kind: bind for kind, bind in BINDINGS.items() if overrides(instance, kind.value)}
        if Kind.SCORES in overridden:
            overridden.pop(Kind.ROTATE, None)
        with user_code(f"'{name}' fails for positions [4]", error=AuditError):
            if _reads_content(instance, heads, head_dim):
                overridden = {Kind.CONTENT: _logits}
        if not overridden:
            raise AuditError(f"'{name}' does nothing with positions: there is nothing to audit")
        return [Hook(kind, bind, heads, head_dim, part=kind.value) for kind, bind in overridden.items()]
    convention, fit_heads, fit_width = recognise(instance, name, heads, head_dim)
    count = convention.coordinates

    def along(axis: int) -> Hook:
        text = convention.along(axis)

        def bind(made: Any) -> Callable[..., Any]:
            function = bound(text, made, fit_heads, fit_width)
            if convention.by_lengths:
                # One that takes q and k of one length has no call for the last queries alone.
                return by_positions(function, is_streaming=is_streaming and 3 not in convention.required)
            return in_sequences(function) if convention.in_sequence else function

        part = f"coordinate {axis}" if axis < count else "all coordinates"
        return Hook(convention.kind, bind, fit_heads, fit_width, part, convention, text)

    # Text has equal coordinates where positions have three (time, height, width).
    return [along(axis) for axis in ([count] if count != 2 else []) + list(range(count))]


def _reads_content(instance: PositionEncoding, heads: int, head_dim: int) -> bool:
    """True if the encoding raises without content and works with it."""
    positions, q = torch.arange(4), torch.ones(1, heads, 4, head_dim)
    try:
        with torch.no_grad():
            instance.rotate(q, q.clone(), positions)
            instance.bias(positions, positions, _path(instance, positions, positions))
    except ValueError:
        with torch.no_grad():
            _logits(instance)(q, q.clone(), torch.ones(1, 4, heads * head_dim), positions, q.dtype)
        return True
    return False


def _logits(encoding: PositionEncoding) -> Callable[..., Tensor]:
    """Return a function for the logits of a whole sequence with content; products and sums are computed in float64."""

    def logits(q: Tensor, k: Tensor, x: Tensor, positions: Tensor, dtype: torch.dtype) -> Tensor:
        path = path_distances(positions, positions) if encoding.needs_distances else None
        content = Content(x_BLD=x, q_BHJC=q, k_BHIC=k, distances_BJI=path)
        q_rotated, k_rotated = encoding.rotate(q, k, positions, content)
        bias = encoding.bias(positions, positions, content, dtype=dtype)
        scores = q_rotated.double() @ k_rotated.double().transpose(-1, -2) / q.shape[-1] ** 0.5
        return scores if bias is None else scores + bias.double()

    return logits


def _scores(made: PositionEncoding) -> Callable[..., Any]:
    return lambda q, k, queries, keys: made.scores(
        made.rotate(q, q, queries)[0], made.rotate(k, k, keys)[1], queries, keys
    )


def _bias(made: PositionEncoding) -> Callable[..., Any]:
    return lambda queries, keys, dtype: made.bias(queries, keys, _path(made, queries, keys), dtype=dtype)


BINDINGS: dict[Kind, Callable[[Any], Callable[..., Any]]] = {
    Kind.EMBED: lambda made: made.embed, Kind.ROTATE: lambda made: made.rotate, Kind.SCORES: _scores, Kind.BIAS: _bias
}  # fmt: skip


def _path(made: PositionEncoding, queries: Tensor, keys: Tensor) -> Content | None:
    """Content of an encoding that reads distances: those of a path through all positions; None for other encodings."""
    return Content(distances_BJI=path_distances(queries, keys)) if made.needs_distances else None
