"""Torch modules of encodings by name, and the guard around a user's own.

Names are those of the records in theory/encodings/. Shapes as in encodings/base.py.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from lengthgen.circuits.circuit import Circuit
from lengthgen.circuits.encoding_spec import EncodingSpec, accepted, parse_encoding, relation_of
from lengthgen.empirical.encodings.base import Content, PositionEncoding, overrides
from lengthgen.empirical.encodings.relations import Relational
from lengthgen.infrastructure.discovery import sibling_modules
from lengthgen.infrastructure.userfile import shown, user_code
from lengthgen.theory.encodings.encoding import EncodingError
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
    try:
        module: PositionEncoding = make(**accepted(make, {**sizes, **dict(spec.options)}))
        return module
    except ValueError as error:
        raise EncodingError(f"{spec.name}: {error}") from error


def own_module(make: Callable[..., Any], sizes: Mapping[str, int], name: str) -> PositionEncoding:
    """Make a module by a user's class or function, from the sizes that its parameters name, and guard its hooks.

    Raises:
        EncodingError: the factory fails, or makes no PositionEncoding; `name` is the user's object in messages.
    """
    with user_code(f"'{name}' cannot be made from the sizes {', '.join(sizes)}", error=EncodingError):
        module = make(**accepted(make, sizes))
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


class HookError(EncodingError, RuntimeError):
    """A hook of the user's own encoding fails.

    Also a RuntimeError, for which `MappedEncoding` tries once more without `torch.func.vmap`.
    """


def guard(encoding: PositionEncoding, name: str) -> PositionEncoding:
    """Return the same module with hooks that raise HookError for any error and for a result of the wrong form.

    Args:
        encoding: made by the user's own code.
        name: name of the user's object in messages.

    Raises:
        EncodingError: a parameter does not hold floating-point numbers in CPU memory.
    """
    for parameter, numbers in encoding.named_parameters():
        if torch.nn.parameter.is_lazy(numbers) or not numbers.is_floating_point() or numbers.device.type != "cpu":
            raise EncodingError(f"'{name}': its parameter '{parameter}' must hold floating-point numbers on the CPU")
    # A subclass, not attributes of the module, because copies of the module keep their class.
    cls = type(encoding)
    hooks = {
        hook: _guard_hook(getattr(cls, hook), check, f"'{name}': {hook} fails")
        for hook, check in CHECKS.items()
        if overrides(encoding, hook)
    }
    encoding.__class__ = type(cls.__name__, (cls,), hooks)
    return encoding


def _guard_hook(hook: Callable[..., Any], check: Callable[..., Any], description: str) -> Callable[..., Any]:
    """Wrap a hook so that its result is checked; `description` begins the error message."""

    @wraps(hook)
    def guarded_hook(encoding: PositionEncoding, *arguments: Any, **options: Any) -> Any:
        with user_code(description, error=HookError):
            return check(hook(encoding, *arguments, **options), *arguments)

    return guarded_hook


def _check_bias(answer: Any, query_positions: Tensor, key_positions: Tensor, content: Content | None = None) -> Any:
    """Return the bias if its shape is [H, J, I] or [B, H, J, I] of real numbers, or None; else raise ValueError."""
    if answer is None:
        return None
    pairs = (query_positions.shape[-1], key_positions.shape[-1])
    heads, rows = (0, 0) if content is None or content.q_BHJC is None else content.q_BHJC.shape[1::-1]
    shape = tuple(answer.shape)
    fits = shape[-2:] == pairs and len(shape) in (3, 4) and answer.is_floating_point()
    # The axes of heads and of batch rows may have size 1.
    if not fits or (heads and (shape[-3] not in (1, heads) or (len(shape) == 4 and shape[0] not in (1, rows)))):
        raise ValueError(f"it must return a bias [H, {pairs[0]}, {pairs[1]}] of real numbers, not {_described(answer)}")
    return answer


def _check_auxiliary_loss(answer: Any, *_: Any) -> Any:
    """Return the loss if it is one real number, or None; else raise ValueError."""
    if answer is None or (isinstance(answer, Tensor) and answer.dim() == 0 and answer.is_floating_point()):
        return answer
    raise ValueError(f"it must return a scalar loss or None, not {_described(answer)}")


CHECKS: dict[str, Callable[..., Any]] = {
    "embed": lambda answer, x_BLD, *_: _check_tensor(answer, x_BLD),
    "rotate": lambda answer, q_BHLC, k_BHLC, *_: _check_both(answer, q_BHLC, k_BHLC),
    "scores": lambda answer, q_BHJC, k_BHIC, *_: _check_tensor(answer, q_BHJC, (*q_BHJC.shape[:-1], k_BHIC.shape[-2])),
    "bias": _check_bias,
    "normalise": lambda answer, logits_BHJI, *_: _check_tensor(answer, logits_BHJI),
    "values": lambda answer, weights_BHJI, _, __, content: _check_tensor(answer, weights_BHJI, content.q_BHJC.shape),
    "auxiliary_loss": _check_auxiliary_loss,
}
"""Hook -> function that checks its result, given the hook's arguments."""


def _check_tensor(answer: Any, like: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    """Return the answer if it is a tensor like another, or of that dtype and this shape; else raise ValueError."""
    shape = like.shape if shape is None else shape
    if not isinstance(answer, Tensor) or tuple(answer.shape) != tuple(shape) or answer.dtype != like.dtype:
        raise ValueError(f"it must return {like.dtype} {list(shape)}, not {_described(answer)}")
    return answer


def _check_both(answer: Any, q_BHLC: Tensor, k_BHLC: Tensor) -> tuple[Tensor, Tensor]:
    q, k = answer
    return _check_tensor(q, q_BHLC), _check_tensor(k, k_BHLC)


def _described(answer: Any) -> str:
    """Dtype and shape of a tensor, or the type of anything else."""
    return f"{answer.dtype} {list(answer.shape)}" if isinstance(answer, Tensor) else shown(answer)
