"""Parts of a model that make its encoding, as subjects of the audit of encodings: precision by dtype and position."""

import inspect
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lengthgen.empirical.audit.models.anatomy import SQUARE, Anatomy, Maps, rope_fields, square
from lengthgen.empirical.audit.models.bounds import field_of, size_of
from lengthgen.empirical.audit.models.runner import Runner
from lengthgen.empirical.audit.models.whole import WholeModel
from lengthgen.empirical.audit.published_constants import BY_LENGTH
from lengthgen.empirical.audit.rotation import FAR
from lengthgen.empirical.audit.subject import Kind, Subject

APPLY = ("apply_rotary_pos_emb", "apply_rotary_pos_emb_interleave")
BY_POSITIONS = "lambda q, k, p: apply(q, k, *made(q, p if p.ndim > 1 else p[None]))"
BY_LAYER = "lambda q, k, p: apply(q, k, *made(q, p if p.ndim > 1 else p[None], {layer!r}))"
BY_SEQ_LEN = "lambda q, k, p: apply(q, k, *made(q, seq_len=int(p.max()) + 1), p if p.ndim > 1 else p[None])"
LONGEST_TABLE = 8192
"""Last position for rotations that make a table of the whole length in each call."""
SOLVED = 63
"""Last position for rotations whose maps are solved for."""
CLAIMS = frozenset({"relative", "distinct"})


def rotary_part(subject: WholeModel, layer_type: str | None, *, streaming: bool) -> Subject | None:
    """Rotation of a model of transformers by its own module and function; None if they are not found or do not fit.

    `layer_type` is the kind of layer, for models whose layers differ; `streaming`: codes must not depend on the length.
    """
    model = subject.build()
    path = next((name for name, part in model.named_modules() if "Rotary" in type(part).__name__), None)
    if path is None:
        return None
    rotary = model.get_submodule(path)
    module = type(rotary).__module__
    made_in = sys.modules.get(module)  # a file of the user's is none
    functions = {name: getattr(made_in, name) for name in APPLY if hasattr(made_in, name)}
    names = list(inspect.signature(rotary.forward).parameters)
    texts = [BY_SEQ_LEN] if "seq_len" in names else [BY_POSITIONS]
    if layer_type and "layer_type" in names:
        texts = [BY_LAYER.format(layer=layer_type)]
    if field_of(subject.config, "rope_interleave"):
        functions = dict(reversed(functions.items()))
    for name, apply in functions.items():
        for text in texts:
            bound = partial(_evaluated, text, apply)
            width = _width(bound, rotary, subject.config)
            if width is None:
                continue
            made = f"from {module} import {name} as apply; made = model.get_submodule({path!r})"
            untouched = subject.build().get_submodule(path)  # the one above has been called
            return Subject(
                name=f"{subject.name}, rotation",
                kind=Kind.ROTATE,
                build=partial(deepcopy, untouched),
                bind=bound,
                parameters={},
                other=None,
                claims=CLAIMS | ({"streaming"} if streaming else set()),
                heads=1,
                head_dim=width,
                recipe=(*subject.recipe, made, f"rotate = {text}") if subject.recipe else (),
                signature="rotary module and apply function of transformers",
                makes_tables=text is BY_SEQ_LEN,
            )
    return None


def _evaluated(text: str, apply: Callable[..., Any], made: Any) -> Callable[..., Any]:
    return eval(text, {"made": made, "apply": apply, "torch": torch})


def _width(bound: Callable[[Any], Callable[..., Any]], rotary: nn.Module, config: Any) -> int | None:
    """Width of the vectors that are rotated, found by trying the widths that the configuration allows."""
    head_dim, width, heads = (size_of(config, role) for role in ("head_dim", "width", "heads"))
    candidates = [field_of(config, "qk_rope_head_dim"), head_dim or (width // heads if width and heads else None)]
    buffers = [2 * buffer.shape[-1] for name, buffer in rotary.named_buffers() if "inv_freq" in name]
    for width in dict.fromkeys([*buffers, *(size for size in candidates if type(size) is int)]):
        q = torch.ones(1, 1, 3, width)
        try:
            with torch.no_grad():
                answer = bound(rotary)(q, q.clone(), torch.arange(3))
        except Exception:  # whatever its code raises, it takes no vectors of this width
            continue
        if all(part.shape == q.shape for part in answer):
            return width
    return None


def maps_part(subject: WholeModel, anatomy: Anatomy) -> Subject:
    """Rotation of any model, read from its queries and keys; exact in float64 only."""

    def bind(made: nn.Module) -> Callable[..., Any]:
        prepared = Runner(subject)
        prepared.model = made
        # A slow plane turns by more than the noise only far away; a long call may change the frequencies of some types.
        by_length = rope_fields(subject.config)["rope_type"] in BY_LENGTH
        return Maps(prepared, anatomy.head_dim, anatomy.layer, lever=SOLVED if by_length else FAR)

    return Subject(
        name=f"{subject.name}, rotation",
        kind=Kind.ROTATE,
        build=lambda: subject.build().to(subject.widest).eval(),
        bind=bind,
        parameters={},
        other=None,
        claims=CLAIMS - ({"relative"} if anatomy.scaled else set()),
        heads=1,
        head_dim=anatomy.head_dim,
        signature="queries and keys of the first layer",
    )


def bias_part(subject: WholeModel, anatomy: Anatomy) -> Subject:
    """Bias of any model, read from logits of tokens without content, up to a length of SQUARE."""
    squares: dict[torch.dtype, Tensor] = {}

    def bind(made: Any) -> Callable[..., Tensor]:
        def bias(queries: Tensor, keys: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
            if dtype not in squares:
                squares[dtype] = square(Runner(subject, dtype), _longest(subject), layer=anatomy.layer)
            table = squares[dtype]
            if max(int(queries.max()), int(keys.max())) >= table.shape[-1]:
                raise ValueError(f"read up to {table.shape[-1] - 1}")
            rows = table[:, queries[..., :, None], keys[..., None, :]]
            return rows if rows.ndim == 3 else rows.movedim(1, 0)

        return bias

    return Subject(
        name=f"{subject.name}, bias",
        kind=Kind.BIAS,
        build=lambda: None,
        bind=bind,
        parameters={},
        other=None,
        claims=frozenset({"relative", "streaming"}),
        heads=anatomy.heads,
        head_dim=anatomy.head_dim,
        signature="logits of the first layer",
        follows=_buckets(subject.config, anatomy),
        makes_tables=True,
    )


def _buckets(config: Any, anatomy: Anatomy) -> dict[str, Any] | None:
    """T5's buckets with the numbers of a configuration, as `follows`; None if it does not give both."""
    names = {"num_buckets": "relative_attention_num_buckets", "max_distance": "relative_attention_max_distance"}
    numbers = {name: field_of(config, field) for name, field in names.items()}
    if not all(type(number) is int for number in numbers.values()):
        return None
    return {"t5": {**numbers, "bidirectional": not anatomy.causal}}


def _longest(subject: WholeModel) -> int:
    """Length of the sequence on which the bias is read: at most the longest that the configuration allows."""
    limits = (field_of(subject.config, name) for name in ("max_seq_len", "max_position_embeddings"))
    return min([SQUARE, *(limit for limit in limits if isinstance(limit, int) and limit > 0)])
