"""An encoding written for one model, used by M models at once, each with its own learned numbers.

Shapes as in encodings/base.py, with a model axis M in front; labels that no scale changes are shared, and so are
positions [L], where they are not each model's own [M, L]. An encoding that learns nothing and shares its positions sees
the models as part of the batch; any other is mapped over them.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from empirical.encodings.base import Content, PositionEncoding

Use = Callable[..., Any]
"""(an encoding with one model's numbers, content, positions, tensors; none with a model axis) -> a tensor or several.

Positions are a tuple, of all or of queries and keys.
"""


class MappedEncoding(nn.Module):
    """The hooks of `PositionEncoding` over M models."""

    def __init__(self, members: Sequence[PositionEncoding]) -> None:
        """Encodings alike in all but their learned numbers, one for each model."""
        super().__init__()
        self.models = len(members)
        self.looped = False
        """Whether it has an operation that `torch.func.vmap` cannot map, so that the models take turns."""
        self._shared = (_Used(members[0]),)  # a tuple: its parameters are not among ours
        self._names = {name: name.replace(".", "__") for name, _ in members[0].named_parameters()}
        for name, own in self._names.items():
            stacked = torch.stack([member.get_parameter(name).detach() for member in members])
            self.register_parameter(own, nn.Parameter(stacked))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "MappedEncoding":
        self._shared[0]._apply(fn, recurse)
        super()._apply(fn, recurse)
        return self

    @property
    def shared(self) -> PositionEncoding:
        """What the models have in common: the class, its flags, and buffers."""
        return self._shared[0].encoding

    def each(self) -> list[PositionEncoding]:
        """One encoding a model, with copies of its numbers."""
        found = [copy.deepcopy(self.shared) for _ in range(self.models)]
        with torch.no_grad():
            for model, encoding in enumerate(found):
                for name, own in self._names.items():
                    encoding.get_parameter(name).copy_(self.get_parameter(own)[model])
        return found

    def embed(self, x_MBLD: Tensor, positions: Tensor) -> Tensor:
        """[M, B, L, D]."""
        if not self._has("embed"):
            return x_MBLD
        return self._run(lambda own, _, at, x: own.embed(x, *at), Content(), (positions,), x_MBLD)

    def rotate(self, q_MBHLC: Tensor, k_MBHLC: Tensor, positions: Tensor, content: Content) -> tuple[Tensor, Tensor]:
        """Both [M, B, H, L, C]."""
        if not self._has("rotate"):
            return q_MBHLC, k_MBHLC
        q, k = self._run(lambda own, its, at, q, k: own.rotate(q, k, *at, its), content, (positions,), q_MBHLC, k_MBHLC)
        return q, k

    def scores(self, q_MBHJC: Tensor, k_MBHIC: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """[M, B, H, J, I]."""
        positions = (query_positions, key_positions)
        return self._run(lambda own, _, at, q, k: own.scores(q, k, *at), Content(), positions, q_MBHJC, k_MBHIC)

    def bias(
        self, query_positions: Tensor, key_positions: Tensor, content: Content, *, dtype: torch.dtype
    ) -> Tensor | None:
        """[M or 1, B or 1, H, J, I], or None."""
        if not self._has("bias"):
            return None

        def hook(own: PositionEncoding, its: Content, at: tuple[Tensor, Tensor]) -> Tensor | None:
            found = own.bias(*at, its, dtype=dtype)
            return found if found is None or found.dim() == 4 else found[None]

        return self._run(hook, content, (query_positions, key_positions))

    def values(self, weights_MBHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """[M, B, H, J, C]."""

        def hook(own: PositionEncoding, its: Content, at: tuple[Tensor, Tensor], weights: Tensor) -> Tensor:
            return own.values(weights, *at, its)

        return self._run(hook, content, (query_positions, key_positions), weights_MBHJI)

    def _has(self, hook: str) -> bool:
        return getattr(type(self.shared), hook) is not getattr(PositionEncoding, hook)

    def _run(self, use: Use, content: Content, positions: tuple[Tensor, ...], *tensors: Tensor) -> Any:
        """`use` for every model, on its part of content, positions and tensors; the tensors have the model axis."""
        known = {field.name: getattr(content, field.name) for field in fields(content) if field.name != "layer"}
        parts: dict[str, Tensor] = {name: part for name, part in known.items() if part is not None}
        # Labels of one matrix for all examples have neither model nor batch.
        axis = {name: None if name == "labels_BJI" and part.dim() == 3 else 0 for name, part in parts.items()}
        own_positions = positions[0].dim() == 2
        if not (self._names or own_positions):
            return self._folded(use, content, parts, axis, positions, tensors)
        numbers = {f"encoding.{name}": self.get_parameter(own) for name, own in self._names.items()}

        def one(numbers: dict[str, Tensor], parts: dict[str, Tensor], at: Any, tensors: tuple[Tensor, ...]) -> Any:
            return functional_call(self._shared[0], numbers, (use, replace(content, **parts), at, *tensors))

        if not self.looped:
            try:
                return vmap(one, in_dims=(0, axis, 0 if own_positions else None, 0))(numbers, parts, positions, tensors)
            except RuntimeError:  # raised again below if vmap is not its reason
                self.looped = True
        found = [
            one(
                {name: number[model] for name, number in numbers.items()},
                {name: part if axis[name] is None else part[model] for name, part in parts.items()},
                tuple(each[model] for each in positions) if own_positions else positions,
                tuple(tensor[model] for tensor in tensors),
            )
            for model in range(self.models)
        ]
        return _each(lambda *same: torch.stack(same), *found)

    def _folded(
        self,
        use: Use,
        content: Content,
        parts: dict[str, Tensor],
        axis: dict[str, int | None],
        positions: tuple[Tensor, ...],
        tensors: tuple[Tensor, ...],
    ) -> Any:
        """The models as part of the batch."""
        flat = {name: part if axis[name] is None else part.flatten(0, 1) for name, part in parts.items()}
        found = use(self.shared, replace(content, **flat), positions, *(tensor.flatten(0, 1) for tensor in tensors))
        return _each(lambda one: one[None] if len(one) == 1 else one.unflatten(0, (self.models, -1)), found)


class _Used(nn.Module):
    """An encoding whose call is what is to be done with it, as `functional_call` knows no methods."""

    def __init__(self, encoding: PositionEncoding) -> None:
        super().__init__()
        self.encoding = encoding

    def forward(self, use: Use, content: Content, positions: tuple[Tensor, ...], *tensors: Tensor) -> Any:
        return use(self.encoding, content, positions, *tensors)


def _each(join: Callable[..., Tensor], *found: Any) -> Any:
    """Joins tensors, or tuples of them part by part."""
    if found[0] is None:
        return None
    if isinstance(found[0], tuple):
        return tuple(join(*same) for same in zip(*found, strict=True))
    return join(*found)
