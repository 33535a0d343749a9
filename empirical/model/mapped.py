"""Map over models: an encoding written for one model is used by M models, each with its own parameters.

Shapes as in encodings/base.py, with a model axis M in front. Labels that no scale changes are shared by the models, and
so are positions [L], unless each model has its own [M, L]. An encoding without parameters and with shared positions
sees the models as part of the batch; any other encoding is mapped over the models.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from lengthgen.empirical.encodings.base import Content, PositionEncoding, overrides

PAIRS = ("labels_BJI", "distances_BJI")
"""Content given on pairs of tokens, which examples may share."""
HookCall = Callable[..., Any]
"""Hook of an encoding: (encoding of one model, content, positions, tensors) -> one or several tensors.

No argument has a model axis. Positions are a tuple: of all tokens, or of queries and keys.
"""


class MappedEncoding(nn.Module):
    """Hooks of `PositionEncoding` over M models."""

    def __init__(self, members: Sequence[PositionEncoding]) -> None:
        """Stack encodings that differ only in their parameters, one for each model.

        Tables of different numbers of labels are padded with rows of zeros, which no pair of tokens uses and which
        training leaves as they are.
        """
        super().__init__()
        self.models = len(members)
        self.looped = False
        """True if an operation cannot be mapped by `torch.func.vmap`, so that the models are computed in turn."""
        self._shared = (_Callable(members[0]),)  # a tuple hides its parameters from this module
        self._names = {name: name.replace(".", "__") for name, _ in members[0].named_parameters()}
        for name, stacked_name in self._names.items():
            stacked = _stack_padded([member.get_parameter(name).detach() for member in members])
            self.register_parameter(stacked_name, nn.Parameter(stacked))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "MappedEncoding":
        """Apply a conversion, such as `.to()`, to the shared encoding's buffers too."""
        self._shared[0]._apply(fn, recurse)  # type: ignore[no-untyped-call]
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    @property
    def shared(self) -> PositionEncoding:
        """Encoding with all that the models share: class, flags and buffers."""
        return self._shared[0].encoding

    def each(self) -> list[PositionEncoding]:
        """Return one encoding per model, with copies of its parameters."""
        encodings = [copy.deepcopy(self.shared) for _ in range(self.models)]
        with torch.no_grad():
            for model, encoding in enumerate(encodings):
                for name, stacked_name in self._names.items():
                    encoding.get_parameter(name).copy_(self.get_parameter(stacked_name)[model])
        return encodings

    def embed(self, x_MBLD: Tensor, positions: Tensor) -> Tensor:
        """Input of the first layer: [M, B, L, D]."""
        return self._call("embed", (x_MBLD,), (positions,)) if self.overrides("embed") else x_MBLD

    def rotate(self, q_MBHLC: Tensor, k_MBHLC: Tensor, positions: Tensor, content: Content) -> tuple[Tensor, Tensor]:
        """Transformed queries and keys, each [M, B, H, L, C]."""
        both = (q_MBHLC, k_MBHLC)
        q, k = self._call("rotate", both, (positions,), content) if self.overrides("rotate") else both
        return q, k

    def scores(
        self, q_MBHJC: Tensor, k_MBHIC: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content
    ) -> Tensor:
        """Scores of all pairs: [M, B, H, J, I]."""
        return self._call("scores", (q_MBHJC, k_MBHIC), (query_positions, key_positions), content)

    def bias(
        self, query_positions: Tensor, key_positions: Tensor, content: Content, *, dtype: torch.dtype
    ) -> Tensor | None:
        """Bias [M or 1, B or 1, H, J, I], or None."""
        if not self.overrides("bias"):
            return None

        # A hint `Tensor | None` would split the graph that PyTorch 2.7 compiles.
        def hook(encoding: PositionEncoding, part: Content, at: tuple[Tensor, Tensor]) -> Any:
            bias = encoding.bias(*at, part, dtype=dtype)
            return bias if bias is None or bias.dim() == 4 else bias[None]

        return self._run(hook, content, (query_positions, key_positions))

    def normalise(self, logits_MBHJI: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """Attention weights: [M, B, H, J, I]."""
        if not self.overrides("normalise"):
            return self.shared.normalise(logits_MBHJI, query_positions, key_positions)
        return self._call("normalise", (logits_MBHJI,), (query_positions, key_positions))

    def values(self, weights_MBHJI: Tensor, query_positions: Tensor, key_positions: Tensor, content: Content) -> Tensor:
        """Term added to the attention output: [M, B, H, J, C]."""
        return self._call("values", (weights_MBHJI,), (query_positions, key_positions), content)

    @property
    def has_auxiliary_loss(self) -> bool:
        """True if the encoding has an auxiliary loss, and parameters that it could train."""
        return bool(self._names) and self.overrides("auxiliary_loss")

    def auxiliary_losses(self, positions: Tensor, counters: Sequence[Sequence[int]], progress: float) -> Tensor:
        """Auxiliary loss of each model, [M]; 0 where the hook returns None.

        Args:
            positions: int64 [L], or [M, L] if they are drawn.
            counters: (seed, split, step) of each model; they determine the random numbers.
            progress: share of the training that is done.
        """
        # A fourth counter, because the first three alone seed the drawn positions.
        numbers = [np.random.default_rng([*counter, 1]).random(self.shared.auxiliary_numbers) for counter in counters]
        uniform_MN = torch.from_numpy(np.stack(numbers)).to(positions.device)

        def hook(encoding: PositionEncoding, _: Content, at: tuple[Tensor], uniform_N: Tensor) -> Tensor:
            loss = encoding.auxiliary_loss(*at, uniform_N, progress)
            return uniform_N.new_zeros(()) if loss is None else loss

        return self._run(hook, Content(), (positions,), uniform_MN)

    def overrides(self, hook: str) -> bool:
        """True if the encoding overrides the hook."""
        return overrides(self.shared, hook)

    def _call(
        self, name: str, tensors: tuple[Tensor, ...], positions: tuple[Tensor, ...], content: Content | None = None
    ) -> Any:
        """Call a hook that takes tensors, then positions, then perhaps the content."""

        def hook(encoding: PositionEncoding, part: Content, at: tuple[Tensor, ...], *own: Tensor) -> Any:
            return getattr(encoding, name)(*own, *at, *(() if content is None else (part,)))

        return self._run(hook, content or Content(), positions, *tensors)

    def _run(self, hook: HookCall, content: Content, positions: tuple[Tensor, ...], *tensors: Tensor) -> Any:
        """Call a hook for every model, on its part of content, positions and tensors.

        Axis 0 of every tensor is the model axis.
        """
        content_fields = {
            field.name: getattr(content, field.name) for field in fields(content) if field.name != "layer"
        }
        parts: dict[str, Any] = {name: part for name, part in content_fields.items() if part is not None}
        # A matrix of labels or distances shared by all examples has neither model nor batch axis.
        axis = {name: None if name in PAIRS and part.dim() == 3 else 0 for name, part in parts.items()}
        own_positions = positions[0].dim() == 2
        if not (self._names or own_positions):
            return self._run_folded(hook, content, parts, axis, positions, tensors)
        numbers: dict[str, Tensor] = {
            f"encoding.{name}": self.get_parameter(stacked_name) for name, stacked_name in self._names.items()
        }

        def run_one(numbers: dict[str, Tensor], parts: dict[str, Any], at: Any, tensors: tuple[Tensor, ...]) -> Any:
            return functional_call(self._shared[0], numbers, (hook, replace(content, **parts), at, *tensors))

        if not self.looped:
            try:
                return vmap(run_one, in_dims=(0, axis, 0 if own_positions else None, 0))(
                    numbers, parts, positions, tensors
                )
            except RuntimeError:  # if vmap is not the cause, the loop below raises it again
                self.looped = True
        results = [
            run_one(
                {name: number[model] for name, number in numbers.items()},
                {name: part if axis[name] is None else part[model] for name, part in parts.items()},
                tuple(part_positions[model] for part_positions in positions) if own_positions else positions,
                tuple(tensor[model] for tensor in tensors),
            )
            for model in range(self.models)
        ]
        return _join_parts(lambda *parts: torch.stack(parts), *results)

    def _run_folded(
        self,
        hook: HookCall,
        content: Content,
        parts: dict[str, Any],
        axis: dict[str, int | None],
        positions: tuple[Tensor, ...],
        tensors: tuple[Tensor, ...],
    ) -> Any:
        """Call a hook once, with the models as part of the batch."""
        flat = {name: part if axis[name] is None else part.flatten(0, 1) for name, part in parts.items()}
        answer = hook(self.shared, replace(content, **flat), positions, *(tensor.flatten(0, 1) for tensor in tensors))
        return _join_parts(
            lambda tensor: tensor[None] if len(tensor) == 1 else tensor.unflatten(0, (self.models, -1)), answer
        )


N = TypeVar("N", bound=nn.Module)


def seeded(seed: int, make: Callable[[], N]) -> N:
    """Make a module with the numbers that PyTorch's generator draws from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def stack_models(members: Sequence[N]) -> N:
    """Join modules of equal shape into one module of all their models, with copies of their weights.

    Every parameter has the model axis first, and the attribute `encoding` is a `MappedEncoding`.
    """
    stacked = copy.deepcopy(members[0])
    encodings = [cast(MappedEncoding, member.encoding) for member in members]
    stacked.encoding = MappedEncoding([encoding for of_member in encodings for encoding in of_member.each()])
    with torch.no_grad():
        for name, parameter in stacked.named_parameters():
            if not name.startswith("encoding."):
                parameter.data = torch.cat([member.get_parameter(name) for member in members])
    return stacked


def _stack_padded(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors of the same number of axes; smaller ones are padded with zeros at the end of every axis."""
    if all(tensor.shape == tensors[0].shape for tensor in tensors):
        return torch.stack(list(tensors))
    stacked = tensors[0].new_zeros(len(tensors), *map(max, zip(*(tensor.shape for tensor in tensors), strict=True)))
    for tensor, place in zip(tensors, stacked, strict=True):
        place[tuple(map(slice, tensor.shape))] = tensor
    return stacked


class _Callable(nn.Module):
    """Module whose forward calls a hook of an encoding, because `functional_call` calls forward only."""

    def __init__(self, encoding: PositionEncoding) -> None:
        super().__init__()
        self.encoding = encoding

    def forward(self, hook: HookCall, content: Content, positions: tuple[Tensor, ...], *tensors: Tensor) -> Any:
        return hook(self.encoding, content, positions, *tensors)


def _join_parts(join: Callable[..., Tensor], *results: Any) -> Any:
    """Join tensors, or tuples of tensors part by part; None if the results are None."""
    if results[0] is None:
        return None
    if isinstance(results[0], tuple):
        return tuple(join(*parts) for parts in zip(*results, strict=True))
    return join(*results)
