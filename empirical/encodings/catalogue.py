"""Catalogue of the torch modules: encoding name -> module. The names are those of the records in theory/encodings/."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.encoding_spec import EncodingError, EncodingSpec, parse_encoding, relation_of
from lengthgen.empirical.encodings.base import PositionEncoding
from lengthgen.empirical.encodings.guarded import guard
from lengthgen.empirical.encodings.relational import Relational
from lengthgen.infrastructure.discovery import sibling_modules
from lengthgen.infrastructure.userfile import shown, user_code
from lengthgen.theory.relation import Relation

MODULES: dict[str, Callable[..., PositionEncoding]] = {
    name: make for module in sibling_modules(__name__) for name, make in getattr(module, "MODULES", {}).items()
}
"""Encoding -> factory of its module, called with the sizes and options that its parameters name.

Each module of this package lists those that it makes in its own MODULES.

A record with drawn positions uses the module of the encoding that it is drawn from.
"""
MAX_LABELS = 1_000_000
"""Largest number of labels of a relation: the table has a row for each."""


def module_of(spec: EncodingSpec, sizes: Mapping[str, int]) -> PositionEncoding:
    """Make the module of an encoding, with parameters drawn from PyTorch's generator.

    Args:
        spec: a registered encoding, or an object of the user's own.
        sizes: heads, head_dim, width, layers and length (positions of a table) of the model, trained_length, and
            labels if it reads those of a relation. The module gets the sizes that its parameters name.

    Raises:
        EncodingError: the encoding refuses a size or an option, it has more labels than MAX_LABELS, or the user's own
            object makes no module.
    """
    make = _factory_of(spec)
    labels = sizes.get("labels", 0)
    if make is Relational and labels > MAX_LABELS:
        raise EncodingError(f"'{spec}' has {labels:,} labels, and each takes a table row: number them 0, 1, 2, ...")
    if spec.is_own and make is not Relational:
        return own_module(make, sizes, str(spec))
    options = {} if spec.record.drawn_from else _accepted(make, dict(spec.options))
    try:
        module: PositionEncoding = make(**_accepted(make, sizes) | options)
        return module
    except ValueError as error:
        raise EncodingError(f"{spec.name}: {error}") from error


def own_module(make: Callable[..., Any], sizes: Mapping[str, int], name: str) -> PositionEncoding:
    """Make a module by a user's class or function, from the sizes that its parameters name, and guard its hooks.

    Raises:
        EncodingError: the factory fails, or makes no PositionEncoding; `name` is the user's object in messages.
    """
    with user_code(f"'{name}' cannot be made from the sizes {', '.join(sizes)}", error=EncodingError):
        module = make(**_accepted(make, sizes))
        if not isinstance(module, PositionEncoding):
            raise EncodingError(f"'{name}' makes {shown(module)}, not a PositionEncoding")
        return guard(module, name)


def label_relation(spec: EncodingSpec, circuit: Circuit | None) -> Relation | None:
    """Relation whose labels the module reads, for a circuit; None if the module reads no labels.

    Raises:
        EncodingError, RelationError: see `lengthgen.circuits.encoding_spec.relation_of`.
    """
    origin = spec.record.drawn_from
    if origin:
        return label_relation(EncodingSpec(name=origin), circuit)
    with user_code(f"'{spec}': its attribute 'needs_labels' fails", error=EncodingError):
        needs_labels = bool(getattr(_factory_of(spec), "needs_labels", False))
    return relation_of(spec, circuit) if needs_labels else None


def named(
    name: str, *, heads: int, head_dim: int, layers: int = 1, length: int = 2048, **options: Any
) -> PositionEncoding:
    """Make the module of a named encoding for a model of these sizes.

    Args:
        name: a name or alias as listed by `lengthgen encodings`, with or without options.
        heads: number H of heads.
        head_dim: head width C; the model's width is heads * head_dim.
        layers: number of layers.
        length: positions of a table, and the trained length of encodings that depend on one.
        options: options of the encoding itself.

    Raises:
        EncodingError: an unknown name or option, or a value that the encoding refuses.
    """
    spec = parse_encoding(name)
    spec = EncodingSpec(name=spec.name, options=tuple((dict(spec.options) | options).items()))
    sizes = {"heads": heads, "head_dim": head_dim, "width": heads * head_dim, "layers": layers}
    return module_of(spec, sizes | {"length": length, "trained_length": length})


def _factory_of(spec: EncodingSpec) -> Callable[..., Any]:
    """Factory of the encoding's module."""
    record = spec.record
    if not spec.is_own:
        return MODULES[record.drawn_from or record.name]
    if record.module is not None:
        if not callable(record.module):
            raise EncodingError(f"'{spec}' is neither a record nor a factory of a PositionEncoding")
        return record.module
    if record.relation is not None and record.no_formula:
        return Relational
    raise EncodingError(f"'{spec}' has no module: give its record `module`, a factory of a PositionEncoding")


def _accepted(make: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values whose keys are parameter names of the factory."""
    names = inspect.signature(make).parameters
    return {name: value for name, value in values.items() if name in names}
