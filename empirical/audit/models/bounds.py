"""Configurations are foreign: fields that fail to be read, numbers out of range, models too large to be made."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as registration

from lengthgen.empirical.audit.published_constants import NUMBERS, require_number
from lengthgen.empirical.audit.subject import AuditError
from lengthgen.infrastructure.settings import Range
from lengthgen.infrastructure.userfile import shown

NAMES = {
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "key_heads": ("num_key_value_heads", "n_head_kv", "num_kv_heads"),
    "width": ("hidden_size", "n_embd", "d_model"),
    "inner": ("intermediate_size", "d_ff", "ffn_dim", "n_inner", "moe_intermediate_size", "ffn_hidden_size",
              "shared_expert_intermediate_size"),
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers"),
    "vocabulary": ("vocab_size",),
    "head_dim": ("head_dim", "d_kv", "kv_channels"),
    "trained": ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"),
}  # fmt: skip
"""Names of each size in configurations."""
SIZES = {
    role: Range(1, most)
    for role, most in {
        "heads": 1_024, "key_heads": 1_024, "width": 1 << 15, "inner": 1 << 20, "layers": 256,
        "vocabulary": 1 << 20, "head_dim": 512, "trained": 100_000_000,
    }.items()
}  # fmt: skip
"""Ranges of these sizes."""
ALLOWED: Mapping[str, Range[Any]] = {**NUMBERS, **{name: SIZES[role] for role in NAMES for name in NAMES[role]}}
"""Ranges of all fields whose meaning is known, by name."""
PLAIN = (int, float, str, list, tuple, dict)
"""Types of fields."""
DEEPEST = 20
"""Most levels of nesting of a configuration."""
LARGEST_INTEGER = (1 << 63) - 1
MOST_GIB = 8
"""Largest memory of an audit: float32 and float64 copies of a model and of the largest tensor of a call."""
NUMBER_BYTES = 12
"""Bytes of a number in both dtypes."""
LONGEST = 1024
"""Longest trained length beyond which models are called, and most tokens of a call where it is longer or not known."""
MOST_NUMBERS = (MOST_GIB << 30) // NUMBER_BYTES
MOST_MODULES = 20_000
"""Most modules of a model; each takes part of a millisecond to make, and a model is made some 40 times."""


class TooLarge(AuditError):
    """An audit of a model takes more memory or time than is used; the message says what to lower."""


def field_of(config: Any, name: str) -> Any:
    """Field of a configuration; None if it has none of a plain type, or refuses to give one, as where layers differ."""
    try:
        value = getattr(config, name, None)
    except Exception:
        return None
    return value if issubclass(type(value), PLAIN) else None


def size_of(config: Any, role: str) -> int | None:
    """Size of a role in NAMES: the first of its fields that holds a positive whole number; None if none does."""
    values = (field_of(config, name) for name in NAMES[role])
    return next((value for value in values if type(value) is int and value > 0), None)


def require_plain(fields: Mapping[str, Any]) -> None:
    """Raise AuditError if a number of a configuration, at any depth, is not finite or out of its range."""
    pending: list[tuple[str, Any, int]] = [(name, value, 0) for name, value in fields.items()]
    while pending:  # no recursion, which a deep nesting would exhaust
        name, value, depth = pending.pop()
        if depth > DEEPEST:
            raise AuditError(f"the field {shown(name)} is nested more than {DEEPEST} deep")
        if isinstance(value, Mapping):
            pending += [(str(inner), part, depth + 1) for inner, part in value.items()]
        elif isinstance(value, list | tuple):
            pending += [(name, part, depth + 1) for part in value]
        elif name in ALLOWED and value is not None:
            require_number(name, value, ALLOWED[name])
        elif isinstance(value, float) and not isfinite(value):
            raise AuditError(f"{name} = {value} is no finite number")
        elif isinstance(value, int):
            allowed = SIZES["layers"] if "layers" in name else Range(0, LARGEST_INTEGER)
            if abs(value) > allowed.most:
                require_number(name, value, allowed)
    for name in ("rope_parameters", "rope_scaling"):
        if not isinstance(fields.get(name), Mapping | None):
            raise AuditError(f'{name} = {shown(fields[name])}: it must be an object such as {{"rope_type": "linear"}}')


@contextmanager
def bounded(name: str) -> Iterator[None]:
    """Context manager that raises TooLarge as soon as a model that is made in it has too many numbers or modules."""
    numbers = modules = 0

    def count_numbers(module: nn.Module, part: str, tensor: Tensor | None) -> None:
        nonlocal numbers
        numbers += 0 if tensor is None else tensor.numel()
        _require_memory(name, numbers)

    def count_modules(module: nn.Module, part: str, submodule: nn.Module | None) -> None:
        nonlocal modules
        modules += 1
        if modules > MOST_MODULES:
            raise TooLarge(f"'{name}' has more than {MOST_MODULES:,} modules: set fewer layers or experts")

    handles = (
        registration.register_module_parameter_registration_hook(count_numbers),
        registration.register_module_buffer_registration_hook(count_numbers),
        registration.register_module_module_registration_hook(count_modules),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def require_affordable(name: str, build: Callable[[], nn.Module], *, heads: int, trained: int | None) -> None:
    """Raise TooLarge if an audit of a model takes too much memory; to see it, the model is made without memory.

    What `build` raises else is left to the call that makes the model. Calls are twice as long as the longest trained
    length where that is at most LONGEST.
    """
    try:
        with torch.device("meta"):
            made = build()
    except TooLarge:
        raise
    except AuditError:
        return
    kinds = " ".join(type(part).__name__.lower() for part in made.modules())
    if getattr(made, "_is_stateful", False) and not any(kind in kinds for kind in ("attention", "attn", "mla")):
        raise AuditError(f"'{name}' has no attention: it is recurrent, and knows positions by their order alone")
    length = 2 * trained if trained and trained <= LONGEST else LONGEST
    vocabulary = max((part.num_embeddings for part in made.modules() if isinstance(part, nn.Embedding)), default=0)
    weights = sum(tensor.numel() for tensor in (*made.parameters(), *made.buffers()))
    _require_memory(name, weights + length * vocabulary + heads * length**2)


def _require_memory(name: str, numbers: int) -> None:
    if numbers > MOST_NUMBERS:
        raise TooLarge(
            f"an audit of '{name}' takes more than {MOST_GIB} GiB: set a smaller vocabulary, width, trained length or "
            "number of layers"
        )
